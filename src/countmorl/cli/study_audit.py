"""`countmorl study audit RUN...`: do penalties know where the model errs?"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import tyro
from tyro.conf import Positional

from countmorl.cli.output import print_json, print_table
from countmorl.configs import to_json
from countmorl.errors import ConfigError
from countmorl.extras import require
from countmorl.files import check_ending
from countmorl.studies.audit import AuditConfig
from countmorl.studies.audit_tables import Audit
from countmorl.studies.drawing import ENDINGS

Flat = tyro.conf.arg(name="")
Runs = Annotated[Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RUN")]


def audit(
    runs: Runs,
    config: Annotated[AuditConfig, Flat],
    task: str | None = None,
    data: str | None = None,
    out: Path | None = None,
    json: bool = False,
) -> int:
    """Measure whether penalties grow with the model's true error.

    Rolls policies out in a run's model, from logged states, and puts every imagined pair to the
    simulator, so that it is known how wrong the model is where they go.
    docs/auditing.md says how to read the tables.

    Args:
        runs: Folders of runs with a model.
        task: Task or Gymnasium id (module:Env-v0 imports the module first); by default the data's.
        data: The runs' dataset, where it has moved.
        out: Figure to write: each penalty's agreement, and rewards that are only imagined.
        json: Print JSON.
    """
    from countmorl.studies.audit import audit as audited

    if not runs:
        raise ConfigError("Name at least one run to audit.")
    if out:
        check_ending(out, ENDINGS)
        require("matplotlib")  # Better missed now than after the rollouts.
    found: list[Audit] = []
    for run in runs:
        found += audited(run, config, task=task, data=data, say=partial(_say, run))
    if out:
        from countmorl.studies.audit_figures import audit_figure

        audit_figure(found, out)
    if json:
        print_json([to_json(each) for each in found])
        return 0
    for each in found:
        _print(each)
    if out:
        print(f"Written: {out}")
    return 0


def _say(run: Path, text: str) -> None:
    print(f"{run.name}: {text} ...", file=sys.stderr, flush=True)


def _print(audit: Audit) -> None:
    print(f"{audit.run} in {audit.task}: rollouts of {audit.horizon} steps, {audit.pairs:,} pairs")
    groups = list(audit.penalties[0].by_step)
    names = [policy.name for policy in audit.policies]
    print("\nRank correlation of penalty and true error, and AUC for the worst tenth")
    print_table(
        ("penalty", "all", "AUC", *(f"step {group}" for group in groups), *names),
        (
            (
                each.name,
                _cell(each.overall.rank_correlation),
                _cell(each.overall.auc),
                *(_cell(each.by_step[group].rank_correlation) for group in groups),
                *(_cell(each.by_policy[name].rank_correlation) for name in names),
            )
            for each in audit.penalties
        ),
    )
    print("\nMedian penalty by policy")
    print_table(
        ("penalty", *names),
        ((p.name, *(f"{p.medians[name]:.3g}" for name in names)) for p in audit.penalties),
    )
    print("\nWhere policies go: median true error, imagined - true reward of a step, unseen pairs")
    print_table(
        ("policy", "pairs", "error", "reward", "unseen"),
        (
            (
                each.name,
                f"{each.pairs:,}",
                f"{each.error:.3g}",
                f"{each.reward_gap:+.3g}",
                "-" if each.unseen is None else f"{each.unseen:.1%}",
            )
            for each in audit.policies
        ),
    )
    print()


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
