"""Which penalties know where the model errs: bars, and what each policy is wrongly promised."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from countmorl.studies.audit_tables import Audit
from countmorl.studies.drawing import drawn


def audit_figure(audits: Sequence[Audit], path: Path) -> None:
    """One row for each audit: agreement of each penalty, then the rewards that are not there."""
    with drawn(path, len(audits), 2, (9.5, 3.6 * len(audits))) as (_, axes):
        for (left, right), audit in zip(axes, audits, strict=True):
            _agreements(left, audit)
            _rewards(right, audit)


def _agreements(axis: Any, audit: Audit) -> None:
    names = [each.name for each in audit.penalties]
    axis.barh(
        names, [each.overall.rank_correlation or 0.0 for each in audit.penalties], color="#0072b2"
    )
    aucs = [each.overall.auc for each in audit.penalties]
    known = [(auc, place) for place, auc in enumerate(aucs) if auc is not None]
    if known:
        axis.plot(*zip(*known, strict=True), "o", color="#d55e00", label="AUC, worst tenth")
        axis.legend(loc="lower right", fontsize=7)
    axis.invert_yaxis()
    axis.axvline(0, color="black", linewidth=0.6)
    axis.set(xlim=(-1, 1), xlabel="rank correlation with the true error")
    title = f"{Path(audit.run).name}, {audit.task}, {audit.horizon} steps"
    axis.set_title(title, parse_math=False)  # Between two dollar signs it would be a formula.


def _rewards(axis: Any, audit: Audit) -> None:
    for policy in audit.policies:
        gaps = policy.reward_gap_by_step
        axis.plot(list(gaps), list(gaps.values()), marker="o", markersize=3, label=policy.name)
    axis.axhline(0, color="black", linewidth=0.6)
    axis.set(xlabel="step of the rollout", ylabel="imagined - true reward")
    axis.legend(fontsize=7)
