"""RAMBO (Rigter et al., NeurIPS 2022): train the policy against a model that works against it.

After each epoch of SAC the model takes steps that lower the policy's value while it stays likely on
the data: NLL(data) + lambda mean[ A log p(s', r | s, a) ] on imagined steps (see `adversary`). The
policy begins as a clone of the behaviour. With lambda = 0 the model makes no step.

Differences from the authors' code: the SAC all methods share (see `SACConfig`) at the published
discount and rate, and rollouts that go on (see `AbstractModelBased`), while the adversary's own
begin in the data; elites are drawn anew for each row; log p is a logsumexp in single precision;
what the model predicts is standardised as a change, not as an observation, and its variance has the
bounds that all methods share; an epoch of the clone is `updates` steps, not a pass over the data.
As there, the adversary's own rollouts go on past terminal states, after which nothing is worth
anything.
"""

from dataclasses import dataclass, field
from typing import ClassVar

from countmorl.agents.sac_config import SACConfig
from countmorl.algorithms.adversary import Adversary, AdversaryConfig
from countmorl.algorithms.base import Published
from countmorl.algorithms.model_based import AbstractBuild, AbstractModelBased, published_rates
from countmorl.pessimism import NoPessimism


@dataclass(frozen=True, kw_only=True)
class RAMBO(AbstractModelBased):
    """RAMBO: SAC in a learned model that is turned against the policy."""

    paper: ClassVar[str] = "Rigter et al., NeurIPS 2022"
    first: ClassVar[tuple[str, ...]] = (
        "adversary.weight",
        "adversary.steps",
        *AbstractModelBased.first,
    )
    published: ClassVar[Published] = Published(
        source="the authors' code, for v2",
        fields=("horizon", "adversary.weight"),
        random=((5, 0.0), (2, 3e-4), (5, 0.0)),
        medium=((5, 3e-4), (5, 3e-4), (5, 0.0)),
        medium_replay=((5, 3e-4), (2, 3e-4), (5, 0.0)),
        medium_expert=((5, 3e-4), (5, 3e-4), (2, 3e-4)),
        always={
            "epochs": 2000,
            "clone_epochs": 50,
            "model.learning_rate": 3e-4,
            "model.scale_targets": True,
            "model.patience": 10,
            "sac.normalize": True,
            "sac.actor_decay": False,
            "sac.log_std_min": -20.0,
        },
    )

    real_share: float = 0.5
    """Share of real rows in a batch."""
    clone_epochs: int = 20
    """Epochs in which the policy first imitates the data."""
    adversary: AdversaryConfig = field(default_factory=AdversaryConfig)
    """How the model is turned against the policy."""
    sac: SACConfig = field(default_factory=published_rates)
    """The policy's learner, with the published discount and actor's rate."""

    def pessimism(self, build: AbstractBuild) -> NoPessimism:
        """No reward is lowered."""
        return NoPessimism()

    def model_adversary(self, build: AbstractBuild) -> Adversary | None:
        """Model steps on the data it was fitted on."""
        if self.adversary.weight == 0:
            return None
        parts = (self.adversary, self.model.decays, self.horizon)
        return Adversary(build.pairs, build.targets, *parts)
