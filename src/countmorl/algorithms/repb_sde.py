"""RepB-SDE (Lee et al., ICLR 2021): model features that look alike on the data and on the policy.

Round one fits a plain model and trains a policy. Round two fits the model again with
alpha |E[phi(s, a)] - g E[m phi(s', a')] - (1 - g) E[phi(s0, a0)]|^2 added for each member, where a'
and a0 are the first policy's, m = 1 - d, g the discount and phi the third hidden layer; then it
trains the policy that counts. Rewards are lowered by lambda |std_i(mu_i)|_2 over all members, in
standardised targets.

Differences from the authors' code: one command in place of two scripts; phi ends in swish, not in
tanh; the weight decay is MOPO's (theirs is twice that); the penalty's weight is in thirds of the
rewards' root mean square; rollouts are begun every epoch; the balance is taken at every fourth
step, four times as heavy.
"""

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from countmorl.agents.base import AbstractAgent
from countmorl.algorithms.balance import Balance
from countmorl.algorithms.model_based import AbstractBuild, AbstractModelBased
from countmorl.configs import at_least
from countmorl.data.dataset import Dataset
from countmorl.pessimism import SpreadPenalty
from countmorl.scaling import Standardizer


@dataclass(frozen=True, kw_only=True)
class RepBSDE(AbstractModelBased):
    """RepB-SDE: SAC in a model, its features balanced between data and policy."""

    paper: ClassVar[str] = "Lee et al., ICLR 2021"
    first: ClassVar[tuple[str, ...]] = (
        "weight",
        "balance",
        "first_epochs",
        *AbstractModelBased.first,
    )
    rounds: ClassVar[int] = 2

    first_epochs: int | None = None
    """Epochs of the first round's policy; default: half of `epochs`."""
    balance: float = 0.01
    """Weight of the balance in the second model's loss (alpha_M)."""
    balance_every: int = 4
    """Steps of the second fit between two that balance, with as much more weight: the same on
    average, and the balance is what that fit costs most for. 1 balances at every step."""
    weight: float = 10.0
    """Weight of the members' spread in the penalty (lambda), in thirds of the rewards' root mean
    square."""

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, balance=0, balance_every=1, weight=0)
        if self.first_epochs is not None:
            at_least(self, first_epochs=1)

    def policy_epochs(self, round_: int) -> int:
        """The first policy only has to show where policies go."""
        return self.epochs if round_ == 1 else self.first_epochs or max(1, self.epochs // 2)

    def step_cost(self, unit: float) -> float:
        """Ten times what a model costs that knows nothing."""
        return 10 * self.weight * unit

    def pessimism(self, build: AbstractBuild) -> SpreadPenalty:
        """Penalise by the spread of the members' means."""
        scale = Standardizer.fit(np.asarray(build.targets)).std
        return SpreadPenalty(scale, self.weight * build.unit)

    def model_term(
        self, agent: AbstractAgent, dataset: Dataset, standardizer: Standardizer
    ) -> Balance:
        """Balance the second model's features against the first policy."""
        data = jax.tree.map(jnp.asarray, dataset.transitions("model"))
        parts = (self.balance, self.sac.discount, self.model.batch)
        return Balance(data, standardizer, agent, *parts, every=self.balance_every)
