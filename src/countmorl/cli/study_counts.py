"""`countmorl study counts WORLD`: do approximate counts equal true counts?"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated, Any

import tyro
from tyro.conf import Positional

from countmorl.cli.output import print_json, print_table
from countmorl.envs.gridworld import WORLDS, World, find_world
from countmorl.errors import ConfigError
from countmorl.extras import require
from countmorl.progress import duration
from countmorl.studies.approximate import Comparison, CountsConfig, compare
from countmorl.studies.collisions import codes_needed
from countmorl.studies.multihot import pair_name

Flat = tyro.conf.arg(name="")
Name = Annotated[Positional[str], tyro.conf.arg(metavar="WORLD")]
NAMED = 3
"""Collisions that are named; the JSON holds all."""


def counts(
    name: Name,
    config: Annotated[CountsConfig, Flat],
    seeds: int = 5,
    beta: float = 0.1,
    out: Path = Path("gridworld"),
    json: bool = False,
) -> int:
    """Compare a grid world's learned counts with the true ones.

    Makes the world's data, fits ensemble and encoders, counts, prints the largest error of each
    seed, and draws the counts and maps of the world. Exit code 1 where a count is wrong, 2 where
    the code is too short for them all to be right.

    Args:
        name: empty, bridge, cliff or zigzag, or all.
        seeds: Seeds 0, 1, ... of Q-learner, ensemble and encoders.
        beta: Weight of the penalty in the maps.
        out: Folder for the figures.
        json: Print JSON.
    """
    worlds = list(WORLDS.values()) if name == "all" else [_find(name)]
    if seeds < 1:
        raise ConfigError(f"`seeds` must be at least 1, got {seeds}.")
    if not beta >= 0:
        raise ConfigError(f"`beta` must be at least 0, got {beta:g}.")
    require("matplotlib")  # Better missed now than after the fitting.
    wall, cpu = time.perf_counter(), time.process_time()
    found = [_compare(world, config, seed) for world in worlds for seed in range(seeds)]
    paths = _draw(found, beta, out)
    spent = {"seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - cpu}
    if json:
        figures = [str(path) for path in paths]
        results = [_record(comparison) for comparison in found]
        print_json({"bits": config.bits, **spent, "figures": figures, "results": results})
    else:
        _print(found, spent)
        print(f"Written: {', '.join(map(str, paths))}")
    return _verdict(found)


def _find(name: str) -> World:
    try:
        return find_world(name)
    except ConfigError as error:
        raise ConfigError(f"{error} Or all.") from None


def _compare(world: World, config: CountsConfig, seed: int) -> Comparison:
    from countmorl.collecting.qlearning import replay

    comparison = compare(world, replay(world, seed=seed), config, seed=seed)
    print(
        f"{world.name}, seed {seed}: largest error {comparison.error:g} after "
        f"{comparison.updates:,} encoder updates, {duration(comparison.seconds)}",
        file=sys.stderr,
        flush=True,
    )
    return comparison


def _draw(found: list[Comparison], beta: float, out: Path) -> list[Path]:
    """Draw the worst seed of each world, so that no error hides."""
    from countmorl.collecting.qlearning import count_steps, replay
    from countmorl.studies.count_figures import counts_figure, learned_maps

    worst: dict[str, Comparison] = {}
    for comparison in found:
        known = worst.setdefault(comparison.world.name, comparison)
        if comparison.error > known.error:
            worst[comparison.world.name] = comparison
    paths = [out / "counts.png", *(out / f"maps-{name}.png" for name in worst)]
    counts_figure(list(worst.values()), paths[0])
    for comparison, path in zip(worst.values(), paths[1:], strict=True):
        world = comparison.world
        data = count_steps(world, replay(world, seed=comparison.seed))
        learned_maps(comparison, data, path, beta=beta)
    return paths


def _print(found: list[Comparison], spent: dict[str, float]) -> None:
    print_table(
        (
            "world",
            "rows",
            "logged",
            "seed",
            "elites",
            "LC",
            "AVG",
            "UC",
            "updates",
            "refits",
            "CPU s",
        ),
        (
            (
                one.world.name,
                f"{one.true.sum():,}",
                f"{(one.true > 0).sum()} of {one.true.size}",
                str(one.seed),
                *(f"{error:g}" for error in one.errors.values()),
                f"{one.updates:,}",
                str(one.restarts),
                f"{one.cpu_seconds:.0f}",
            )
            for one in found
        ),
    )
    print("Largest error over all pairs: of any elite's count, and of LC, AVG and UC.")
    worst = max(one.error for one in found)
    print(
        f"Largest error of all: {worst:g}. Took {duration(spent['seconds'])}, "
        f"{duration(spent['cpu_seconds'])} of CPU time."
    )


def _record(one: Comparison) -> dict[str, Any]:
    return {
        "world": one.world.name,
        "seed": one.seed,
        "rows": int(one.true.sum()),
        "error": one.error,
        "errors": one.errors,
        "wrong_pairs": one.wrong,
        "collisions": [[list(group) for group in member] for member in one.collisions],
        "updates": one.updates,
        "refits": one.restarts,
        "model_error": one.model_error,
        "seconds": one.seconds,
        "cpu_seconds": one.cpu_seconds,
        "true": one.true.tolist(),
        "members": one.members.tolist(),
        "estimates": {name: values.tolist() for name, values in one.estimates.items()},
    }


def _verdict(found: list[Comparison]) -> int:
    """0 where every count is exact; else say which pairs collide."""
    wrong = [one for one in found if one.error > 0]
    if not wrong:
        return 0
    worst = max(wrong, key=lambda one: one.wrong)
    needed = codes_needed(worst.true)
    if 2**worst.bits < needed:
        raise ConfigError(
            f"d = {worst.bits} is too small: it has {2**worst.bits} codes, and the counts of "
            f"{worst.world.name} need {needed}. {_named(worst)} Give --bits 20."
        )
    print(
        f"countmorl: {len(wrong)} of {len(found)} fits have wrong counts. {_named(worst)} A longer "
        "code (--bits) or a longer fit (--epochs) parts them.",
        file=sys.stderr,
    )
    return 1


def _named(one: Comparison) -> str:
    """Name a few collisions of the worst elite."""
    member = max(one.collisions, key=lambda groups: sum(map(len, groups)))
    shared = sum(map(len, member))
    named = [
        " = ".join(pair_name(one.world, pair) for pair in group[:2])
        + (f" = {len(group) - 2} more" if len(group) > 2 else "")
        for group in member[:NAMED]
    ]
    return (
        f"With seed {one.seed} in {one.world.name}, {shared} pairs share {len(member)} codes: "
        f"{'; '.join(named)}{'; ...' if len(member) > NAMED else ''}."
    )
