"""What a monitor works with, of a run or of a bundle."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from countmorl.data.sources import Source
from countmorl.monitoring.baseline import Baseline
from countmorl.monitoring.training import baseline_of
from countmorl.monitoring.watched import Count
from countmorl.runs.folder import Run
from countmorl.runtime.counts import Counts


def opened(path: str | Path, *, data: Source | None = None) -> tuple[Baseline, Count | None]:
    """The baseline of a run, made now where there is none yet, and its counts."""
    run = Run.open(path)
    baseline = baseline_of(run, data=data)
    if baseline.origin.counter is None:
        return baseline, None
    counts = Counts.of_run(run.path)

    def count(obs: np.ndarray, action: np.ndarray) -> np.ndarray:
        return counts.counts(obs, action).members.mean(axis=0)

    return baseline, count
