"""Small networks, as plain pytrees of weights."""

from collections.abc import Callable
from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float

from countmorl.types import Key

Activation = Literal["relu", "swish", "tanh"]
ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "relu": jax.nn.relu,
    "swish": jax.nn.swish,
    "tanh": jnp.tanh,
}


class MLP(eqx.Module):
    """A multilayer perceptron: x W + b, an activation between layers, a linear end."""

    weights: tuple[Float[Array, "inputs outputs"], ...]
    biases: tuple[Float[Array, " outputs"], ...]
    activation: Activation = eqx.field(static=True)

    @classmethod
    def make(cls, sizes: tuple[int, ...], *, activation: Activation = "relu", key: Key) -> "MLP":
        """Draw weights and biases uniformly within 1/sqrt(inputs), as PyTorch's layers do."""
        weights, biases = [], []
        for inputs, outputs, layer_key in zip(
            sizes[:-1], sizes[1:], jr.split(key, len(sizes) - 1), strict=True
        ):
            weight_key, bias_key = jr.split(layer_key)
            bound = inputs**-0.5
            weights.append(jr.uniform(weight_key, (inputs, outputs), minval=-bound, maxval=bound))
            biases.append(jr.uniform(bias_key, (outputs,), minval=-bound, maxval=bound))
        return cls(tuple(weights), tuple(biases), activation)

    def __call__(self, x: Float[Array, "*batch inputs"]) -> Float[Array, "*batch outputs"]:
        """Map one input, or any batch of them."""
        activate = ACTIVATIONS[self.activation]
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            x = activate(x @ weight + bias)
        return x @ self.weights[-1] + self.biases[-1]
