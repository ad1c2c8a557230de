"""The seams of an algorithm: its file fills these cells and holds nothing else."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from countmorl.agents.base import AbstractAgent
from countmorl.configs import added, at_least, check_types
from countmorl.data.dataset import Dataset, RowKind
from countmorl.errors import ConfigError
from countmorl.types import Key

Row = tuple[Any, ...]
Robots = tuple[Row, Row, Row]

MOST_UPDATES, MOST_BATCH = 1_000_000_000, 1_000_000
"""Gradient steps of an epoch, and rows of one step, beyond which a setting must be a slip."""


@dataclass(frozen=True, kw_only=True)
class Published:
    """Settings that were published for D4RL's tasks: three rows per quality of data.

    The rows are for HalfCheetah, Hopper and Walker2d; each holds a value for every field.
    """

    source: str
    fields: tuple[str, ...]
    """Fields of the algorithm's config; a dot leads into a nested one."""
    random: Robots
    medium: Robots
    medium_replay: Robots
    medium_expert: Robots
    always: Mapping[str, Any] = field(default_factory=dict)
    """Fields with the same value on every task."""

    @classmethod
    def everywhere(cls, source: str, **settings: Any) -> "Published":
        """The same settings for every task."""
        robots: Robots = ((), (), ())
        qualities = ("random", "medium", "medium_replay", "medium_expert")
        return cls(source=source, fields=(), always=settings, **dict.fromkeys(qualities, robots))

    @property
    def rows(self) -> dict[str, dict[str, Any]]:
        """The settings of each task."""
        return {
            f"{robot}-{quality.replace('_', '-')}": dict(self.always)
            | dict(zip(self.fields, row, strict=True))
            for quality in ("random", "medium", "medium_replay", "medium_expert")
            for robot, row in zip(
                ("halfcheetah", "hopper", "walker2d"), getattr(self, quality), strict=True
            )
        }


@dataclass(frozen=True, kw_only=True)
class AbstractAlgorithm(ABC):
    """What all algorithms share: how long and on how much they learn."""

    paper: ClassVar[str]
    """Who proposed it, where and when."""
    first: ClassVar[tuple[str, ...]] = ()
    """Settings that matter most, for its help page: after these the rest is called advanced."""
    published: ClassVar[Published | None] = None
    """Settings for D4RL's tasks, where someone has published them."""
    takes_discrete: ClassVar[bool] = True
    """Whether it can learn to choose among numbered actions."""
    rows: ClassVar[RowKind] = "critic"
    """Which rows of a dataset are good for this algorithm."""

    epochs: int = 100
    """Epochs of training; metrics are written after each."""
    updates: int = 1000
    """Gradient steps in one epoch."""
    batch: int = 256
    """Rows in one gradient step."""
    favour: float = added(0.0)
    """How much more often rows of better episodes are drawn: e^favour times as often from the best
    as from the worst, by what episodes earned less what their first observation tells of it (Hong
    et al., ICLR 2023, have 10). At 0, as in the papers, all rows are drawn alike."""

    def __post_init__(self) -> None:
        check_types(self)
        at_least(self, epochs=1, updates=1, batch=1, favour=0)
        for name, most in (("updates", MOST_UPDATES), ("batch", MOST_BATCH)):
            if getattr(self, name) > most:
                raise ConfigError(
                    f"`{name}` must be at most {most:,}, got {getattr(self, name):,}."
                )

    @classmethod
    def published_rows(cls, chosen: Any = None) -> dict[str, dict[str, Any]]:
        """The published settings of each task; `chosen` are settings that may decide others."""
        return cls.published.rows if cls.published else {}

    def step_cost(self, unit: float) -> float:
        """What a step may cost at the most, beside its reward; `unit` is the rewards' own."""
        return 0.0

    @abstractmethod
    def agent(self, dataset: Dataset, *, key: Key) -> AbstractAgent:
        """Make the learner, sized and scaled for a dataset."""
