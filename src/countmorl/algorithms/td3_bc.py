"""TD3+BC (Fujimoto and Gu, NeurIPS 2021): TD3 with a pull towards the data's actions.

Actor: -lambda Q_1(s, pi(s)) + (pi(s) - a)^2, lambda = value_weight / mean |Q_1(s, pi(s))| over the
batch; observations standardised. Known differences from the authors' code: the discount is 0.995,
not 0.99, and the policy that is judged is averaged, as with our other methods; critics begin at the
data's mean value and see rewards in a unit of their own. `--preset paper` has none of them. Nothing
is added to an observation's deviation, where they add 1e-3.
"""

from dataclasses import dataclass, field
from typing import ClassVar

from countmorl.agents.td3 import TD3BC, TD3Config
from countmorl.algorithms.base import AbstractAlgorithm, Published
from countmorl.configs import at_least
from countmorl.data.dataset import Dataset
from countmorl.scaling import Standardizer
from countmorl.types import Key


@dataclass(frozen=True, kw_only=True)
class TD3PlusBC(AbstractAlgorithm):
    """TD3+BC: TD3 on the data alone, its actor drawn to the logged actions."""

    paper: ClassVar[str] = "Fujimoto and Gu, NeurIPS 2021"
    first: ClassVar[tuple[str, ...]] = ("value_weight", "td3.discount", "td3.actor_rate", "batch")
    published: ClassVar[Published] = Published.everywhere(
        "the paper", value_weight=2.5, epochs=1000
    )
    takes_discrete: ClassVar[bool] = False

    epochs: int = 300
    """Epochs of training; metrics are written after each."""
    value_weight: float = 2.5
    """Weight of the values against imitation (the paper's alpha)."""
    td3: TD3Config = field(default_factory=TD3Config)
    """The policy's learner."""

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, value_weight=0)

    def agent(self, dataset: Dataset, *, key: Key) -> TD3BC:
        """TD3 on standardised observations."""
        standardizer = Standardizer.fit(dataset.obs)
        sizes = (dataset.obs_dim, dataset.action_dim)
        values = {"value": self.td3.first_value(dataset), "unit": self.td3.unit(dataset)}
        weight = self.value_weight
        return TD3BC.make(self.td3, standardizer, *sizes, value_weight=weight, **values, key=key)
