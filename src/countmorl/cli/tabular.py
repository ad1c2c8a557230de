"""Finite worlds: train tabular, theory, and the grid worlds' data, maps and comparison."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import tyro
from tyro.conf import Positional

from countmorl.cli.data import _writer, _wrote
from countmorl.cli.output import print_json, print_pairs, print_table
from countmorl.data.sources import load, locate
from countmorl.envs.gridworld import WORLDS, find_world
from countmorl.errors import ConfigError
from countmorl.tabular.certificate import Assumptions
from countmorl.tabular.checks import VARIANTS, Finding, violation_study, worst
from countmorl.tabular.drawing import check_ending
from countmorl.tabular.study import Outcome, StudyConfig
from countmorl.tabular.train import Tabular, train_tabular

Flat = tyro.conf.arg(name="")
Data = Annotated[Positional[str], tyro.conf.arg(metavar="DATA")]
Name = Annotated[Positional[str], tyro.conf.arg(metavar="WORLD")]
Out = Annotated[Positional[Path], tyro.conf.arg(metavar="OUT")]


def train(
    data: Data,
    config: Annotated[Tabular, Flat],
    assume: Annotated[Assumptions, Flat],
    out: Path | None = None,
    json: bool = False,
) -> int:
    """Tabular Count-MORL on a log of whole numbers: exact counts, exact plan, certificate.

    Args:
        data: A path to an HDF5 or NPZ file with one column of states and one of actions.
        out: Folder of the run; default runs/tabular-DATA.
        json: Print a JSON summary.
    """
    run = train_tabular(load(data), config=config, assume=assume, out=out, source=locate(data))
    results = run.metrics()[-1]
    if json:
        print_json({"run": str(run.path), "policy": str(run.policy_path), **results})
        return 0
    sure = results["certificate"]
    confidence = f"with {sure['confidence']:.0%} confidence"
    print_pairs(
        {
            "pairs seen": f"{results['pairs_seen']:,} of {results['pairs_live']:,}",
            "value in the model": f"{results['value_model']:.4f} (an estimate, not a bound)",
            "value penalised": f"{results['value_penalized']:.4f}",
            "behaviour in the model": f"{results['value_behaviour']:.4f}",
            "true value": f"at least {sure['lower']:.4f} {confidence}",
            "behaviour's true value": f"at least {results['certificate_behaviour']['lower']:.4f}",
            "run": run.path,
        }
    )
    if sure["vacuous"]:
        print(
            "This certificate says nothing: no value can be lower. More data helps, and so does "
            "what you know: --successors, --value-range, --rewards, --sampling."
        )
    return 0


def theory(
    instances: int = 1000,
    delta: float = 0.05,
    seed: int = 0,
    out: Path | None = None,
    json: bool = False,
) -> int:
    """Put every guarantee to the test on random worlds: how often is it violated?

    Exit code 1 where a corrected statement is violated more often than delta, or where an altered
    one is violated nowhere.

    Args:
        instances: Worlds, with data, in each of five families.
        delta: The probability with which a statement may fail.
        seed: Seed of the worlds.
        out: Figure to write: how bounds shrink and how tight they are.
        json: Print JSON.
    """
    if out:
        check_ending(out)
    studies: dict[str, list[Finding]] = {}
    for name, variant in VARIANTS.items():
        print(f"{name} ...", file=sys.stderr, flush=True)
        studies[name] = violation_study(instances, delta=delta, variant=variant, seed=seed)
    shares = {name: worst(findings) for name, findings in studies.items()}
    sound = all(finding.share <= delta for finding in shares["corrected"].values())
    caught = {
        name: any(finding.share > delta for finding in found.values())
        for name, found in shares.items()
        if name != "corrected"
    }
    if out:
        from countmorl.tabular.figures import theory_figure
        from countmorl.tabular.tightness import shrinkage

        theory_figure(shrinkage(delta=delta), studies["corrected"], out)
    if json:
        print_json(
            {
                "instances": instances,
                "delta": delta,
                "sound": sound,
                "caught": caught,
                "findings": {
                    name: [{**vars(f), "share": f.share} for f in findings]
                    for name, findings in studies.items()
                },
            }
        )
    else:
        _print_shares(shares, delta, instances)
        print("Every corrected statement holds." if sound else "A corrected statement FAILED.")
        print(f"Altered and caught: {', '.join(n for n, c in caught.items() if c) or 'none'}.")
    return 0 if sound and all(caught.values()) else 1


def _print_shares(shares: dict[str, dict[str, Finding]], delta: float, instances: int) -> None:
    """One row a statement, one column a variant; a star marks a share above delta."""

    def cell(finding: Finding | None) -> str:
        if finding is None:
            return ""
        return f"{finding.share:.3f}{'*' if finding.share > delta else ' '}"

    print_table(
        ("statement", *shares),
        ((s, *(cell(found.get(s)) for found in shares.values())) for s in shares["corrected"]),
    )
    print(
        f"\nShare of violations in the worst of five families, {instances:,} instances each; "
        f"allowed {delta:g}, * is more."
    )


def gridworld_data(
    world: Name,
    out: Out,
    rows: int | None = None,
    slip: float = 0.0,
    seed: int = 0,
    json: bool = False,
) -> int:
    """Write the log of a Q-learner in a grid world as a dataset.

    Args:
        world: empty, bridge, cliff or zigzag.
        out: File to write (.hdf5 or .npz).
        rows: Steps to record; default: the paper's number for this world.
        slip: Probability that a random action is executed.
        seed: Seed of the learner.
        json: Print JSON.
    """
    from countmorl.tabular.qlearning import gridworld_dataset, replay

    found, writer = find_world(world), _writer(out)
    dataset = gridworld_dataset(found, replay(found, rows=rows, slip=slip, seed=seed))
    writer(dataset, out)
    return _wrote(dataset, out, json)


def gridworld_maps(
    world: Name,
    out: Path = Path("maps.png"),
    rows: int = 1000,
    slip: float = 0.2,
    seed: int = 0,
    beta: float = 0.1,
) -> int:
    """Draw a grid world's counts, penalties, and the plans with and without them.

    Args:
        world: empty, bridge, cliff or zigzag.
        out: Figure to write.
        rows: Rows kept of the Q-learner's log.
        slip: Probability that a random action is executed.
        seed: Seed of the learner and of the rows that are kept.
        beta: Weight of the penalty.
    """
    from countmorl.tabular.conservative import count_penalty
    from countmorl.tabular.figures import maps_figure
    from countmorl.tabular.mdp import TabularMDP
    from countmorl.tabular.qlearning import replay
    from countmorl.tabular.study import PLANNERS, thinned

    check_ending(out)
    found = find_world(world)
    config = StudyConfig(slip=slip, beta=beta)
    data = thinned(found, replay(found, slip=slip, seed=seed), rows, seed)
    plans = {name: PLANNERS[name](data, config) for name in ("plain", "penalty")}
    truth = TabularMDP.of_world(found, slip=slip, gamma=config.gamma)
    maps_figure(found, truth, data.counts, count_penalty(data.counts, beta=beta), plans, out)
    print(f"Written: {out}")
    return 0


def gridworld_worlds(out: Path = Path("worlds.png")) -> int:
    """Draw the four grid worlds.

    Args:
        out: Figure to write.
    """
    from countmorl.tabular.figures import worlds_figure

    worlds_figure(list(WORLDS.values()), out)
    print(f"Written: {out}")
    return 0


def gridworld_study(
    config: Annotated[StudyConfig, Flat],
    worlds: tuple[str, ...] = tuple(WORLDS),
    out: Path | None = None,
    json: bool = False,
) -> int:
    """Compare planners on little data: behaviour, plain, with a count penalty, with the theory's.

    Args:
        worlds: Worlds to compare in.
        out: Figure to write: return and lava rate over the size of the data.
        json: Print JSON.
    """
    from countmorl.tabular.study import study

    if out:
        check_ending(out)
    if not worlds:
        raise ConfigError("`worlds` must name at least one grid world.")
    found = [find_world(name) for name in worlds]
    outcomes: list[Outcome] = []
    for world in found:
        print(f"{world.name} ...", file=sys.stderr, flush=True)
        outcomes += study(world, config)
    if out:
        from countmorl.tabular.figures import study_figure

        study_figure(outcomes, out)
    if json:
        print_json([_record(outcome) for outcome in outcomes])
    else:
        _print_study(outcomes)
    return 0


def _record(outcome: Outcome) -> dict[str, Any]:
    return {
        "world": outcome.world,
        "method": outcome.method,
        "rows": outcome.rows,
        "return": float(outcome.returns.mean()),
        "return_std": float(outcome.returns.std()),
        "goal": float(outcome.goal.mean()),
        "lava": float(outcome.lava.mean()),
        "seeds": len(outcome.lava),
    }


def _print_study(outcomes: list[Outcome]) -> None:
    """One table a world: return and lava rate of each method, one row a size of the data."""
    optima = {outcome.world: outcome for outcome in outcomes if outcome.method == "optimum"}
    for world, optimum in optima.items():
        ours = [o for o in outcomes if o.world == world and o is not optimum]
        cells: dict[int, dict[str, str]] = {}
        for outcome in ours:
            cells.setdefault(outcome.rows, {})[outcome.method] = _cell(outcome)
        print(f"{world}: the true discounted optimum has {_cell(optimum).strip()}")
        methods = list(dict.fromkeys(outcome.method for outcome in ours))
        print_table(
            ("rows", *methods),
            ((f"{size:,}", *(row[name] for name in methods)) for size, row in cells.items()),
        )
        print()
    print("Mean return over seeds, and the share of episodes that end in lava.")


def _cell(outcome: Outcome) -> str:
    return f"{outcome.returns.mean():5.2f} {outcome.lava.mean():4.0%}"


TRAIN: dict[str, Callable[..., int]] = {"train tabular": train}
COMMANDS: dict[str, Callable[..., int]] = {
    **TRAIN,
    "theory": theory,
    "gridworld-data": gridworld_data,
    "gridworld-maps": gridworld_maps,
    "gridworld-study": gridworld_study,
    "gridworld-worlds": gridworld_worlds,
}
