"""`Calibration`: whether a run's counts predict its model's error, as calibration.json holds it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from countmorl.configs import added, from_json, to_json
from countmorl.errors import ConfigError, RunError
from countmorl.files import write_text
from countmorl.json_files import parse_json

CALIBRATION_FILE = "calibration.json"
Farness = Literal["return", "time"]


@dataclass(frozen=True, kw_only=True)
class Bin:
    """Held-out rows of about the same count."""

    count: float
    """Their mean count."""
    error: float
    """Their mean error."""
    error_se: float
    """The standard error of that mean."""
    rows: int


@dataclass(frozen=True, kw_only=True)
class SwappedActions:
    """The same observations beside other rows' actions, which a useful counter has seen less."""

    median_count: float
    told_apart: float
    """How often a logged pair counts more than a swapped one (a half: no better than chance)."""


@dataclass(frozen=True, kw_only=True)
class Jolted:
    """Held-out pairs with noise added: how far from the data a pair must be to be noticed."""

    of: str
    """What the noise is on: actions or observations."""
    noise: float
    """Its deviation, in deviations of each column."""
    median_count: float
    unseen: float
    """Share of them that no member has seen."""
    told_apart: float
    """How often a held-out pair costs less than one with noise (a half: no better than chance)."""


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """The tenth of the episodes farthest from the rest, held out whole, beside ordinary ones."""

    by: Farness
    """What makes them the farthest: their return (the highest) or their time (the last)."""
    episodes: int
    rows: int
    median_count: float
    """Of their pairs, by the rest of the log."""
    unseen: float
    """Share of their pairs that no member has seen in the rest of the log."""
    ordinary_count: float
    """The same median for ordinary episodes, held out in the same way."""
    ordinary_unseen: float
    told_apart: float
    """How often one of their pairs costs more than an ordinary one (a half: they are covered)."""


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """A largest error of its decoder with which a code is verified, and what it leaves out."""

    quantile: float
    """Of the errors on the training rows,"""
    times: float
    """multiplied by this."""
    imagined: float
    """Share of what a clone of the data imagines that most elites have not verifiably seen."""
    held_out: float
    """The same share of held-out rows."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Held-out model error against the estimated count."""

    rank_correlation: float
    p_value: float
    rows: int
    median_count: float
    rows_per_code: float | None
    """Rows that share a code, the middle of the members."""
    predicts_error: bool
    verdict: str
    """All of it in a sentence."""
    bins: tuple[Bin, ...]
    swapped_actions: SwappedActions
    jolted: tuple[Jolted, ...] = added(())
    """At growing distances from the data; none in runs of earlier versions."""
    held_out: tuple[HeldOut, ...] = added(())
    """Whole episodes; none where there are fewer than ten, or in runs of earlier versions."""

    verified: tuple[Threshold, ...] = added(())
    """Thresholds that were tried, of which the last is the run's; none where all codes count."""

    thin: float | None = added(None)
    """The count below which a pair is thin: a tenth of the held-out pairs that most members have
    seen count less. None in runs of earlier versions."""

    @classmethod
    def read(cls, folder: Path) -> Calibration:
        """Read a run's calibration."""
        path = folder / CALIBRATION_FILE
        if not path.exists():
            raise RunError(
                f"{folder} has no calibration: it comes with the algorithms that count, such as "
                "count-morl, once their codes are fitted."
            )
        values = parse_json(path, lambda v: isinstance(v, dict), "the calibration of a run")
        try:
            return from_json(cls, values)
        except ConfigError as error:
            raise RunError(f"{path} is damaged: {error}") from error

    def write(self, folder: Path) -> None:
        """Write calibration.json, atomically."""
        write_text(folder / CALIBRATION_FILE, json.dumps(to_json(self), indent=2) + "\n")
