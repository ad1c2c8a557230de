"""`Ensemble`: members side by side, the elites among them, and how a step is drawn."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Int

from countmorl import trees
from countmorl.dynamics.gaussian import GaussianNet
from countmorl.files import Arrays
from countmorl.scaling import Standardizer
from countmorl.types import Key


class Ensemble(eqx.Module):
    """Gaussian models of (next_obs - obs, reward), inputs and targets standardised.

    `elites` lists the members with the lowest hold-out error, best first; only they are rolled
    out and counted.
    """

    members: GaussianNet
    standardizer: Standardizer
    """Of the inputs, (obs, action)."""
    targets: Standardizer
    """Of what is predicted: changes of the observation, and the reward."""
    elites: Int[Array, " elites"]
    holdout_error: Float[Array, " members"]

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> "Ensemble":
        """Bring back what `trees.to_arrays` has named."""
        saved = trees.nest(arrays)
        members = saved["members"]
        gains = members.get("gains")  # Most models have none, and so has every older one.
        nets = GaussianNet(
            tuple(members["weights"]),
            tuple(members["biases"]),
            members["log_var_max"],
            members["log_var_min"],
            tuple(gains) if gains else None,
        )
        inputs, targets = (Standardizer(**saved[name]) for name in ("standardizer", "targets"))
        return cls(nets, inputs, targets, saved["elites"], saved["holdout_error"]).checked()

    def checked(self) -> "Ensemble":
        """Itself; a `ValueError` where it is none, since files are made by anybody."""
        elites, members = np.asarray(self.elites), self.holdout_error.shape
        scales = self.standardizer, self.targets
        for leaf in map(np.asarray, jax.tree.leaves((self.members, scales, self.holdout_error))):
            if leaf.dtype != np.float32 or not np.isfinite(leaf).all():
                raise ValueError("its model holds numbers that are not finite")
        if elites.ndim != 1 or elites.dtype.kind != "i" or len(members) != 1:
            raise ValueError("its elites are not members")
        if not len(elites) or elites.min() < 0 or elites.max() >= members[0]:
            raise ValueError("its elites are not members")
        inputs, targets = self.standardizer.mean.shape, self.targets.mean.shape
        if (inputs, targets) != (self.standardizer.std.shape, self.targets.std.shape):
            raise ValueError("its scales have two sizes")
        row = jax.ShapeDtypeStruct((2, *inputs), jnp.float32)
        mean, log_var = eqx.filter_eval_shape(Ensemble.predict, self, row)
        wanted = (*members, 2, *targets)
        if (mean.shape, log_var.shape) != (wanted, wanted):
            raise ValueError("its networks do not predict what its scales are of")
        return self

    @property
    def elite_members(self) -> GaussianNet:
        """The elites' networks, stacked."""
        return trees.take(self.members, self.elites)

    def of_elites(self, elites: GaussianNet) -> "Ensemble":
        """An ensemble of these networks alone, in the elites' place and order."""
        error = self.holdout_error[self.elites]
        scales = (self.standardizer, self.targets)
        return Ensemble(elites, *scales, jnp.arange(len(error)), error)

    def standardize(
        self, obs: Float[Array, "*batch obs"], action: Float[Array, "*batch action"]
    ) -> Float[Array, "*batch inputs"]:
        """Join and scale an observation and an action."""
        return self.standardizer(jnp.concatenate([obs, action], axis=-1))

    def trunks(self, x: Float[Array, "batch inputs"]) -> Float[Array, "elites batch hidden"]:
        """Second hidden layer of every elite."""
        return jax.vmap(GaussianNet.trunk, (0, None))(self.elite_members, x)

    def routed_head(
        self, hidden: Float[Array, "elites batch hidden"], *, key: Key
    ) -> tuple[Float[Array, "batch targets"], Float[Array, "batch targets"]]:
        """Draw one elite per row and compute only that elite's later layers.

        Rows are shuffled and cut into equal groups, one per elite: each row's elite is uniform,
        and every elite is used equally often. A batch that does not divide is filled up with its
        own first rows, whose second results are dropped; the last elite then has a few rows less.
        """
        elites, rows, _ = hidden.shape
        order = jr.permutation(key, rows)
        each = -(-rows // elites)
        groups = order[jnp.arange(elites * each) % rows].reshape(elites, each)
        chosen = jax.vmap(lambda features, group: features[group])(hidden, groups)
        mean, log_var = jax.vmap(GaussianNet.head)(self.elite_members, chosen)
        back = jnp.argsort(order)
        width = mean.shape[-1]
        return mean.reshape(-1, width)[back], log_var.reshape(-1, width)[back]

    def predict(
        self, x: Float[Array, "batch inputs"]
    ) -> tuple[Float[Array, "members batch targets"], Float[Array, "members batch targets"]]:
        """Mean and log-variance of every member, elite or not."""
        hidden = jax.vmap(GaussianNet.trunk, (0, None))(self.members, x)
        return jax.vmap(GaussianNet.head)(self.members, hidden)
