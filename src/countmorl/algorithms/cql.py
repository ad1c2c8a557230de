"""CQL(H) (Kumar et al., NeurIPS 2020): values low wherever the data say nothing; no model.

Critics: (Q - y)^2 + w [ soft maximum of Q(s, .) over 30 actions - Q(s, a) of the data ], with
y = r + gamma (1 - d) min Q'(s', a'), without entropy. The actor is SAC's; `--sac.warm-start` lets
it imitate the data first, and `--preset paper` does.

Differences from the authors' code: two hidden layers in place of three (`--sac.hidden 256 256 256`
gives theirs), and the SAC all methods share (see `SACConfig`): its discount, rates, normalised
critics and standardised observations; critics begin at the data's mean value (`mean_start`); the
term is taken at a quarter of a batch, its gradient at one action a state
(`ConservativeConfig.every`, `.sampled`); a warm start only imitates, and the entropy weight waits,
where theirs goes on learning and counts in the actor's loss. From OfflineRL-Kit: the soft maximum
runs over all 30 actions.
"""

from dataclasses import dataclass, field, replace
from typing import ClassVar

from countmorl.agents.conservative import Conservative, ConservativeConfig
from countmorl.agents.sac import SAC, SACConfig
from countmorl.algorithms.base import AbstractAlgorithm, Published
from countmorl.data.dataset import Dataset
from countmorl.types import Key


@dataclass(frozen=True, kw_only=True)
class CQL(AbstractAlgorithm):
    """CQL: SAC on the data alone, values lowered off it."""

    paper: ClassVar[str] = "Kumar et al., NeurIPS 2020"
    published: ClassVar[Published] = Published.everywhere(
        "OfflineRL-Kit, for v2; the warm start from the authors' code",
        **{
            "epochs": 1000,
            "conservative.weight": 5.0,
            "sac.hidden": (256, 256, 256),
            "sac.actor_decay": False,
            "sac.warm_start": 40_000,
        },
    )

    epochs: int = 300
    """Epochs of training; metrics are written after each."""
    conservative: ConservativeConfig = field(default_factory=ConservativeConfig)
    """The term that lowers values."""
    sac: SACConfig = field(default_factory=lambda: replace(SACConfig(), mean_start=True))
    """The policy's learner."""

    def agent(self, dataset: Dataset, *, key: Key) -> SAC:
        """Soft actor-critic with the conservative term on every row."""
        updates, term = self.epochs * self.updates, Conservative.make(self.conservative)
        return SAC.of(self.sac, dataset, updates=updates, term=term, key=key)
