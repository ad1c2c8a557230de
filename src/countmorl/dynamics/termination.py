"""When a model's step ends the task: a known rule, a user's rule, or a learned one."""

from abc import abstractmethod
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Bool, Float

from countmorl.dynamics.rules import find_function, try_function
from countmorl.envs import terminations
from countmorl.envs.tasks import TASKS
from countmorl.errors import ConfigError
from countmorl.nets import MLP
from countmorl.scaling import Standardizer
from countmorl.types import Key

Rule = Callable[[Float[Array, " obs"]], Bool[Array, ""]]


class AbstractTermination(eqx.Module):
    """Tells which steps end the task."""

    @abstractmethod
    def __call__(
        self,
        obs: Float[Array, "batch obs"],
        action: Float[Array, "batch action"],
        next_obs: Float[Array, "batch obs"],
        *,
        key: Key,
    ) -> Bool[Array, " batch"]:
        """Judge a batch of steps."""


class KnownTermination(AbstractTermination):
    """A function of the next observation."""

    rule: Rule = eqx.field(static=True)

    def __call__(
        self,
        obs: Float[Array, "batch obs"],
        action: Float[Array, "batch action"],
        next_obs: Float[Array, "batch obs"],
        *,
        key: Key,
    ) -> Bool[Array, " batch"]:
        """Apply the rule to every row."""
        return jax.vmap(self.rule)(next_obs)


class LearnedTermination(AbstractTermination):
    """A calibrated probability that the step ends the task, drawn for each step."""

    standardizer: Standardizer
    net: MLP
    temperature: Float[Array, ""]
    sees_next: bool = eqx.field(static=True, default=True)
    """Whether it looks at the next observation, which a log may not have where the task ended."""

    def logit(
        self,
        obs: Float[Array, "*batch obs"],
        action: Float[Array, "*batch action"],
        next_obs: Float[Array, "*batch obs"],
    ) -> Float[Array, "*batch"]:
        """Log-odds of the end, calibrated by one temperature on held-out rows."""
        parts = [obs, action, next_obs] if self.sees_next else [obs, action]
        x = self.standardizer(jnp.concatenate(parts, axis=-1))
        return self.net(x)[..., 0] / self.temperature

    def __call__(
        self,
        obs: Float[Array, "batch obs"],
        action: Float[Array, "batch action"],
        next_obs: Float[Array, "batch obs"],
        *,
        key: Key,
    ) -> Bool[Array, " batch"]:
        """Draw whether each step ends the task."""
        return jr.bernoulli(key, jax.nn.sigmoid(self.logit(obs, action, next_obs)))


def known_rule(name: str) -> Rule:
    """Find a rule: one of countmorl's (hopper, walker2d, never) or a user's `module:function`."""
    if ":" not in name:
        rule = getattr(terminations, name, None)
        if rule is None:
            raise ConfigError(
                f"No termination rule named '{name}'. Known: hopper, walker2d, never; or give "
                "your own as module:function of one next observation."
            )
        return rule
    return find_function(name, "termination rule")


def check_rule(name: str, obs_dim: int) -> None:
    """Refuse a rule that cannot be found, or does not turn one observation into one boolean."""
    sizes = {task.dims[0] for task in TASKS.values() if task.termination == name and task.dims}
    if name != "never" and sizes and obs_dim not in sizes:
        raise ConfigError(
            f"The termination rule '{name}' is for observations of {min(sizes)} numbers; the data "
            f"have {obs_dim}. Give your own as module:function, or omit --termination."
        )
    rule, one = known_rule(name), jax.ShapeDtypeStruct((obs_dim,), jnp.float32)
    wanted = (
        f"The termination rule '{name}' must turn one observation of {obs_dim} numbers into one "
        "boolean"
    )
    try_function(rule, one, kind=bool, wanted=wanted)
