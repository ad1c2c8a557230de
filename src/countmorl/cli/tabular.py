"""Finite worlds: `train tabular`, and `theory`, which puts the guarantees to the test."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import tyro
from tyro.conf import Positional

from countmorl.cli.output import print_json, print_pairs, print_table
from countmorl.data.sources import load, locate
from countmorl.files import check_ending
from countmorl.studies.checks import VARIANTS, Finding, violation_study, worst
from countmorl.studies.drawing import ENDINGS
from countmorl.tabular.certificate import Assumptions
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
        check_ending(out, ENDINGS)
    studies: dict[str, list[Finding]] = {}
    for name, variant in VARIANTS.items():
        print(f"{name} ...", file=sys.stderr, flush=True)
        studies[name] = violation_study(instances, delta=delta, variant=variant, seed=seed)
    shares = {name: worst(findings) for name, findings in studies.items()}
    beyond = {
        name: any(finding.share > delta for finding in found.values())
        for name, found in shares.items()
    }
    sound = not beyond.pop("corrected")
    if out:
        from countmorl.studies.figures import theory_figure
        from countmorl.studies.tightness import shrinkage

        theory_figure(shrinkage(delta=delta), studies["corrected"], out)
    if json:
        verdict = {"instances": instances, "delta": delta, "sound": sound, "caught": beyond}
        print_json({**verdict, "findings": _records(studies)})
    else:
        _print_shares(shares, delta, instances)
        print("Every corrected statement holds." if sound else "A corrected statement FAILED.")
        print(f"Altered and caught: {', '.join(n for n, c in beyond.items() if c) or 'none'}.")
    return 0 if sound and all(beyond.values()) else 1


def _records(studies: dict[str, list[Finding]]) -> dict[str, list[dict[str, Any]]]:
    return {
        name: [{**vars(finding), "share": finding.share} for finding in findings]
        for name, findings in studies.items()
    }


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


TRAIN: dict[str, Callable[..., int]] = {"train tabular": train}
COMMANDS: dict[str, Callable[..., int]] = {**TRAIN, "theory": theory}
