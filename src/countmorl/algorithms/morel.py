"""MOReL (Kidambi et al., NeurIPS 2020): stop where the members disagree.

disc(s, a) = max_{i, j} |f_i(s, a) - f_j(s, a)|_2. A pair with disc above a threshold is unknown:
the rollout ends there, terminally, and pays `penalty`. The threshold is the data's own largest
disc, divided by `coefficient`.

Differences from the paper: the planner is SAC on short rollouts from all logged states, not natural
policy gradient on long ones from first states; members are Gaussian and bootstrapped; the reward is
learned, and an unknown pair still earns it beside what it pays. From the authors' code: the end is
terminal and costs `penalty` (their flag is never set and their cost is 0). From unifloral: members
are compared on the same pair.
"""

from dataclasses import dataclass
from typing import ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from countmorl import trees
from countmorl.algorithms.model_based import AbstractBuild, AbstractModelBased
from countmorl.configs import at_least, positive
from countmorl.dynamics.ensemble import Ensemble
from countmorl.pessimism import HaltUnknown, disagreement


@dataclass(frozen=True, kw_only=True)
class MOReL(AbstractModelBased):
    """MOReL: SAC in a learned model that ends where its members disagree."""

    paper: ClassVar[str] = "Kidambi et al., NeurIPS 2020"
    first: ClassVar[tuple[str, ...]] = ("coefficient", "penalty", *AbstractModelBased.first)

    coefficient: float = 3.0
    """What the data's largest disagreement is divided by to give the threshold; higher halts
    earlier."""
    penalty: float = 30.0
    """What an unknown pair costs (kappa), in thirds of the rewards' root mean square."""

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(self, "coefficient")
        at_least(self, penalty=0)

    def step_cost(self, unit: float) -> float:
        """What an unknown pair costs."""
        return self.penalty * unit

    def pessimism(self, build: AbstractBuild) -> HaltUnknown:
        """Find the threshold, halt beyond it."""
        largest = _largest(build.ensemble, build.pairs)
        return HaltUnknown(largest / self.coefficient, self.penalty * build.unit)


@eqx.filter_jit
def _largest(ensemble: Ensemble, pairs: Float[Array, "rows inputs"]) -> Float[Array, ""]:
    """The largest disagreement on the data."""
    return trees.in_blocks(lambda rows, _: disagreement(ensemble, rows), pairs).max()
