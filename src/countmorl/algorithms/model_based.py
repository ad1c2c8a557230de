"""What the model-based algorithms share: an ensemble, rollouts in it, and SAC on both data."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import jax
from jaxtyping import Array, Float

from countmorl.agents.base import AbstractActorCritic, AbstractAgent
from countmorl.agents.clone import CLONE_EPOCHS, chance_of_actions
from countmorl.agents.sac import SAC
from countmorl.agents.sac_config import NO_PULL, Pull, SACConfig
from countmorl.agents.terms import AbstractCriticTerm
from countmorl.algorithms.adversary import AbstractAdversary
from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.configs import at_least
from countmorl.counting.base import AbstractCounter, CodesConfig
from countmorl.data.dataset import Dataset
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.fit import EnsembleConfig
from countmorl.dynamics.gaussian import AbstractModelTerm
from countmorl.errors import ConfigError
from countmorl.pessimism import AbstractPessimism, CountPenalty
from countmorl.scaling import Standardizer
from countmorl.types import Key

IMITATION = 1 / 64
"""Weight of the pull to the data by the data's own measure (see `pull_weight`), chosen on
development data: lab/verified.md."""
STRONGEST = 1.0
"""The largest weight, by the actions' variance: what a log of two good behaviours gets. More held
policies to one steady behaviour whatever it cost (lab/imitation.md)."""
STEPS = 100_000
"""Steps imagined in one epoch, where the number of rollouts is not given."""


def published_rates() -> SACConfig:
    """The learner of methods that lower no reward, with the discount and actor's rate of its paper.

    With the other methods' 0.995 and 3e-4 COMBO and RAMBO learned to hop on Hopper's replay, and
    lost it again.
    """
    return SACConfig(discount=0.99, actor_rate=1e-4)


class AbstractBuild(ABC):
    """Fits, or reads from the run, what an algorithm asks for."""

    dataset: Dataset
    ensemble: Ensemble

    @property
    @abstractmethod
    def pairs(self) -> Float[Array, "rows inputs"]:
        """The standardised pairs that the model was fitted on."""

    @property
    @abstractmethod
    def targets(self) -> Float[Array, "rows targets"]:
        """What followed each pair, standardised: changes of the observation, and the reward."""

    @property
    @abstractmethod
    def unit(self) -> float:
        """What weights of penalties are multiplied by to be rewards of the log."""

    @abstractmethod
    def counter(self, name: str, config: CodesConfig) -> AbstractCounter:
        """Count the model's training rows by the counter of that name."""

    @abstractmethod
    def keep_counter(self, name: str, penalty: CountPenalty) -> None:
        """Store the counter in the run, with its calibration."""


@dataclass(frozen=True, kw_only=True)
class AbstractModelBased(AbstractAlgorithm):
    """SAC on rollouts of a learned model, with a few real rows in every batch.

    All of them share two differences from their papers: the defaults of `SACConfig`, and rollouts
    that go on (`continued`), where they do not say otherwise.
    """

    first: ClassVar[tuple[str, ...]] = (
        "horizon",
        "real_share",
        "imitate",
        "model.max_epochs",
        "sac.discount",
        "model",
        "eval_every",
    )
    rounds: ClassVar[int] = 1
    """How often a model is fitted and a policy trained; the last policy counts."""

    epochs: int = 300
    """Epochs of policy training; metrics are written after each."""
    horizon: int = 5
    """Steps of each rollout (H)."""
    branches: int | None = None
    """Rollouts begun in one epoch (B); default: as many as make 100,000 steps (the paper has
    50,000 whatever the horizon, and most of their steps are never drawn)."""
    continued: float = 0.8
    """Share of the rollouts that go on from where the last epoch's ended; the others begin in the
    data. At 0, as in the papers, values beyond a rollout's last step are never learned, and
    policies go where they are wrong."""
    retain: int = 5
    """Epochs whose rollouts are kept."""
    real_share: float = 0.05
    """Share of real rows in a batch."""
    clone_epochs: int = 0
    """Epochs in which the policy first only imitates the data."""
    imitate: float | Literal["auto"] = 0.0
    """Weight of a pull of the policy towards the data's actions, at the real rows of a batch: of
    their squared distance, or of minus their log-likelihood where actions are discrete. Values,
    divided by their mean size, weigh 1 beside it. TD3+BC's 2.5 is 0.4 / (action columns) here. At
    0 the policy follows the values alone. auto: by how much of the logged actions their
    observations tell, so that one steady behaviour is held on to, and chance is not."""
    termination: str | None = None
    """When a rollout ends: hopper, walker2d, never, or your own module:function of one next
    observation. Default: the task's rule where it is known, else one learned from the data."""
    reward_function: str | None = None
    """Your own module:function of one observation, action and next observation, in the log's
    numbers, that gives the reward. Default: it is learned."""
    model: EnsembleConfig = field(default_factory=EnsembleConfig)
    """The dynamics ensemble."""
    sac: SACConfig = field(default_factory=SACConfig)
    """The policy's learner."""

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, horizon=1, retain=1, real_share=0, continued=0, clone_epochs=0)
        if self.imitate != "auto":
            at_least(self, imitate=0)
        if self.branches is not None:
            at_least(self, branches=1)
        for name in ("real_share", "continued"):
            if getattr(self, name) >= 1:
                raise ConfigError(f"`{name}` must be below 1, got {getattr(self, name):g}.")

        if self.imitate not in (0, "auto") and not self.real_rows:
            raise ConfigError(
                "`imitate` draws the policy to the actions of a batch's real rows, and "
                "`real_share` leaves none."
            )

    @property
    def begun(self) -> int:
        """Rollouts begun in one epoch."""
        return self.branches or max(1, STEPS // self.horizon)

    @property
    def going_on(self) -> int:
        """Rollouts of an epoch that go on from the last one's."""
        return int(self.continued * self.begun)

    @property
    def usual_length(self) -> int:
        """Steps of a rollout on average, with those that it goes on for in later epochs."""
        return round(self.horizon * self.begun / max(1, self.begun - self.going_on))

    @property
    def imagined_rows(self) -> int:
        """Rows of a batch that come from the model."""
        return self.batch - int(self.batch * self.real_share)

    @property
    def real_rows(self) -> int:
        """Rows of a batch that come from the data; they stand at its front."""
        return self.batch - self.imagined_rows

    def policy_epochs(self, round_: int) -> int:
        """Epochs of one round's policy."""
        return self.epochs

    def agent(self, dataset: Dataset, *, key: Key) -> AbstractActorCritic:
        """Soft actor-critic."""
        updates, term = self.epochs * self.updates, self.critic_term(dataset)
        weight = self.imitate
        if weight == "auto":
            weight = self.pull_weight(dataset) if self.real_rows else 0.0
        pull = Pull(weight, self.real_rows) if weight else NO_PULL
        return SAC.of(self.sac, dataset, updates=updates, term=term, pull=pull, key=key)

    def pull_weight(self, dataset: Dataset) -> float:
        """What `imitate` is by the data: `IMITATION` (1 - c) / c^2, by the actions' variance.

        It is `STRONGEST` at the most. c is the share of the actions' variance that is chance: one
        1 / c measures distances in deviations of the behaviour itself; (1 - c) / c is how much of a
        behaviour there is.
        """
        with jax.ensure_compile_time_eval():  # Agents are made within a compiled program.
            chance = chance_of_actions(dataset, updates=CLONE_EPOCHS * self.updates, seed=0)
        action = dataset.transitions("all").action
        variance = 1.0 if dataset.discrete else float(action.var(axis=0).sum())
        strength = IMITATION * (1 - chance) / max(chance, 1e-6) ** 2
        return min(STRONGEST, strength) / variance if variance > 0 else 0.0

    def critic_term(self, dataset: Dataset) -> AbstractCriticTerm | None:
        """What the method adds to the critics' loss."""
        return None

    def model_adversary(self, build: AbstractBuild) -> AbstractAdversary | None:
        """What changes the model while the policy learns; mostly nothing."""
        return None

    def model_term(
        self, agent: AbstractAgent, dataset: Dataset, standardizer: Standardizer
    ) -> AbstractModelTerm | None:
        """What is added to the model's loss from the second round on, given the last policy."""
        return None

    @abstractmethod
    def pessimism(self, build: AbstractBuild) -> AbstractPessimism:
        """Make the rule that lowers the model's steps; `build` fits what it needs."""
