"""`countmorl coverage RUN|DATA`: where is a log dense, and where does a policy go?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import tyro
from tyro.conf import Positional

from countmorl.cli.output import print_json, print_pairs, print_table
from countmorl.coverage.report import (
    Coverage,
    coverage_of_data,
    coverage_of_run,
    write_coverage,
)
from countmorl.coverage.wanted import Wanted
from countmorl.data.sources import load
from countmorl.errors import ConfigError, printable
from countmorl.extras import require
from countmorl.files import check_ending
from countmorl.runs.folder import Run
from countmorl.runtime.guard import Counter
from countmorl.runtime.levels import LEVELS

Source = Annotated[Positional[str], tyro.conf.arg(metavar="RUN|DATA")]


def coverage(
    source: Source,
    data: str | None = None,
    counts: Counter = "neighbours",
    steps: int = 100,
    seed: int = 0,
    out: Path | None = None,
    json: bool = False,
) -> int:
    """Show how dense a log is, what it hardly ever tried, and where a run's policy goes.

    Of data alone: how many rows are alike, and pairs of ranges that are each common and hardly ever
    came together, in the columns' own words. Of a run also: which share of its policy's imagined
    steps is covered, thin or unseen, beside a clone of the log; by which columns it leaves the
    data; and what to log next: what it reaches, that seems worth much and was seen too rarely. A
    run keeps it (coverage.json), for `countmorl report RUN`. docs/guarding.md says how to read it.

    Args:
        source: The folder of a run, or data: a D4RL name, minari:ID, or an HDF5 or NPZ file.
        data: Where the run's data lie now, if they have moved.
        counts: What counts along a policy's way: neighbours (distances to logged rows, as for
            judging and guards) or codes (the run's own).
        steps: Steps of an imagined rollout.
        seed: Seed of all that is drawn.
        out: Figure to write (.png).
        json: Print JSON.
    """
    if steps < 1:
        raise ConfigError(f"--steps must be at least 1, got {steps}.")
    if out:
        check_ending(out, (".png",))
        require("matplotlib")  # Better missed now than after the rollouts.
    say = lambda text: print(text, "...", file=sys.stderr, flush=True)  # noqa: E731
    if (Path(source) / "config.json").exists():
        run = Run.open(source)
        found = coverage_of_run(run, data=data, counts=counts, steps=steps, seed=seed, say=say)
        write_coverage(run, found)
    elif data is not None:
        raise ConfigError(f"--data says where a run's data lie, and {source} is no run.")
    else:
        found = coverage_of_data(load(source), seed=seed, say=say)
    if out:
        from countmorl.coverage.figure import coverage_figure

        coverage_figure(found, out)
    if json:
        print_json(found.as_dict())
        return 0
    show(found)
    if out:
        print(f"Written: {out}")
    return 0


def show(found: Coverage) -> None:
    """Print everything as tables."""
    _density(found)
    for title, regions in (
        ("Hardly ever tried", found.untried),
        ("Situations that hardly ever occur", found.situations),
    ):
        if regions:
            print(f"\n{title}: each range is common, together they are not")
            print_table(
                ("region", "rows", "expected"),
                ((each.text, f"{each.rows:,}", f"{each.expected:,.0f}") for each in regions),
            )
    if found.ways:
        _ways(found)
        _wanted(found.wanted, found.valued_by)
    for note in found.notes:
        print(f"note: {printable(note)}.")


def _density(found: Coverage) -> None:
    density = found.density
    words = {"codes": "codes", "pairs": "distinct pairs", "neighbours": "rows"}
    probed = "rows of episodes set aside" if density.held_out else "logged rows"
    pairs = {"rows": f"{density.rows:,}"}
    if density.counted_by != "neighbours":
        pairs["distinct"] = (
            f"{density.places:,} {words[density.counted_by]}, {density.rows_per_place:.1f} rows "
            f"each; {density.once:.0%} have a single row"
        )
    quantiles = ", ".join(f"{q} {v:.4g}" for q, v in density.quantiles.items())
    pairs["counts"] = f"{quantiles} (quantiles over {density.probed:,} {probed}, by "
    pairs["counts"] += f"{density.counted_by})"
    pairs["levels"] = ", ".join(f"{density.shares[each]:.1%} {each}" for each in LEVELS)
    print_pairs(pairs)


def _ways(found: Coverage) -> None:
    longest = max(len(way.by_step) for way in found.ways)
    steps = sorted({1, 2, 5, 10, 20, 50, longest} & set(range(1, longest + 1)))
    by = "distances to logged rows" if found.ways_by == "neighbours" else "codes"
    print(f"\nWhere policies go in the model: unseen / thin / covered, % of the pairs, by {by}")
    print_table(
        ("policy", *(f"step {step}" for step in steps), "all", "rollouts that leave"),
        (
            (
                way.name,
                *(_shares(way.by_step[s - 1]) if s <= len(way.by_step) else "-" for s in steps),
                _shares(way.shares),
                f"{way.left:.0%}",
            )
            for way in found.ways
        ),
    )
    if found.ways_out:
        print("\nWays out: the column that is farthest from the nearest logged row when it leaves")
        print_table(
            ("way", "rollouts", "typical step"),
            ((way.text, f"{way.share:.0%}", str(way.step)) for way in found.ways_out),
        )


def _wanted(wanted: tuple[Wanted, ...], valued_by: str) -> None:
    if not wanted:
        print("\nWhat to log next: nothing that is reached and worth much is rare.")
        return
    print(f"\nWhat to log next: reached, worth much ({valued_by}), and rare")
    print_table(
        ("region", "reached", "value", "usual there", "logged rows", "nearest rows in the log"),
        (
            (
                each.text,
                f"{each.reached:.0%}",
                f"{each.value:.4g}",
                f"{each.usual:.4g}",
                f"{each.rows:,}",
                "; ".join(example.text for example in each.examples),
            )
            for each in wanted
        ),
    )


def _shares(shares: dict[str, float]) -> str:
    return " / ".join(f"{100 * shares[level]:.0f}" for level in LEVELS)
