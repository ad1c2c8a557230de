"""CQL(H) (Kumar et al., NeurIPS 2020): values low wherever the data say nothing; no model.

Critics: (Q - y)^2 + w [ soft maximum of Q(s, .) over 30 actions - Q(s, a) of the data ], with
y = r + gamma (1 - d) min Q'(s', a'), without entropy. The actor is SAC's; `--clone-epochs` lets it
imitate the data first, and `--preset paper` does.

Differences from the authors' code: two hidden layers in place of three (`--sac.hidden 256 256 256`
gives theirs), and the SAC all methods share (see `SACConfig`): its discount, rates, normalised
critics and standardised observations; critics begin at the data's mean value (`mean_start`); the
term is taken at a quarter of a batch, its gradient at one action per state
(`ConservativeConfig.every`, `.sampled`); imitation comes before all else, where in theirs the
critics learn meanwhile and the entropy counts in the actor's loss. From OfflineRL-Kit: the soft
maximum runs over all 30 actions.
"""

from dataclasses import dataclass, field, replace
from typing import ClassVar

from countmorl.agents.conservative import Conservative, ConservativeConfig
from countmorl.agents.sac import SAC
from countmorl.agents.sac_config import SACConfig
from countmorl.algorithms.base import AbstractAlgorithm, Published
from countmorl.configs import at_least
from countmorl.data.dataset import Dataset
from countmorl.types import Key


@dataclass(frozen=True, kw_only=True)
class CQL(AbstractAlgorithm):
    """CQL: SAC on the data alone, values lowered off it."""

    paper: ClassVar[str] = "Kumar et al., NeurIPS 2020"
    first: ClassVar[tuple[str, ...]] = (
        "conservative.weight",
        "conservative.temperature",
        "clone_epochs",
        "sac.discount",
        "sac.hidden",
    )
    published: ClassVar[Published] = Published.everywhere(
        "OfflineRL-Kit, for v2; the imitation at first from the authors' code",
        **{
            "epochs": 1000,
            "conservative.weight": 5.0,
            "sac.hidden": (256, 256, 256),
            "sac.actor_decay": False,
            "clone_epochs": 40,
        },
    )

    epochs: int = 300
    """Epochs of training; metrics are written after each."""
    clone_epochs: int = 0
    """Epochs in which the policy first only imitates the data."""
    conservative: ConservativeConfig = field(default_factory=ConservativeConfig)
    """The term that lowers values."""
    sac: SACConfig = field(default_factory=lambda: replace(SACConfig(), mean_start=True))
    """The policy's learner."""

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, clone_epochs=0)

    def agent(self, dataset: Dataset, *, key: Key) -> SAC:
        """Soft actor-critic with the conservative term on every row."""
        updates, term = self.epochs * self.updates, Conservative.make(self.conservative)
        return SAC.of(self.sac, dataset, updates=updates, term=term, key=key)
