"""Small networks, as plain pytrees of weights."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import optax
from jaxtyping import Array, ArrayLike, Float, Int

from countmorl.types import Key

Activation = Literal["relu", "swish", "tanh"]
ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "relu": jax.nn.relu,
    "swish": jax.nn.swish,
    "tanh": jnp.tanh,
}


@dataclass(frozen=True)
class CosineDecay:
    """A learning rate that falls from `start` to zero along half a cosine over `steps` updates."""

    start: float
    steps: int

    def __call__(self, count: ArrayLike) -> Float[Array, "*batch"]:
        """Return the rate at one step; an optax schedule that compares and hashes by its values."""
        done = jnp.minimum(count, self.steps) / self.steps
        return self.start * 0.5 * (1 + jnp.cos(jnp.pi * done))


def adam(
    rate: float | CosineDecay, gradient: Any, state: optax.OptState, params: Any
) -> tuple[Any, Any]:
    """One step of Adam: the new parameters and the optimiser's new state."""
    change, state = optax.adam(rate).update(gradient, state)
    return optax.apply_updates(params, change), state


class MLP(eqx.Module):
    """A multilayer perceptron: x W + b, an activation between layers, a linear end.

    With `norm`, each hidden layer is brought to mean 0 and variance 1 over its units before its
    activation (layer normalisation, Ba et al., 2016, without gains). Many networks may be stacked
    in one, by `jax.vmap`; each is then called by `jax.vmap` too.
    """

    weights: tuple[Float[Array, "*stack _inputs _outputs"], ...]
    biases: tuple[Float[Array, "*stack _outputs"], ...]
    activation: Activation = eqx.field(static=True)
    norm: bool = eqx.field(static=True, default=False)

    @classmethod
    def make(
        cls,
        sizes: tuple[int, ...],
        *,
        activation: Activation = "relu",
        norm: bool = False,
        key: Key,
    ) -> "MLP":
        """Draw weights and biases uniformly within 1/sqrt(inputs), as PyTorch's layers do."""
        # One draw for the whole network: many small ones take XLA long to compile.
        layers = list(itertools.pairwise(sizes))
        drawn = jr.uniform(key, (sum((i + 1) * o for i, o in layers),), minval=-1.0, maxval=1.0)
        weights, biases, used = [], [], 0
        for inputs, outputs in layers:
            bound, count = inputs**-0.5, inputs * outputs
            weights.append(bound * drawn[used : used + count].reshape(inputs, outputs))
            biases.append(bound * drawn[used + count : used + count + outputs])
            used += count + outputs
        return cls(tuple(weights), tuple(biases), activation, norm)

    def __call__(self, x: Float[Array, "*batch inputs"]) -> Float[Array, "*batch outputs"]:
        """Map one input, or any batch of them."""
        activate = ACTIVATIONS[self.activation]
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            x = x @ weight + bias
            x = activate(normalize(x) if self.norm else x)
        return x @ self.weights[-1] + self.biases[-1]

    def shifted(self, by: float) -> "MLP":
        """The same network, every output higher."""
        return eqx.tree_at(lambda net: net.biases[-1], self, self.biases[-1] + by)


def normalize(x: Float[Array, "*batch units"]) -> Float[Array, "*batch units"]:
    """Mean 0 and variance 1 over the last axis."""
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred * jax.lax.rsqrt(jnp.mean(jnp.square(centred), axis=-1, keepdims=True) + 1e-5)


class TanhNormal(eqx.Module):
    """The distribution of tanh(z), z normal with the given mean and log deviation."""

    mean: Float[Array, "*batch action"]
    log_std: Float[Array, "*batch action"]

    @classmethod
    def of(
        cls, outputs: Float[Array, "*batch outputs"], log_std_range: tuple[float, float]
    ) -> "TanhNormal":
        """Split a network's outputs into mean and clipped log deviation."""
        mean, log_std = jnp.split(outputs, 2, axis=-1)
        return cls(mean, jnp.clip(log_std, *log_std_range))

    def sample(self, *, key: Key) -> tuple[Float[Array, "*batch action"], Float[Array, "*batch"]]:
        """Draw an action and its log-density.

        log pi(a) = log N(z) - sum log(1 - tanh(z)^2), with
        log(1 - tanh(z)^2) = 2 (log 2 - z - softplus(-2 z)), which is exact for any z.
        """
        noise = jr.normal(key, self.mean.shape)
        z = self.mean + jnp.exp(self.log_std) * noise
        return jnp.tanh(z), self._density(z, noise)

    def log_prob(self, action: Float[Array, "*batch action"]) -> Float[Array, "*batch"]:
        """Log-density of given actions; those at the bounds are taken just inside."""
        z = jnp.arctanh(jnp.clip(action, -1 + 1e-6, 1 - 1e-6))
        return self._density(z, (z - self.mean) * jnp.exp(-self.log_std))

    def _density(
        self, z: Float[Array, "*batch action"], noise: Float[Array, "*batch action"]
    ) -> Float[Array, "*batch"]:
        gauss = -0.5 * (jnp.square(noise) + jnp.log(2 * jnp.pi)) - self.log_std
        squash = 2 * (jnp.log(2.0) - z - jax.nn.softplus(-2 * z))
        return jnp.sum(gauss - squash, axis=-1)

    def mode(self) -> Float[Array, "*batch action"]:
        """The squashed mean."""
        return jnp.tanh(self.mean)


class Categorical(eqx.Module):
    """One of K actions, given and drawn as one-hot vectors."""

    log_probs: Float[Array, "*batch actions"]

    def sample(self, *, key: Key) -> tuple[Float[Array, "*batch actions"], Float[Array, "*batch"]]:
        """Draw an action and its log-probability."""
        action = self._hot(jr.categorical(key, self.log_probs))
        return action, self.log_prob(action)

    def log_prob(self, action: Float[Array, "*batch actions"]) -> Float[Array, "*batch"]:
        """Log-probability of given actions."""
        return jnp.sum(action * self.log_probs, axis=-1)

    def mode(self) -> Float[Array, "*batch actions"]:
        """The likeliest action."""
        return self._hot(self.log_probs.argmax(axis=-1))

    def _hot(self, index: Int[Array, "*batch"]) -> Float[Array, "*batch actions"]:
        return jax.nn.one_hot(index, self.log_probs.shape[-1])
