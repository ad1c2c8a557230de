"""`Guard`: a policy that acts only where the log has seen enough, and a fall-back elsewhere.

At every step the policy is asked for its action, and the counts how often that pair was logged.
Below `threshold`, or where most members never saw it, the fall-back acts in its place:

    clone     the clone of whoever logged the data
    fixed     an action that is known to be safe
    hold      the last action that was taken; `fixed` where there is none yet
    abstain   nobody: the action is not a number (-1 where actions are discrete)

So that it does not flutter, the policy acts again only after `dwell` steps and where its action has
been seen at least `release` times.

A guard lies in its run's folder:

    guard/guard.json               `GuardSettings`: threshold, release, dwell, fall_back, fixed,
                                   counts, and the digest of the policy it was chosen for
    guard/clone.safetensors        a policy file: the clone (only with the fall-back clone)
    guard/neighbours.safetensors   `Neighbours` (only with the counts "neighbours"; for "codes" the
                                   run's own are read, `runtime.counts.Counts.of_run`)

NumPy alone, as everything in `runtime`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from countmorl.configs import added, at_least, check_types, finite, from_json, to_json
from countmorl.disk import read_bytes
from countmorl.errors import ConfigError, DataError, RunError
from countmorl.files import write_text
from countmorl.json_files import parse_json
from countmorl.runtime.base import PolicyLike
from countmorl.runtime.counts import Counts
from countmorl.runtime.files import POLICY_FILE
from countmorl.runtime.levels import CountsPairs
from countmorl.runtime.load import load_policy
from countmorl.runtime.named import as_numbers
from countmorl.runtime.neighbours import Neighbours

FallBack = Literal["clone", "fixed", "hold", "abstain"]
Counter = Literal["codes", "neighbours"]
GUARD_FORMAT = 1
MOST_PART_BYTES = 4_000_000_000
FOLDER, SETTINGS, CLONE, NEIGHBOURS = (
    "guard",
    "guard.json",
    "clone.safetensors",
    "neighbours.safetensors",
)


@dataclass(frozen=True, kw_only=True)
class GuardSettings:
    """When a guard falls back, to what, and when it lets the policy act again."""

    threshold: float
    """Below so many logged pairs like it an action of the policy is not taken."""
    release: float | None = None
    """The policy acts again where its action was seen so often; None: as the threshold."""
    dwell: int = 1
    """Steps that a fall-back lasts at least."""
    fall_back: FallBack = "clone"
    """Who acts instead: clone, fixed, hold or abstain."""
    fixed: tuple[float, ...] | None = None
    """The fixed action, in the log's numbers; of discrete actions, one number."""
    counts: Counter = "codes"
    """What counts pairs: the run's own codes, or distances to the nearest logged rows."""
    policy: str = ""
    """SHA-256 of the policy's file that the threshold was chosen for."""
    parts: str = added("")
    """SHA-256 of the files beside the settings; nothing in guards of earlier versions."""
    format: int = GUARD_FORMAT

    def __post_init__(self) -> None:
        check_types(self)
        finite(self, "release")
        at_least(self, threshold=0, dwell=1)
        if self.release is not None and self.release < self.threshold:
            raise ConfigError(
                f"`release` ({self.release:g}) must not be below `threshold` ({self.threshold:g}): "
                "the guard would flutter between the policy and its fall-back."
            )
        if self.fall_back == "fixed" and self.fixed is None:
            raise ConfigError("The fall-back 'fixed' needs `fixed`, the action to take.")

    @property
    def enough(self) -> float:
        """The count at which the policy acts again."""
        return self.threshold if self.release is None else self.release


@dataclass(frozen=True, eq=False, kw_only=True)
class Why:
    """Why this action: of one observation single values, of [n, obs] arrays of n."""

    count: Any
    """How often pairs like the policy's own action here were logged."""
    level: Any
    """covered, thin or unseen: the level of the policy's own action here."""
    fell_back: Any
    """Whether the fall-back acts in its place."""
    reason: str = ""
    """What is wrong with the observation, where anything is."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Guard:
    """A policy, its counts and its fall-back: `act(obs) -> (action, Why)`."""

    policy: PolicyLike
    counts: CountsPairs
    settings: GuardSettings
    clone: PolicyLike | None = None

    def __post_init__(self) -> None:
        discrete, size = self.policy.discrete, self.policy.action_dim
        fixed, clone = self.settings.fixed, self.clone
        if self.settings.fall_back == "clone" and clone is None:
            raise ConfigError("The fall-back 'clone' needs `clone`, a policy.")
        ours = (self.policy.obs_dim, size, discrete)
        if clone is not None and (clone.obs_dim, clone.action_dim, clone.discrete) != ours:
            raise ConfigError("The clone takes or gives other sizes than the policy.")
        if fixed is None:
            return
        wanted = 1 if discrete else size
        choice = not discrete or fixed[0] in range(size)
        if len(fixed) != wanted or not np.isfinite(fixed).all() or not choice:
            kind = f"one number from 0 to {size - 1}" if discrete else f"{size} finite numbers"
            raise ConfigError(f"The fixed action must be {kind}, got {list(fixed)}.")

    @property
    def obs_dim(self) -> int:
        """Numbers in one observation."""
        return self.policy.obs_dim

    @property
    def action_dim(self) -> int:
        """Numbers in one action; how many actions there are where they are discrete."""
        return self.policy.action_dim

    @property
    def discrete(self) -> bool:
        """Whether actions are numbers from 0 to `action_dim` - 1, not vectors."""
        return self.policy.discrete

    def act(self, obs: Any, *, rng: np.random.Generator | None = None) -> tuple[Any, Why]:
        """Act once, without a memory, for one observation [obs] or for each of [n, obs].

        Neither `release` nor `dwell` plays a part, and nothing can be held: `begin` remembers.
        """
        return self.begin(None if np.ndim(obs) == 1 else len(obs)).act(obs, rng=rng)

    def begin(self, streams: int | None = None) -> Watch:
        """Begin an episode, or so many side by side: what is returned remembers its steps."""
        return Watch(self, streams)

    def instead(self) -> Any:
        """The fixed action; none where there is none, or where the guard abstains."""
        fixed, discrete = self.settings.fixed, self.discrete
        if fixed is None or self.settings.fall_back == "abstain":
            return -1 if discrete else np.nan
        return int(fixed[0]) if discrete else np.array(fixed, np.float32)

    def save(self, run: str | Path) -> None:
        """Write the guard into its run's folder; the settings last, which make it one."""
        folder = Path(run) / FOLDER
        if isinstance(self.counts, Neighbours):
            self.counts.save(folder / NEIGHBOURS)
        if self.clone is not None:
            self.clone.save(folder / CLONE)  # type: ignore[attr-defined]
        kind = "neighbours" if isinstance(self.counts, Neighbours) else "codes"
        settings = replace(
            self.settings, counts=kind, policy=policy_digest(run), parts=parts_digest(folder)
        )
        write_text(folder / SETTINGS, json.dumps(to_json(settings), indent=2) + "\n")

    @classmethod
    def load(cls, run: str | Path) -> Guard:
        """Read the guard of a run, made by `countmorl guard RUN`."""
        run = Path(run)
        settings = read_settings(run)
        folder = run / FOLDER
        if settings.counts == "codes":
            counts: CountsPairs = Counts.of_run(run)
        else:
            counts = Neighbours.load(folder / NEIGHBOURS)
        if settings.policy != policy_digest(run):
            raise RunError(
                f"The policy of {run} has changed since its guard was chosen. Choose it again: "
                f"countmorl guard {run}"
            )
        if settings.parts and settings.parts != parts_digest(folder):
            raise RunError(
                f"The files in {folder} are of two guards: choosing the second one broke off. "
                f"Choose it again: countmorl guard {run}"
            )
        clone = load_policy(folder / CLONE) if settings.fall_back == "clone" else None
        try:
            return cls(policy=load_policy(run), counts=counts, settings=settings, clone=clone)
        except ConfigError as error:
            raise RunError(f"{folder} is no guard of this policy: {error}") from error


class Watch:
    """A guard at work in one stream of observations, or in several side by side."""

    def __init__(self, guard: Guard, streams: int | None) -> None:
        self.guard, self.streams = guard, streams
        size = 1 if streams is None else streams
        self._left = np.zeros(size, int)
        """Steps that each stream's fall-back has to last yet, 1 where it may end; 0 outside."""
        self._last: np.ndarray | None = None

    def act(self, obs: Any, *, rng: np.random.Generator | None = None) -> tuple[Any, Why]:
        """Take every stream's next step; observations [obs], or [streams, obs]."""
        obs, guard = as_numbers(obs), self.guard
        shape = (guard.obs_dim,) if self.streams is None else (self.streams, guard.obs_dim)
        if obs.shape != shape:
            raise DataError(
                f"The guard wants observations of shape {list(shape)}, got {list(obs.shape)}. Of "
                "several streams each has its row at every step; `begin` says how many there are."
            )
        rows = np.atleast_2d(obs)
        wished = np.asarray(guard.policy.act(rows, rng=rng))
        found = guard.counts.counts(rows, wished)
        # A mean of counts hides members that never saw a pair behind one that shares a code.
        back = self._decide(np.where(found.level == "unseen", 0.0, found.count))
        action = wished if not back.any() else self._fallen_back(rows, wished, back)
        self._last = action
        why = (found.count, found.level, back)
        if self.streams is None:
            action, why = action[0], (float(why[0][0]), str(why[1][0]), bool(why[2][0]))
        return action, Why(count=why[0], level=why[1], fell_back=why[2])

    def _decide(self, count: np.ndarray) -> np.ndarray:
        """Which streams fall back now; remembers how long each has to."""
        settings, within = self.guard.settings, self._left == 0
        falls = within & (count < settings.threshold)
        if within.all():
            self._left = falls * settings.dwell
            return falls
        # Within a fall-back the step is done only where the policy has been seen often enough.
        stays = ~within & ((self._left > 1) | (count < settings.enough))
        self._left = np.where(
            falls, settings.dwell, np.where(stays, np.maximum(1, self._left - 1), 0)
        )
        return stays | falls

    def _fallen_back(self, rows: np.ndarray, wished: np.ndarray, back: np.ndarray) -> np.ndarray:
        settings, chosen = self.guard.settings, wished.copy()
        if settings.fall_back == "clone":
            assert self.guard.clone is not None
            chosen[back] = np.asarray(self.guard.clone.act(rows[back]))
        elif settings.fall_back == "hold" and self._last is not None:
            chosen[back] = self._last[back]
        else:
            chosen[back] = self.guard.instead()
        return chosen


def read_settings(run: Path) -> GuardSettings:
    """What a run's guard was set to."""
    path = run / FOLDER / SETTINGS
    if not path.exists():
        raise RunError(f"{run} has no guard yet. Choose one: countmorl guard {run}")
    values = parse_json(path, lambda value: isinstance(value, dict), "the settings of a guard")
    if values.get("format") != GUARD_FORMAT:
        raise RunError(
            f"{path} has format {values.get('format')}, this version reads {GUARD_FORMAT}."
        )
    try:
        return from_json(GuardSettings, values)
    except ConfigError as error:
        raise RunError(f"{path} is damaged: {error}") from error


def policy_digest(run: str | Path) -> str:
    """SHA-256 of a run's policy file."""
    return _file_digest(Path(run) / POLICY_FILE)


def parts_digest(folder: Path) -> str:
    """SHA-256 of what lies beside a guard's settings, whatever of it there is."""
    both = " ".join(_file_digest(folder / name) for name in (CLONE, NEIGHBOURS))
    return hashlib.sha256(both.encode()).hexdigest()


def _file_digest(path: Path) -> str:
    return hashlib.sha256(read_bytes(path, MOST_PART_BYTES)).hexdigest() if path.exists() else ""
