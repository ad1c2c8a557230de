"""`summarize`: what came of a run, in one place for every command and report."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isfinite, nan
from statistics import fmean, median, pstdev
from typing import Any

from countmorl.runs.calibration import CALIBRATION_FILE
from countmorl.runs.folder import Run
from countmorl.runs.manifest import DataOrigin
from countmorl.runs.records import Measure, Record

LAST = 5
"""Evaluations, from the end, whose mean is reported, as the paper does."""


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Scores, values, penalties and speed of one run."""

    run: str
    name: str
    """The folder's own name."""
    policy: str | None
    """Where the policy lies, where there is one."""
    algorithm: str
    data: str | None
    finished: bool
    epochs: int
    """Epochs of the policy so far."""
    measure: Measure | None
    """What it was judged by: normalised scores, returns where no references are known, or the
    values of an evaluator of one's own."""
    values: tuple[float, ...]
    """That measure at every evaluation."""
    judged_at: tuple[int, ...]
    """The epoch of every evaluation."""
    mean: float | None
    """Mean over the last evaluations."""
    spread: float | None
    """Standard deviation over the last evaluations."""
    log: float | None = None
    """What the log itself has, in that measure."""
    last: Record | None
    """The last evaluation."""
    q: float | None
    penalty: float | None
    """Mean penalty of the last epoch's rollouts."""
    rows_per_code: float | None
    typical_count: float | None
    """What a held-out pair counts, typically."""
    updates_per_second: float | None
    compile_seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able values; the last evaluation's numbers stand beside the others."""
        values, last = asdict(self), self.last
        del values["last"]
        return values | {
            "evaluated_epoch": last.epoch if last else None,
            "return": last.return_ if last else None,
            "return_std": last.return_std if last else None,
            "score": last.score if last else None,
            "score_std": last.score_std if last else None,
        }


def summarize(run: Run, last: int = LAST) -> Summary:
    """Sum up a run, finished or not; `last` evaluations make up the mean."""
    manifest, policy = run.manifest, run.records("policy")
    judged = [record for record in policy if record.judged]
    values = [record.judgement[0] for record in judged]
    end = policy[-1] if policy else None
    timings = run.timings()
    speeds = [t.updates_per_second for t in timings if t.stage == "policy"]
    counted = run.calibration() if (run.path / CALIBRATION_FILE).exists() else None
    return Summary(
        run=str(run.path),
        name=run.path.absolute().name,
        policy=str(run.policy_path) if run.policy_path.exists() else None,
        algorithm=manifest.algorithm,
        data=manifest.data.name if manifest.data else None,
        finished=run.finished,
        epochs=len(policy),
        measure=judged[0].measure if judged else None,
        values=tuple(values),
        judged_at=tuple(record.epoch for record in judged),
        mean=fmean(values[-last:]) if values else None,
        spread=_spread(values[-last:]),
        log=_log(manifest.data, judged[0].measure if judged else None),
        last=judged[-1] if judged else None,
        q=end.q if end else None,
        penalty=fmean(end.rollout_penalty) if end and end.rollout_penalty else None,
        rows_per_code=counted.rows_per_code if counted else None,
        typical_count=counted.median_count if counted else None,
        updates_per_second=_middle([speed for speed in speeds if speed is not None]),
        compile_seconds=sum(t.compile_seconds for t in timings),
    )


def _log(data: DataOrigin | None, measure: Measure | None) -> float | None:
    if data is None:
        return None
    return {"score": data.log_score, "return": data.log_return}.get(str(measure))


def _spread(values: list[float]) -> float | None:
    if len(values) < 2:
        return None
    return pstdev(values) if all(map(isfinite, values)) else nan


def _middle(values: list[float]) -> float | None:
    return median(values) if values else None
