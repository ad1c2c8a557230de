"""The stage that trains a policy on a dataset and judges it where it can."""

from typing import Any

import equinox as eqx
import jax
import numpy as np

from countmorl.agents.base import AbstractAgent
from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.data.dataset import Dataset
from countmorl.envs.simulate import evaluate
from countmorl.policy import Policy
from countmorl.runs import Run
from countmorl.training.epoch import epoch, freeze
from countmorl.training.options import RunOptions
from countmorl.training.stage import AbstractStage
from countmorl.types import Key, Metrics


class PolicyStage(AbstractStage[AbstractAgent]):
    """Epochs of agent updates; an evaluation every few epochs where the task can be simulated."""

    name = "policy"
    stream = 0

    def __init__(
        self, algorithm: AbstractAlgorithm, dataset: Dataset, options: RunOptions, info: dict
    ) -> None:
        self.algorithm, self.dataset, self.options, self.info = algorithm, dataset, options, info
        self.epochs = algorithm.epochs
        steps = dataset.transitions(algorithm.rows)
        self.frozen = freeze(steps, updates=algorithm.updates, batch=algorithm.batch)
        self.simulated = dataset.task is not None and dataset.task.available()

    def init(self, *, key: Key) -> AbstractAgent:
        """Make the agent."""
        return self.algorithm.agent(self.dataset, key=key)

    def epoch(self, state: AbstractAgent, *, key: Key) -> tuple[AbstractAgent, Metrics]:
        """Run the compiled epoch."""
        return epoch(self.frozen, state, key)

    def judge(self, state: AbstractAgent, epoch: int) -> dict[str, Any]:
        """Evaluate in the environment, every `eval_every` epochs and at the end."""
        every = self.options.eval_every
        if not (self.simulated and every and (epoch % every == 0 or epoch == self.epochs)):
            return {}
        task = self.dataset.task
        assert task is not None
        seed = self.options.seed * 1_000_003 + epoch
        result = evaluate(
            self.policy(state), task, episodes=self.options.eval_episodes, seed=seed
        ).as_dict()
        return {k: v for k, v in result.items() if k != "episodes" and v is not None}

    def policy(self, state: AbstractAgent) -> Policy:
        """Return the policy as it is now, free of JAX."""
        network: dict[str, Any] = jax.tree.map(
            lambda leaf: np.asarray(leaf) if eqx.is_array(leaf) else leaf, state.network()
        )
        return Policy(
            **network,
            action_low=self.dataset.action_low,
            action_high=self.dataset.action_high,
            info=self.info,
        )

    def save(self, state: AbstractAgent, run: Run) -> None:
        """Write policy.safetensors."""
        self.policy(state).save(run.policy_path)
