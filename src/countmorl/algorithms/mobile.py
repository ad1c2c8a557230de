"""MOBILE (Sun et al., ICML 2023): lower the model's rewards where members' values disagree.

r~(s, a) = r(s, a) - lambda u(s, a), where u is the deviation over the elites i of their Bellman
targets E_{s' ~ i}[ r + gamma min_j Q'_j(s', a') ], a' of the policy: where members predict other
observations that are worth the same, nothing is taken. SAC on rollouts with that reward.

Differences from the paper: the penalty is taken by the critics of the moment a step is imagined,
and kept with it (up to `retain` epochs), not by those of each update; critics that have just begun
take little. Members share the noise of a draw, so noise is no disagreement, and three are drawn by
default where the paper has ten. From the authors' code: the members' rewards and the
discount are in the targets, as in the paper's formula; values may be below 0; as there, the ends of
episodes are not. The SAC is the one all methods share (see `SACConfig`), and rollouts go on (see
`AbstractModelBased`). The preset has its weights, horizons and real rows, not its fixed entropy
weight on two of Hopper's tasks nor its shorter fit on one of Walker2d's. Four of its rows were read
in the authors' code (HalfCheetah's replay, Hopper's random and medium-expert, Walker2d's medium),
the others in copies of it.
"""

from dataclasses import dataclass
from typing import ClassVar

from countmorl.algorithms.base import Published
from countmorl.algorithms.model_based import AbstractBuild, AbstractModelBased
from countmorl.configs import at_least
from countmorl.pessimism import BellmanPenalty


@dataclass(frozen=True, kw_only=True)
class MOBILE(AbstractModelBased):
    """MOBILE: SAC in a model, rewards lowered where members' values disagree."""

    paper: ClassVar[str] = "Sun et al., ICML 2023"
    first: ClassVar[tuple[str, ...]] = ("weight", "samples", *AbstractModelBased.first)
    published: ClassVar[Published] = Published(
        source="the authors' code and copies of it, for v2",
        fields=("horizon", "weight", "real_share"),
        random=((5, 0.5, 0.05), (5, 5.0, 0.05), (5, 2.0, 0.05)),
        medium=((5, 0.5, 0.05), (5, 1.5, 0.05), (5, 0.5, 0.05)),
        medium_replay=((5, 0.1, 0.05), (5, 0.1, 0.05), (1, 0.5, 0.05)),
        medium_expert=((5, 1.0, 0.5), (5, 1.5, 0.05), (1, 1.5, 0.05)),
        always={"epochs": 3000, "samples": 10},
    )

    weight: float = 1.0
    """Weight of the disagreement (lambda; the paper's beta)."""
    samples: int = 3
    """Next observations drawn of each elite to judge a step by (the paper has 10)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, weight=0, samples=1)

    def step_cost(self, unit: float) -> float:
        """Ten times what members cost whose values are a unit of rewards apart."""
        return 10 * self.weight * unit

    def pessimism(self, build: AbstractBuild) -> BellmanPenalty:
        """Penalise by the spread of the elites' Bellman targets, which are in rewards."""
        return BellmanPenalty(self.weight, self.samples)
