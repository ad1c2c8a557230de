"""A model alone: fitted once, for other runs to use (`--model RUN`)."""

from dataclasses import dataclass, field
from typing import ClassVar

from countmorl.agents.base import AbstractAgent
from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.data.dataset import Dataset
from countmorl.dynamics.fit import EnsembleConfig
from countmorl.errors import ConfigError
from countmorl.types import Key


@dataclass(frozen=True, kw_only=True)
class ModelAlone(AbstractAlgorithm):
    """Model: the dynamics ensemble and nothing else, for other runs to share."""

    paper: ClassVar[str] = "Chua et al., NeurIPS 2018"

    model: EnsembleConfig = field(default_factory=EnsembleConfig)
    """The dynamics ensemble."""

    def agent(self, dataset: Dataset, *, key: Key) -> AbstractAgent:
        """Raise: there is no policy to train."""
        raise ConfigError("A model alone has no policy; train one in it with --model.")
