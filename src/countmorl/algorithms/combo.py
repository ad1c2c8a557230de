"""COMBO (Yu et al., NeurIPS 2021): lower the values of imagined pairs, not their rewards.

Critics: (Q - y)^2 on real and imagined rows, plus beta [ soft maximum of Q over actions at
imagined (and real) states - mean of Q on real pairs ]. No reward is lowered.

Differences from the paper: the term is CQL(H)'s with a policy and uniform actions, as in all public
code; the SAC is the one all methods share (see `SACConfig`) at the published discount and rate, and
rollouts go on (see `AbstractModelBased`). From OfflineRL-Kit: the soft maximum runs over all 30
actions, not over three at a time. From d3rlpy: rollouts end at terminal states, and only elites are
rolled out. From all: the term is taken at a quarter of a batch, its gradient at one action per
state (`ConservativeConfig.every`, `.sampled`).
"""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from countmorl.agents.conservative import Conservative, ConservativeConfig
from countmorl.agents.sac_config import SACConfig
from countmorl.algorithms.base import Published
from countmorl.algorithms.model_based import AbstractBuild, AbstractModelBased, published_rates
from countmorl.data.dataset import Dataset
from countmorl.errors import ConfigError
from countmorl.pessimism import NoPessimism


@dataclass(frozen=True, kw_only=True)
class COMBO(AbstractModelBased):
    """COMBO: SAC in a learned model, values lowered off the data."""

    paper: ClassVar[str] = "Yu et al., NeurIPS 2021"
    first: ClassVar[tuple[str, ...]] = ("conservative.weight", "states", *AbstractModelBased.first)
    published: ClassVar[Published] = Published(
        source="OfflineRL-Kit for v2; random: d3rlpy's reproduction",
        fields=("horizon", "conservative.weight"),
        random=((5, 0.5), (5, 1.0), (5, 0.5)),
        medium=((5, 0.5), (5, 5.0), (1, 5.0)),
        medium_replay=((5, 0.5), (5, 0.5), (1, 0.5)),
        medium_expert=((5, 5.0), (5, 5.0), (1, 5.0)),
        always={"epochs": 1000, "sac.hidden": (256, 256, 256)},
    )

    real_share: float = 0.5
    """Share of real rows in a batch (f)."""
    states: Literal["mix", "model"] = "mix"
    """Where values are lowered: at all states of a batch, or at the imagined ones alone."""
    conservative: ConservativeConfig = field(default_factory=lambda: ConservativeConfig(weight=0.5))
    """The term that lowers them."""
    sac: SACConfig = field(default_factory=published_rates)
    """The policy's learner, with the published discount and actor's rate."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.real_rows:
            raise ConfigError("`real_share` leaves no real row in a batch, whose values to raise.")
        if self.imagined_rows < self.conservative.every:
            raise ConfigError(
                f"`conservative.every` is {self.conservative.every}, but a batch has only "
                f"{self.imagined_rows} imagined rows, so there may be no imagined row to lower "
                "values at. Make `batch` larger or `conservative.every` smaller."
            )

    def critic_term(self, dataset: Dataset) -> Conservative:
        """Raise real rows only; lower at the chosen states."""
        first = self.real_rows if self.states == "model" else 0
        return Conservative.make(
            self.conservative, pushed_up=self.real_rows, pushed_down_from=first
        )

    def pessimism(self, build: AbstractBuild) -> NoPessimism:
        """The model's rewards stay as they are."""
        return NoPessimism()
