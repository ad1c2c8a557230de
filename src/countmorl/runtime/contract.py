"""`Contract`: what a bundle promises, takes and refuses; `contract.json` in words of the log."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from countmorl.configs import at_least, check_types, finite, from_json
from countmorl.errors import ConfigError, DataError, RunError
from countmorl.json_files import parse_json
from countmorl.runtime.guard import GuardSettings
from countmorl.schema import Schema

CONTRACT_FILE, CONTRACT_FORMAT = "contract.json", 1
Answer = Literal["refuse", "fall_back"]


@dataclass(frozen=True, kw_only=True)
class Range:
    """One number of an observation or of an action."""

    name: str
    unit: str
    """In words; nothing where the log had none."""
    low: float
    """The least that was logged; of an action, the least that is ever answered."""
    high: float


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where a bundle comes from."""

    countmorl: str
    """The version that made it."""
    algorithm: str
    dataset: str
    dataset_hash: str
    """SHA-256 of the log that was learned from."""
    task: str | None
    """The simulator's name, where there is one."""


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What `countmorl judge` said of the policy, without a guard, by the log alone."""

    verdict: str
    sentence: str
    gain: tuple[float, ...] | None
    """How much more than the log it earns, from and to; None where nobody can say."""
    behaviour: float | None
    """What the log earns, in the same unit."""
    unit: str

    def __post_init__(self) -> None:
        check_types(self)
        finite(self, "behaviour")
        if self.gain is not None and (len(self.gain) != 2 or not np.isfinite(self.gain).all()):
            raise ConfigError("`gain` must be two finite numbers, from and to.")


@dataclass(frozen=True, kw_only=True)
class Contract:
    """What goes in, what comes out, and what becomes of what was never logged."""

    format: int
    origin: Origin
    observation: tuple[Range, ...]
    """The numbers of an observation in the policy's order, with the ranges of the log."""
    history: int
    """Rows, the present one among them, that an observation is made of; a session keeps them."""
    discrete: bool
    action: tuple[Range, ...]
    """The numbers of an action; the choices, from 0 to 1 each, where actions are discrete."""
    schema: Schema | None
    """What the columns of the log mean, categories and missing values too; None: no names."""
    counts: Literal["codes", "neighbours", "tabular"] | None
    """How pairs are counted; None: they are not."""
    thin: float | None
    """A pair with a lower count is thin."""
    guard: GuardSettings | None
    """When the fall-back acts; None: never."""
    reach: float
    """An observation is far where a number lies outside its range by more than so many widths."""
    far: Answer
    """What becomes of far observations: they are refused, or count as unseen, so that the guard
    falls back."""
    unreadable: Answer
    """What becomes of rows with a missing column, an unknown category, text in place of a number,
    NaN: they are refused, or the fall-back acts, which must then need no observation."""
    judged: Judged | None

    def __post_init__(self) -> None:
        check_types(self)
        at_least(self, reach=0, history=1)
        finite(self, "thin")
        back = self.guard.fall_back if self.guard else None
        if "fall_back" in (self.far, self.unreadable) and back is None:
            raise ConfigError(
                "Without a guard there is no fall-back: `far` and `unreadable` must be refuse."
            )
        if self.guard and self.counts is None:
            raise ConfigError("A guard needs counts.")
        if self.unreadable == "fall_back" and back == "clone":
            raise ConfigError(
                "A clone needs an observation as the policy does, so it cannot act on a row that "
                "is unreadable. Refuse such rows, or choose a guard with another fall-back."
            )
        if self.far == "fall_back" and self.guard and self.guard.threshold == 0:
            raise ConfigError("A guard with the threshold 0 never falls back, not even from afar.")
        if not self.observation or not self.action:
            raise ConfigError("A contract names at least one observation and one action number.")
        if not all(np.isfinite([r.low, r.high]).all() for r in (*self.observation, *self.action)):
            raise ConfigError("The ranges of a contract are finite.")

    @classmethod
    def read(cls, folder: Path) -> Contract:
        """Read a bundle's contract."""
        path = folder / CONTRACT_FILE
        values = parse_json(path, lambda value: isinstance(value, dict), "the contract of a bundle")
        if values.get("format") != CONTRACT_FORMAT:
            raise RunError(
                f"{path} has format {values.get('format')}, this version reads {CONTRACT_FORMAT}. "
                "Export the run again, or use the version that made the bundle."
            )
        try:
            return from_json(cls, values)
        except (ConfigError, TypeError, ValueError, OverflowError, RecursionError) as error:
            raise RunError(f"{path} is damaged: {error}") from error


class Ranges:
    """Which observations lie far from all that was logged."""

    def __init__(self, contract: Contract) -> None:
        self.contract = contract
        self.low, self.high = (
            np.array([getattr(each, end) for each in contract.observation], np.float64)
            for end in ("low", "high")
        )
        # A column that never changed has no width: any change that is more than rounding is far.
        width = np.maximum(self.high - self.low, 1e-3 * np.maximum(abs(self.low), abs(self.high)))
        self.least, self.most = (
            self.low - contract.reach * width,
            self.high + contract.reach * width,
        )

    def far(self, obs: np.ndarray) -> np.ndarray:
        """Whether each observation of [n, obs] is far."""
        return np.asarray(((obs < self.least) | (obs > self.most)).any(axis=-1))

    def check(self, obs: np.ndarray) -> str:
        """Refuse far observations, where the contract says so; else what `said` says."""
        rows = np.atleast_2d(obs)
        if rows.shape[-1] != len(self.low):
            return ""  # Refused by the policy, which says what it wants.
        said = self.said(rows)
        if said and self.contract.far == "refuse":
            raise DataError(f"{said} Nothing like it was learned from, so nobody can advise.")
        return said

    def said(self, rows: np.ndarray) -> str:
        """Which number of [n, obs] is far, in a sentence; nothing where none is."""
        outside = (rows < self.least) | (rows > self.most)
        if not outside.any():
            return ""
        row, column = np.argwhere(outside)[0]
        each = self.contract.observation[column]
        unit = f" {each.unit}" if each.unit else ""
        return (
            f"'{each.name}' is {rows[row, column]:g}{unit}, far outside the {each.low:g} to "
            f"{each.high:g}{unit} that were logged."
        )
