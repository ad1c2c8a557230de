"""`RunFacts`: what a report knows of one run, read once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean

from countmorl.errors import RunError
from countmorl.runs.calibration import CALIBRATION_FILE, Calibration
from countmorl.runs.choice import Chosen
from countmorl.runs.folder import Run
from countmorl.runs.manifest import Manifest
from countmorl.runs.records import Measure, Record, Timing
from countmorl.runs.summary import LAST, Summary, summarize

SHARED = ("model", "codes", "recipe")
"""Runs that train no policy: what others build on, and no methods."""
LAST_EPOCHS = 5
"""Epochs, from the end, over which the share of unseen pairs is averaged."""


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """One run: what was asked for, what came of it, what it cost."""

    manifest: Manifest
    summary: Summary
    seconds: dict[str, float]
    """Seconds of every stage, compiling included."""
    peak_memory: float | None
    """The most bytes that the process has held, where it was recorded."""
    unseen: float | None
    """Share of imagined pairs that no elite has seen, in the last epochs."""
    calibration: Calibration | None
    """Whether its counts predict its model's error, in runs that count."""
    choice: Chosen | None = None
    """What was chosen without a simulator, where `countmorl choose` has looked at it."""

    @property
    def seed(self) -> int:
        """The seed of everything random."""
        return self.manifest.options.seed

    @property
    def data(self) -> tuple[str, str]:
        """Name and hash of its data."""
        origin = self.manifest.data
        return (origin.name, origin.hash) if origin else ("unknown data", "")

    @property
    def measure(self) -> Measure | None:
        """What its policy was judged by."""
        return self.summary.measure

    @property
    def wanted_epochs(self) -> int | None:
        """The epochs that were asked for, where the algorithm has such a setting."""
        epochs = self.manifest.config.get("epochs")
        return epochs if isinstance(epochs, int) else None

    @property
    def progress(self) -> str:
        """How far it has come, such as 40 of 100 epochs."""
        wanted = f" of {self.wanted_epochs}" if self.wanted_epochs else ""
        return f"{self.summary.epochs}{wanted} epochs"


def read_facts(run: Run, last: int = LAST) -> RunFacts:
    """Read a run, finished or not; a damaged one is a `RunError`."""
    records, timings = run.records("policy"), run.timings()
    for record in records:
        if not math.isfinite(record.judgement[0]):  # JSON as Python reads it knows NaN.
            raise RunError(f"{run.metrics_path} is damaged: a {record.measure} is no number.")
    counts = (run.path / CALIBRATION_FILE).exists()
    peaks = [each.peak_memory for each in timings if each.peak_memory is not None]
    return RunFacts(
        manifest=run.manifest,
        summary=summarize(run, last),
        seconds=_seconds(timings),
        peak_memory=max(peaks, default=None),
        unseen=_unseen(records),
        calibration=run.calibration() if counts else None,
        choice=Chosen.read(run.path),
    )


def _seconds(timings: list[Timing]) -> dict[str, float]:
    found: dict[str, float] = {}
    for each in timings:
        found[each.stage] = found.get(each.stage, 0.0) + each.seconds
    return found


def _unseen(records: list[Record]) -> float | None:
    told = [fmean(each.rollout_unseen) for each in records if each.rollout_unseen]
    return fmean(told[-LAST_EPOCHS:]) if told else None
