"""One member of the ensemble: a network that predicts a Gaussian over (next_obs - obs, reward)."""

import itertools
from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Bool, Float, Int

from countmorl.nets import normalize
from countmorl.types import Key

TRUNK = 2
"""Hidden layers before the one that counting reads (the second, as in the authors' code)."""


class GaussianNet(eqx.Module):
    """Four hidden layers of swish units; mean and log-variance with soft, learnable bounds.

    v <- v_max - softplus(v_max - v);  v <- v_min + softplus(v - v_min). A hidden layer is
    swish(x W + b), or swish(g normalize(x W + b)) where layers are normalised (Ba et al., 2016);
    b stands inside, or the first layer would lose how large x is. Members of an ensemble are
    stacked in one, by `jax.vmap`.
    """

    weights: tuple[Float[Array, "*stack _inputs _outputs"], ...]
    biases: tuple[Float[Array, "*stack _outputs"], ...]
    log_var_max: Float[Array, "*stack targets"]
    log_var_min: Float[Array, "*stack targets"]
    gains: tuple[Float[Array, "*stack _units"], ...] | None = None
    """Of the normalised hidden layers; None: they are not normalised, as in the papers."""

    @classmethod
    def make(
        cls, sizes: tuple[int, ...], *, log_var_min: float = -10.0, norm: bool = False, key: Key
    ) -> "GaussianNet":
        """Truncated normal weights of deviation 1 / (2 sqrt(inputs)); the last size is targets."""
        targets = sizes[-1]
        outputs = (*sizes[1:-1], 2 * targets)
        layers = list(zip(sizes[:-1], outputs, strict=True))
        ends = list(itertools.accumulate(i * o for i, o in layers))
        drawn = jnp.split(jr.truncated_normal(key, -2.0, 2.0, (ends[-1],)), ends[:-1])
        weights = [
            part.reshape(i, o) / (2 * i**0.5) for part, (i, o) in zip(drawn, layers, strict=True)
        ]
        biases = [jnp.zeros(o) for o in outputs]
        bounds = jnp.full(targets, 0.5), jnp.full(targets, log_var_min)
        gains = tuple(jnp.ones(units) for units in sizes[1:-1]) if norm else None
        return cls(tuple(weights), tuple(biases), *bounds, gains)

    def layer(self, index: int, x: Float[Array, "*batch _inputs"]) -> Float[Array, "*batch _units"]:
        """Return one hidden layer, given the one before it."""
        x = x @ self.weights[index] + self.biases[index]
        return jax.nn.swish(x if self.gains is None else self.gains[index] * normalize(x))

    def trunk(self, x: Float[Array, "*batch inputs"]) -> Float[Array, "*batch hidden"]:
        """Return the second hidden layer, the features that codes are made of."""
        for index in range(TRUNK):
            x = self.layer(index, x)
        return x

    def representation(self, x: Float[Array, "*batch inputs"]) -> Float[Array, "*batch hidden"]:
        """Return the third hidden layer."""
        return self.layer(TRUNK, self.trunk(x))

    def head(
        self, hidden: Float[Array, "*batch hidden"]
    ) -> tuple[Float[Array, "*batch targets"], Float[Array, "*batch targets"]]:
        """Return mean and log-variance from the second hidden layer."""
        x = hidden
        for index in range(TRUNK, len(self.weights) - 1):
            x = self.layer(index, x)
        mean, log_var = jnp.split(x @ self.weights[-1] + self.biases[-1], 2, axis=-1)
        log_var = self.log_var_max - jax.nn.softplus(self.log_var_max - log_var)
        log_var = self.log_var_min + jax.nn.softplus(log_var - self.log_var_min)
        return mean, log_var

    def loss(
        self,
        x: Float[Array, "batch inputs"],
        y: Float[Array, "batch targets"],
        decays: tuple[float, ...],
        known: Bool[Array, " batch"] | None = None,
    ) -> Float[Array, ""]:
        """Negative log-likelihood, weight decay per layer, and a pull on the variance bounds.

        mean((mu - y)^2 exp(-v)) + mean(v) + sum_l decay_l |W_l|^2 / 2 + 0.01 mean(v_max - v_min).
        Rows that are not `known` have no next observation and teach their reward alone.

        The pull is a mean over the targets, as the fit is. The authors' sum is shared by the
        seven members of one loss; on bounds of a member's own, and with many targets, a sum is
        strong enough to drive v_max below v_min, and the variance is then a constant for ever. It
        still is where a target has next to no noise.
        """
        mean, log_var = self.head(self.trunk(x))
        each = jnp.square(mean - y) * jnp.exp(-log_var) + log_var
        fit = jnp.mean(each if known is None else jnp.where(taught(known, y), each, 0.0))
        decay = sum(
            0.5 * rate * jnp.sum(jnp.square(weight))
            for rate, weight in zip(decays, self.weights, strict=True)
        )
        return fit + decay + 0.01 * jnp.mean(self.log_var_max - self.log_var_min)


def taught(
    known: Bool[Array, " batch"], y: Float[Array, "batch targets"]
) -> Bool[Array, "batch targets"]:
    """Which targets a row teaches: all, or the reward alone, which stands last."""
    return known[:, None] | (jnp.arange(y.shape[1]) == y.shape[1] - 1)


class AbstractModelTerm(eqx.Module):
    """What a method adds to the members' loss."""

    every: int = eqx.field(static=True, default=1, kw_only=True)
    """Steps between two at which the term is taken, with this weight: the same on average."""

    @abstractmethod
    def __call__(self, members: GaussianNet, *, key: Key) -> Float[Array, ""]:
        """Return the term, summed over the members."""

    def at(self, step: Int[Array, ""], members: GaussianNet, *, key: Key) -> Float[Array, ""]:
        """What the loss of one step gets of it."""
        whole = lambda members: self.every * self(members, key=jr.fold_in(key, step))  # noqa: E731
        nothing = lambda members: jnp.zeros(())  # noqa: E731
        return jax.lax.cond(step % self.every == 0, whole, nothing, members)
