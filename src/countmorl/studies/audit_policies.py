"""Whose rollouts are audited: a run's policies, a clone of the data, a noisy clone, chance."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float

from countmorl.data.dataset import Dataset
from countmorl.evaluation.clone import cloned
from countmorl.nets import MLP, Categorical, TanhNormal
from countmorl.runs.folder import Run
from countmorl.runtime.policy import Head, Policy
from countmorl.scaling import Standardizer
from countmorl.types import Key

NOISES = (0.1, 0.3)
"""Deviations of the clone's noise; of discrete actions, the shares that are chance."""
KEPT = 3
"""Kept policies that are audited, evenly over the epochs."""


class Actor(eqx.Module):
    """A policy's network as rollouts call it: actions are sampled, in [-1, 1]."""

    net: MLP
    standardizer: Standardizer
    noise: Float[Array, ""]
    head: Head = eqx.field(static=True)
    log_std_range: tuple[float, float] = eqx.field(static=True, default=(-20.0, 2.0))

    @classmethod
    def of(cls, policy: Policy, noise: float = 0.0) -> Actor:
        """The same network as `policy`."""
        weights = tuple(map(jnp.asarray, policy.weights))
        biases = tuple(map(jnp.asarray, policy.biases))
        scale = Standardizer(jnp.asarray(policy.obs_mean), jnp.asarray(policy.obs_std))
        spread = (float(policy.log_std_range[0]), float(policy.log_std_range[1]))
        return cls(MLP(weights, biases, "relu"), scale, jnp.float32(noise), policy.head, spread)

    def __call__(self, obs: Float[Array, "batch obs"], *, key: Key) -> Float[Array, "batch action"]:
        """Act, then add the noise."""
        act_key, noise_key = jr.split(key)
        outputs = self.net(self.standardizer(obs))
        if self.head == "categorical":
            return _sometimes(Categorical(outputs).sample(key=act_key)[0], self.noise, noise_key)
        if self.head == "tanh_normal":
            action = TanhNormal.of(outputs, self.log_std_range).sample(key=act_key)[0]
        else:
            action = jnp.tanh(outputs)
        return jnp.clip(action + self.noise * jr.normal(noise_key, action.shape), -1, 1)


class Chance(eqx.Module):
    """Actions that have nothing to do with observations."""

    actions: int = eqx.field(static=True)
    discrete: bool = eqx.field(static=True)

    def __call__(self, obs: Float[Array, "batch obs"], *, key: Key) -> Float[Array, "batch action"]:
        """Draw evenly."""
        shape = (len(obs), self.actions)
        if self.discrete:
            return Categorical(jnp.zeros(shape)).sample(key=key)[0]
        return jr.uniform(key, shape, minval=-1.0, maxval=1.0)


Act = Actor | Chance


def _sometimes(
    action: Float[Array, "batch actions"], share: Float[Array, ""], key: Key
) -> Float[Array, "batch actions"]:
    """Replace a share of one-hot actions by chance."""
    which_key, draw_key = jr.split(key)
    drawn, _ = Categorical(jnp.zeros_like(action)).sample(key=draw_key)
    return jnp.where(jr.bernoulli(which_key, share, (len(action), 1)), drawn, action)


def policies_of(run: Run, dataset: Dataset, *, updates: int, seed: int) -> dict[str, Act]:
    """Every policy to audit, by name."""
    found: dict[str, Act] = {}
    if run.policy_path.exists():
        found["run"] = Actor.of(Policy.load(run.policy_path))
    kept = list(run.kept_policies().items())
    for place in range(min(KEPT, len(kept))):
        epoch, path = kept[place * (len(kept) - 1) // max(1, KEPT - 1)]
        found[f"epoch {epoch}"] = Actor.of(Policy.load(path))
    clone = cloned(dataset, updates=updates, seed=seed)
    found["clone"] = Actor.of(clone)
    found |= {f"clone + {noise:g}": Actor.of(clone, noise) for noise in NOISES}
    found["random"] = Chance(dataset.action_dim, dataset.discrete)
    return found
