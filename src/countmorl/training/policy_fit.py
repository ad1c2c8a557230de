"""The stage that trains a policy and judges it where it can."""

from typing import Any

import equinox as eqx
import jax
import numpy as np

from countmorl.agents.base import AbstractAgent
from countmorl.agents.imitator import Imitator
from countmorl.agents.sac import SAC
from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.algorithms.model_based import AbstractModelBased
from countmorl.buffer import RingBuffer
from countmorl.data.dataset import Dataset
from countmorl.envs.simulators import check_fit, evaluate, make_env
from countmorl.fitting import AbstractStage
from countmorl.runs.folder import Run
from countmorl.runtime.policy import Policy
from countmorl.training.epoch import Frozen, Imagination, PolicyState, epoch, on_device
from countmorl.training.options import RunOptions
from countmorl.types import Key, Metrics


class PolicyStage(AbstractStage[PolicyState, AbstractAgent]):
    """Epochs of agent updates; an evaluation every few epochs where the task can be simulated."""

    shown = ("loss", "q", "return", "score")

    def __init__(
        self,
        algorithm: AbstractAlgorithm,
        dataset: Dataset,
        options: RunOptions,
        info: dict[str, Any],
        imagination: Imagination | None = None,
        retain: int = 0,
        clone: SAC | None = None,
        earlier_round: int | None = None,
        epochs: int | None = None,
    ) -> None:
        self.name, self.stream = "policy", 0
        if earlier_round is not None:  # A policy on the way to the one that counts.
            self.name, self.stream = f"policy-{earlier_round}", 200 + earlier_round
        self.clone = clone
        self.algorithm, self.dataset, self.options, self.info = algorithm, dataset, options, info
        self.epochs = algorithm.epochs if epochs is None else epochs
        self.updates, self.retain = algorithm.updates, retain
        self.frozen = Frozen(
            on_device(dataset.transitions(algorithm.rows)),
            algorithm.updates,
            algorithm.batch,
            imagination,
        )
        self.simulated = dataset.task is not None and dataset.task.available()
        if dataset.task and self.simulated and options.eval_every:
            # Before hours are spent, not at the first evaluation.
            env = make_env(dataset.task.env_id)
            check_fit(dataset, env, dataset.task, f"A policy for '{dataset.name}'")
            env.close()

    def init(self, *, key: Key) -> PolicyState:
        """Make the agent and an empty buffer."""
        plan, buffer, world = self.frozen.imagination, None, None
        if plan is not None:
            rows, sizes = (
                plan.branches * plan.horizon,
                (self.dataset.obs_dim, self.dataset.action_dim),
            )
            buffer = RingBuffer.empty(self.retain, rows, *sizes)
            world = plan.adversary.start(plan.model) if plan.adversary else None
        agent = self.algorithm.agent(self.dataset, key=key)
        if self.clone is not None:
            where = lambda a: (a.state.actor, a.state.averaged)  # noqa: E731
            agent = eqx.tree_at(where, agent, (self.clone.state.actor,) * 2)
        return PolicyState(agent, buffer, world)

    def epoch(self, state: PolicyState, *, key: Key) -> tuple[PolicyState, Metrics]:
        """Run the compiled epoch."""
        return epoch(self.frozen, state, key)

    def judge(self, state: PolicyState, epoch: int) -> dict[str, Any]:
        """Evaluate in the environment, every `eval_every` epochs and at the end."""
        every, task = self.options.eval_every, self.dataset.task
        due = every and (epoch % every == 0 or epoch == self.epochs)
        if task is None or not (self.simulated and due):
            return {}
        seed = self.options.seed * 1_000_003 + epoch
        episodes = self.options.eval_episodes
        result = evaluate(self.policy(state.agent), task, episodes=episodes, seed=seed).as_dict()
        return {k: v for k, v in result.items() if k != "episodes" and v is not None}

    def policy(self, agent: AbstractAgent) -> Policy:
        """Return the policy as it is now, free of JAX."""
        network: dict[str, Any] = jax.tree.map(
            lambda leaf: np.asarray(leaf) if eqx.is_array(leaf) else leaf, agent.network()
        )
        return Policy(
            **network,
            action_low=self.dataset.action_low,
            action_high=self.dataset.action_high,
            info=self.info,
        )

    def save(self, state: PolicyState, run: Run) -> None:
        """Write policy.safetensors."""
        self.policy(state.agent).save(run.policy_path)

    def result(self, state: PolicyState) -> AbstractAgent:
        """Return the trained agent."""
        return state.agent


class CloneStage(AbstractStage[PolicyState, SAC]):
    """Epochs in which a policy only imitates the data, before it seeks values."""

    name = "clone"
    stream = 4

    def __init__(self, algorithm: AbstractModelBased, dataset: Dataset) -> None:
        self.algorithm, self.dataset = algorithm, dataset
        self.epochs, self.updates = algorithm.clone_epochs, algorithm.updates
        data = on_device(dataset.transitions("all"))
        self.frozen = Frozen(data, algorithm.updates, algorithm.batch)

    def init(self, *, key: Key) -> PolicyState:
        """The policy's agent, as it starts."""
        agent = self.algorithm.agent(self.dataset, key=key)
        assert isinstance(agent, SAC)
        return PolicyState(Imitator(agent), None)

    def epoch(self, state: PolicyState, *, key: Key) -> tuple[PolicyState, Metrics]:
        """Imitate."""
        return epoch(self.frozen, state, key)

    def result(self, state: PolicyState) -> SAC:
        """Return the agent that has imitated."""
        assert isinstance(state.agent, Imitator)
        return state.agent.agent
