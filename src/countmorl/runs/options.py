"""Settings of a run that have nothing to do with the algorithm."""

from dataclasses import dataclass
from typing import Literal

from countmorl.configs import added, at_least, check_types
from countmorl.errors import ConfigError
from countmorl.loggers import LoggerName

Mode = Literal["true", "d4rl-exact"]
"""Which rows of a D4RL file are taken."""
Done = Literal["terminated", "ended"]
"""What a `done` flag means where nothing beside it tells."""
ActionKind = Literal["discrete", "continuous"]
"""How actions are understood where the log's own type and values would not tell."""
HOLDOUT = 0.1
"""Share of the episodes that a training does not see, where nothing else is said."""


@dataclass(frozen=True, kw_only=True)
class Holdout:
    """The episodes of a log that a run does not see. The log, share and seed decide which."""

    share: float
    seed: int
    episodes: int
    rows: int


@dataclass(frozen=True, kw_only=True)
class DataOptions:
    """How the dataset is read."""

    task: str | None = None
    """Task to be judged on: a name such as hopper, or any Gymnasium id (module:Env-v0 imports the
    module first). Default: what the dataset says; without one, the policy is trained and not
    simulated."""
    rows: int | None = None
    """Keep only the first rows of the dataset."""
    mode: Mode = "true"
    """true: every row, with its true next observation. d4rl-exact: the rows of D4RL's own old
    loader, to reproduce old numbers."""
    done: Done | None = None
    """What `done` means where the log does not tell: terminated, the task itself ended there; or
    ended, the episode ended there for whatever reason, such as a time limit."""
    actions: ActionKind | None = None
    """How actions are understood: discrete, numbers of choices from 0 on; or continuous, quantities
    within bounds. Default: by their type and values, as `countmorl data info` tells."""
    holdout_episodes: float = HOLDOUT
    """Share of the episodes that is set aside to judge the policy by, up to 0.5; 0 for none. The
    seed draws them, and a run that shares another's model takes those of that run."""

    def __post_init__(self) -> None:
        check_types(self)
        if not 0 <= self.holdout_episodes <= 0.5:
            raise ConfigError(
                f"`holdout_episodes` must be a share from 0 to 0.5, got {self.holdout_episodes:g}."
            )
        if self.rows is not None:
            at_least(self, rows=1)


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How the run is made, judged and saved."""

    seed: int = 0
    """Seed of everything random. The same seed gives the same run."""
    eval_every: int = 10
    """Epochs between evaluations, by play where the task can be simulated; 0 for none."""
    eval_episodes: int = 10
    """Episodes in one evaluation."""
    stop: Literal["epochs", "offline"] = added("epochs")
    """When the policy's training ends. epochs: after all of them, with the last policy. offline:
    when what the log alone says a policy is worth has not risen for five evaluations, with the one
    that was worth most; nothing is simulated (docs/judging.md)."""
    simulate: bool = added(True)
    """Evaluate by play where the task can be simulated. Without it, the policies of evaluations are
    only kept, for `countmorl choose`."""
    keep_policies: int = 10
    """Policies of the last evaluations to keep, simulated or not, so that there is something to
    choose from."""
    save_every: int = 5
    """Epochs between checkpoints: what a kill can lose at most."""
    log: tuple[LoggerName, ...] = ()
    """Send metrics to these as well: tensorboard, wandb, mlflow."""
    label: str | None = None
    """What reports call the method with these settings; runs of one label differ in their seeds
    only. Default: the method's name, with the settings that differ."""

    def __post_init__(self) -> None:
        check_types(self)
        at_least(self, seed=0, eval_every=0, eval_episodes=1, keep_policies=0, save_every=1)
        if self.stop == "offline" and not self.eval_every:
            raise ConfigError(
                "`stop` offline judges the policy every `eval_every` epochs, which is 0. Omit one."
            )
        if self.seed >= 2**31:
            raise ConfigError(f"`seed` must be below 2147483648, got {self.seed}.")
