"""What a monitor works with, of a run or of a bundle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from countmorl.data.sources import Source
from countmorl.disk import explained_read
from countmorl.errors import RunError
from countmorl.monitoring.baseline import BASELINE_FILE, Baseline
from countmorl.monitoring.training import baseline_of
from countmorl.monitoring.watched import Count
from countmorl.runs.folder import Run
from countmorl.runtime.bundle import load_bundle
from countmorl.runtime.contract import CONTRACT_FILE
from countmorl.runtime.counts import Counts


def opened(path: str | Path, *, data: Source | None = None) -> tuple[Baseline, Count | None]:
    """The baseline and the counts of a bundle, or of a run, where it is made if there is none."""
    path = Path(path)
    with explained_read(path):
        is_bundle = (path / CONTRACT_FILE).is_file()
    if is_bundle:
        counts = load_bundle(path).counts
        if not (path / BASELINE_FILE).is_file():
            raise RunError(
                f"{path} holds no {BASELINE_FILE}, so there is nothing to compare a log with. "
                "Export the run again."
            )
        baseline = Baseline.load(path / BASELINE_FILE)
    else:
        run = Run.open(path)
        baseline = baseline_of(run, data=data)
        counts = Counts.of_run(run.path) if baseline.origin.counter is not None else None
    return baseline, None if baseline.origin.counter is None else _counting(counts)


def _counting(counts: Any) -> Count:
    def count(obs: np.ndarray, action: np.ndarray) -> np.ndarray:
        return counts.counts(obs, action).members.mean(axis=0)

    return count
