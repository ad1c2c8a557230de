"""What soft actor-critic is told: its settings, and how it is drawn to the data."""

from dataclasses import dataclass

from countmorl.agents.base import AbstractActorCriticConfig
from countmorl.configs import at_least, finite, positive
from countmorl.errors import ConfigError

LOG_STD_MAX = 2.0
"""Ceiling of the policy's log deviation, the same in all public code."""


@dataclass(frozen=True, kw_only=True)
class SACConfig(AbstractActorCriticConfig):
    """The policy's learner."""

    normalize: bool = True
    """Standardise observations by the data's mean and deviation."""
    actor_decay: bool = True
    """Let the actor's step size fall to zero along half a cosine over the run."""
    critic_norm: bool = True
    """Normalise the critics' hidden layers (layer normalisation)."""
    entropy_rate: float = 1e-3
    """Step size of Adam for the entropy weight."""
    target_entropy: float | None = None
    """Entropy the policy is held to; default minus the number of action columns, or half of the
    uniform policy's where actions are discrete."""
    critics: int = 2
    """Critics; the least of their values counts, so more of them are more pessimistic (EDAC has 10
    to 50)."""
    diversity: float = 0.0
    """Weight of a term that keeps the critics' gradients by the action apart (EDAC's eta), so that
    many critics do not all think the same off the data. Not for discrete actions."""
    log_std_min: float = -5.0
    """Floor of the policy's log deviation (the authors use -20)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(self, critics=1, diversity=0)
        positive(self, "entropy_rate")
        if self.diversity and self.critics < 2:
            raise ConfigError("`diversity` keeps critics apart, and `critics` gives only one.")
        finite(self, "target_entropy", "log_std_min")
        if self.log_std_min >= LOG_STD_MAX:
            raise ConfigError(
                f"`log_std_min` must be below {LOG_STD_MAX:g}, the largest log deviation, "
                f"got {self.log_std_min:g}."
            )


@dataclass(frozen=True)
class Pull:
    """How strongly the actor is drawn to the data's actions."""

    weight: float = 0.0
    rows: int = 0
    """Rows at the front of a batch that are real; the others show no action of the data."""


NO_PULL = Pull()
