"""What a monitor has found, and how it says so."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from countmorl.monitoring.watched import Part

Kind = Literal["moved", "beyond", "new words", "rarer", "reward"]


@dataclass(frozen=True, kw_only=True)
class Moved:
    """How one column of today's log lies against the training's."""

    name: str
    part: Part
    at: float
    """The value at which they differ most for their spread."""
    before: float
    """Share of the training's rows at or below it."""
    now: float
    """Share of today's."""
    moved: float
    """Their difference in spreads of a log of this size."""
    psi: float
    """Population stability index over the column's edges; above 0.25 is commonly called large."""
    alarm: bool


@dataclass(frozen=True, kw_only=True)
class Alarm:
    """One reason for an alarm, in a sentence."""

    kind: Kind
    column: str
    sentence: str


@dataclass(frozen=True, kw_only=True)
class Report:
    """Today's log against the training."""

    log: str
    rows: int
    episodes: int
    columns: tuple[Moved, ...]
    """Every column, those that moved farthest first."""
    limit: float
    """Spreads beyond which a move is an alarm."""
    false_alarms: float
    """How often a log of the same kind raises an alarm, at the most."""
    unseen: float | None
    """Share of pairs that no row of the training is like; None where nothing counts."""
    unseen_before: float | None
    """The same of the training's own episodes, each against the others."""
    reward: float
    """Mean reward of a step."""
    reward_before: float
    alarms: tuple[Alarm, ...]
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able values."""
        return asdict(self) | {"alarm": bool(self.alarms), "sentence": self.sentence}

    @property
    def sentence(self) -> str:
        """The whole in a sentence."""
        size = f"{self.rows:,} steps of {self.episodes:,} episode{'s' if self.episodes > 1 else ''}"
        if not self.alarms:
            return f"No alarm: {size} look like the training's."
        count = len(self.alarms)
        return f"ALARM: {size} are unlike the training's in {count} way{'s' if count > 1 else ''}."


def moved_sentence(column: Moved, whole: bool) -> str:
    """Say in the column's own words how it moved; `whole` where its values are 0 and 1 alone."""
    name = column.name
    if column.part == "counted":
        if column.at <= 0:
            return (
                f"{column.now:.1%} of the pairs of observation and action were never logged; "
                f"{column.before:.1%} are by chance."
            )
        return (
            f"{column.now:.1%} of the pairs were logged {column.at:.3g} times or less, where "
            f"{column.before:.1%} are usual."
        )
    if column.part == "followed":
        what = "rewards are" if name == "reward" else f"{name} goes"
        way = "lower" if column.now > column.before else "higher"
        return (
            f"after the same observations and actions {what} {way} than in training "
            f"({_share(column)})."
        )
    if whole:
        before, now = 1 - column.before, 1 - column.now
        return f"{name} in {now:.1%} of the rows, in training in {before:.1%}."
    way = "lower" if column.now > column.before else "higher"
    return (
        f"{name} is {way}: {column.now:.1%} of the rows are at or below {column.at:.4g}, in "
        f"training {column.before:.1%} were."
    )


def _share(column: Moved) -> str:
    return f"at or below what {column.before:.1%} were in training: {column.now:.1%}"
