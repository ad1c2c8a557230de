"""MOPO (Yu et al., NeurIPS 2020): lower the model's rewards where the model is uncertain.

r~(s, a) = r(s, a) - lambda max_i |sigma_i(s, a)|_2: the largest norm, over all members, of the
predicted deviations of next observation and reward; SAC on rollouts with that reward.

Differences from the authors' code: the SAC is the one all methods share, steadier than theirs (see
`SACConfig`), and rollouts go on (see `AbstractModelBased`).
"""

from dataclasses import dataclass
from typing import ClassVar

from countmorl.algorithms.base import Published
from countmorl.algorithms.model_based import AbstractBuild, AbstractModelBased
from countmorl.configs import at_least
from countmorl.pessimism import StdPenalty, Uncertainty


@dataclass(frozen=True, kw_only=True)
class MOPO(AbstractModelBased):
    """MOPO: SAC in a learned model, rewards lowered where it is uncertain."""

    paper: ClassVar[str] = "Yu et al., NeurIPS 2020"
    first: ClassVar[tuple[str, ...]] = ("weight", "uncertainty", *AbstractModelBased.first)
    published: ClassVar[Published] = Published(
        source="OfflineRL-Kit for v2; random: the authors' code, for v0",
        fields=("horizon", "weight"),
        random=((5, 0.5), (5, 1.0), (1, 1.0)),
        medium=((5, 0.5), (5, 5.0), (5, 0.5)),
        medium_replay=((5, 0.5), (5, 2.5), (1, 2.5)),
        medium_expert=((5, 2.5), (5, 5.0), (1, 2.5)),
        always={"epochs": 3000},
    )

    weight: float = 1.0
    """Weight of the uncertainty (lambda)."""
    uncertainty: Uncertainty = "max_std"
    """max_std: the largest predicted deviation (the paper's). mean_spread: the farthest member
    from the members' mean. ensemble_std: the members' deviation. The last two leave out the
    reward."""

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, weight=0)

    def step_cost(self, unit: float) -> float:
        """Ten times what a model costs that knows nothing."""
        return 10 * self.weight * unit

    def pessimism(self, build: AbstractBuild) -> StdPenalty:
        """Penalise by the members' predicted deviations."""
        return StdPenalty(self.weight * build.unit, self.uncertainty)
