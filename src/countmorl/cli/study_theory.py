"""`countmorl study theory`: the guarantees put to the test."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from countmorl.cli.output import print_json, print_table
from countmorl.files import check_ending
from countmorl.studies.checks import VARIANTS, StatementResult, violation_study, worst
from countmorl.studies.drawing import ENDINGS


def theory(
    instances: int = 1000,
    delta: float = 0.05,
    seed: int = 0,
    out: Path | None = None,
    json: bool = False,
) -> int:
    """Put every guarantee to the test on random worlds.

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
    studies: dict[str, list[StatementResult]] = {}
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


def _records(studies: dict[str, list[StatementResult]]) -> dict[str, list[dict[str, Any]]]:
    return {
        name: [{**vars(finding), "share": finding.share} for finding in findings]
        for name, findings in studies.items()
    }


def _print_shares(
    shares: dict[str, dict[str, StatementResult]], delta: float, instances: int
) -> None:
    """One row per statement, one column per variant; a star marks a share above delta."""

    def cell(finding: StatementResult | None) -> str:
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
