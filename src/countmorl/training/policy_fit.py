"""The fits that train a policy: imitation at first, then what the method does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from countmorl.agents.base import AbstractActorCritic, AbstractAgent
from countmorl.agents.imitator import Imitator
from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.buffer import RingBuffer
from countmorl.data.dataset import Dataset, RowKind
from countmorl.data.favoured import Favoured, favoured
from countmorl.evaluation.base import Evaluator
from countmorl.fitting import AbstractFit
from countmorl.runs.options import RunOptions
from countmorl.runtime.policy import Policy
from countmorl.scaling import reward_unit
from countmorl.training.epoch import Best, Frozen, Imagination, PolicyState, epoch, on_device
from countmorl.types import Key, Metrics

PATIENCE = 5
"""Evaluations without a higher value after which a run ends, where it may."""
FAR = 10.0
"""How many times the greatest sum of rewards a value must be to be called absurd."""
LEAST_ENTROPY = 20.0
"""Nats below zero that one number of an action may have: the authors' floor of the deviation."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PolicyJob:
    """What every policy of a run is trained on, and judged by."""

    algorithm: AbstractAlgorithm
    dataset: Dataset
    options: RunOptions
    info: Mapping[str, Any]
    """Where the policy comes from, for its file."""
    evaluator: Evaluator | None = None


class PolicyFit(AbstractFit[PolicyState, AbstractAgent]):
    """Epochs of agent updates; every few epochs the policy is judged, where that can be done."""

    shown = ("loss", "q", "return", "score", "value")

    def __init__(
        self,
        job: PolicyJob,
        *,
        imagination: Imagination | None = None,
        retain: int = 0,
        clone: AbstractActorCritic | None = None,
        earlier_round: int | None = None,
        epochs: int | None = None,
    ) -> None:
        algorithm, dataset = job.algorithm, job.dataset
        self.name, self.stream = "policy", 0
        if earlier_round is not None:  # A policy on the way to the one that counts.
            self.name, self.stream = f"policy-{earlier_round}", 200 + earlier_round
        self.job, self.clone, self.retain = job, clone, retain
        self.epochs = algorithm.epochs if epochs is None else epochs
        self.updates = algorithm.updates
        self.stops = job.options.stop == "offline" and earlier_round is None
        data = on_device(dataset.transitions(algorithm.rows))
        self.frozen = Frozen(
            data,
            algorithm.updates,
            algorithm.batch,
            imagination,
            _favoured(algorithm, dataset, algorithm.rows),
        )
        if job.evaluator and job.options.eval_every:
            # Before hours are spent, not at the first evaluation.
            job.evaluator.check(dataset, f"A policy for '{dataset.name}'")

    def init(self, *, key: Key) -> PolicyState:
        """Make the agent and an empty buffer."""
        plan, dataset = self.frozen.imagination, self.job.dataset
        buffer = adversary = None
        if plan is not None:
            rows, sizes = plan.branches * plan.horizon, (dataset.obs_dim, dataset.action_dim)
            buffer = RingBuffer.empty(self.retain, rows, *sizes, sequences=bool(plan.sequences))
            adversary = plan.adversary.start(plan.model) if plan.adversary else None
        agent: Any = self.job.algorithm.agent(dataset, key=key)
        if self.clone is not None:
            agent = agent.begun_as(self.clone)
        best = None
        if self.stops:
            none_yet = jax.tree.map(jnp.zeros_like, agent)
            best = Best(none_yet, jnp.array(-jnp.inf), jnp.zeros((), jnp.int32))
        return PolicyState(agent, buffer, adversary, best)

    def epoch(self, state: PolicyState, *, key: Key) -> tuple[PolicyState, Metrics]:
        """Run the compiled epoch."""
        going = PolicyState(state.agent, state.buffer, state.adversary)
        after, metrics = epoch(self.frozen, going, key)
        return PolicyState(after.agent, after.buffer, after.adversary, state.best), metrics

    def kept(self, epoch: int) -> bool:
        """Every `eval_every` epochs and at the end."""
        every = self.job.options.eval_every
        return bool(every) and (epoch % every == 0 or epoch == self.epochs)

    def judge(self, state: PolicyState, epoch: int) -> dict[str, Any]:
        """Let the evaluator look at the policy, when it is time."""
        evaluator = self.job.evaluator
        if evaluator is None or not self.kept(epoch):
            return {}
        seed = self.job.options.seed * 1_000_003 + epoch
        estimate = evaluator(self.policy(state), seed=seed)
        played = "return" in estimate.facts and not self.stops
        return dict(estimate.facts) if played else {"value": estimate.value, **estimate.facts}

    def remembering(self, state: PolicyState, epoch: int, judged: dict[str, Any]) -> PolicyState:
        """Keep the agent that is judged best, where the run ends by that."""
        best = state.best
        if best is None or not judged:
            return state
        if judged["value"] > float(best.value):
            # A copy, for the next epoch uses the state's own arrays up.
            agent = jax.tree.map(jnp.copy, state.agent)
            best = Best(agent, jnp.array(judged["value"], jnp.float32), jnp.zeros((), jnp.int32))
        else:
            best = Best(best.agent, best.value, best.since + 1)
        return PolicyState(state.agent, state.buffer, state.adversary, best)

    def finished(self, state: PolicyState) -> bool:
        """Tell whether the judged value has not risen for a while."""
        return state.best is not None and int(state.best.since) >= PATIENCE

    def limits(self) -> dict[str, float]:
        """Values, their squares and entropies beyond which a training has diverged."""
        config = getattr(self.job.algorithm, "sac", getattr(self.job.algorithm, "td3", None))
        if config is None:
            return {}
        rewards, actions = self.job.dataset.reward, self.job.dataset.action_dim
        largest, unit = float(np.abs(rewards).max()), reward_unit(self.job.dataset.reward)
        # The entropy of a step weighs about as much as a reward for each number of an action.
        step = largest + self.job.algorithm.step_cost(unit) + (3 + actions) * unit
        value = FAR * step / (1 - config.discount)
        return {"q": value, "critic_loss": value**2, "entropy": FAR * LEAST_ENTROPY * actions}

    def policy(self, state: PolicyState) -> Policy:
        """Return the policy as it is now, with what the data say of their columns."""
        return self._policy_of(state.agent)

    def offered(self, state: PolicyState) -> Policy:
        """Return the policy that was judged best, where that decides; else the last."""
        best = state.best
        judged = best is not None and np.isfinite(float(best.value))
        return self._policy_of(best.agent if best is not None and judged else state.agent)

    def _policy_of(self, agent: AbstractAgent) -> Policy:
        dataset = self.job.dataset
        policy = agent.policy(dataset.space, self.job.info)
        return replace(policy, schema=dataset.schema) if dataset.schema else policy

    def result(self, state: PolicyState) -> AbstractAgent:
        """Return the trained agent, or the one that was judged best where that decides."""
        return state.agent if state.best is None else state.best.agent


class CloneFit(AbstractFit[PolicyState, AbstractActorCritic]):
    """Epochs in which a policy only imitates the data, before it seeks values."""

    name = "clone"
    stream = 4

    def __init__(self, job: PolicyJob, epochs: int) -> None:
        algorithm, dataset = job.algorithm, job.dataset
        self.job, self.epochs, self.updates = job, epochs, algorithm.updates
        data = on_device(dataset.transitions("all"))
        chosen = _favoured(algorithm, dataset, "all")
        self.frozen = Frozen(data, algorithm.updates, algorithm.batch, favoured=chosen)

    def init(self, *, key: Key) -> PolicyState:
        """The policy's agent, as it starts."""
        agent: Any = self.job.algorithm.agent(self.job.dataset, key=key)
        return PolicyState(Imitator(agent), None)

    def epoch(self, state: PolicyState, *, key: Key) -> tuple[PolicyState, Metrics]:
        """Imitate."""
        return epoch(self.frozen, state, key)

    def result(self, state: PolicyState) -> AbstractActorCritic:
        """Return the agent that has imitated."""
        imitator: Any = state.agent
        return imitator.agent


def _favoured(algorithm: AbstractAlgorithm, dataset: Dataset, rows: RowKind) -> Favoured | None:
    found = favoured(dataset, algorithm.favour, rows)
    return None if found is None else jax.tree.map(jnp.asarray, found)
