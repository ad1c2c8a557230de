"""A model alone, or with its codes: fitted once, for other runs to use (`--model RUN`)."""

from dataclasses import dataclass, field
from typing import ClassVar

from countmorl.agents.base import AbstractAgent
from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.counting.base import CodesConfig
from countmorl.data.dataset import Dataset
from countmorl.dynamics.fit import EnsembleConfig
from countmorl.errors import ConfigError
from countmorl.types import Key


@dataclass(frozen=True, kw_only=True)
class AbstractAlone(AbstractAlgorithm):
    """What other runs share, and no policy."""

    termination: str | None = None
    """When a rollout ends. Default: the task's rule where it is known, else one learned here."""
    model: EnsembleConfig = field(default_factory=EnsembleConfig)
    """The dynamics ensemble."""

    def agent(self, dataset: Dataset, *, key: Key) -> AbstractAgent:
        """Raise: there is no policy to train."""
        raise ConfigError("A model alone has no policy; train one in it with --model.")


@dataclass(frozen=True, kw_only=True)
class ModelAlone(AbstractAlone):
    """Model: the dynamics ensemble and when its rollouts end, for other runs to share."""

    paper: ClassVar[str] = "Chua et al., NeurIPS 2018"


@dataclass(frozen=True, kw_only=True)
class CodesAlone(AbstractAlone):
    """Codes: a model and the learned codes of its pairs, for other runs to share."""

    paper: ClassVar[str] = "Kim and Oh, ICML 2023"

    codes: CodesConfig = field(default_factory=CodesConfig)
    """The codes that pairs are counted by."""
