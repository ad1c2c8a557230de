"""Behaviour cloning: do what the log did.

The floor that every other method has to beat. It minimises the mean squared error between
tanh(net(obs)) and the logged action (Pomerleau, "ALVINN", NeurIPS 1988; constants as in CORL,
Tarasov et al., 2022).

Differences from CORL: the learning rate falls to zero along half a cosine, and 50,000 updates are
made instead of a million (`--preset paper` makes a million). With a constant rate the score of the
last policy is a matter of luck; docs/results.md has both curves.
"""

from dataclasses import dataclass
from typing import ClassVar

from countmorl.agents.bc import BCAgent
from countmorl.algorithms.base import AbstractAlgorithm, Published
from countmorl.configs import layer_sizes, positive
from countmorl.data.dataset import Dataset, RowKind
from countmorl.nets import CosineDecay
from countmorl.scaling import Standardizer
from countmorl.types import Key


@dataclass(frozen=True, kw_only=True)
class BC(AbstractAlgorithm):
    """Behaviour cloning: imitate the logged actions."""

    paper: ClassVar[str] = "Pomerleau, NeurIPS 1988"
    first: ClassVar[tuple[str, ...]] = ("learning_rate", "hidden", "updates", "batch")
    published: ClassVar[Published] = Published.everywhere("CORL, for v2", epochs=1000)
    rows: ClassVar[RowKind] = "all"

    epochs: int = 50
    """Epochs of training; metrics are written after each."""
    hidden: tuple[int, ...] = (256, 256)
    """Units of each hidden layer."""
    learning_rate: float = 3e-4
    """Step size of Adam at the start; it falls to zero along half a cosine."""

    def __post_init__(self) -> None:
        super().__post_init__()
        layer_sizes(self.hidden)
        positive(self, "learning_rate")

    def agent(self, dataset: Dataset, *, key: Key) -> BCAgent:
        """A policy network on standardised observations."""
        standardizer = Standardizer.fit(dataset.obs)
        sizes = (dataset.obs_dim, *self.hidden, dataset.action_dim)
        schedule = CosineDecay(self.learning_rate, self.epochs * self.updates)
        return BCAgent.make(
            standardizer, sizes, schedule=schedule, discrete=dataset.discrete, key=key
        )
