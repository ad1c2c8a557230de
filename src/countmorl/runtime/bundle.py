"""`Bundle`: a policy in production, with its counts, its guard and its contract.

contract.json           what goes in and comes out, see `Contract`; beside it a JSON schema of it
policy.safetensors      the policy
counts.safetensors      how often pairs were logged (or neighbours.safetensors)
clone.safetensors       the clone of the log, where it is the guard's fall-back
runtime.py              all of this module and what it needs, in one file: NumPy alone
policy.onnx             policy and counts as one graph, where they can be one
README.md               how to use it
SHA256SUMS              a digest of every file; `sha256sum -c SHA256SUMS` checks them too
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from countmorl.disk import explained_read, read_bytes
from countmorl.errors import ConfigError, DataError, RunError
from countmorl.runtime.actions import NamedAction, is_nobodys, name_action
from countmorl.runtime.contract import CONTRACT_FILE, Contract, Ranges
from countmorl.runtime.counts import Counts
from countmorl.runtime.guard import CLONE, NEIGHBOURS, Guard, Why
from countmorl.runtime.levels import Counted, CountsPairs
from countmorl.runtime.load import load_policy
from countmorl.runtime.named import as_numbers, in_order, names_of
from countmorl.runtime.neighbours import Neighbours
from countmorl.runtime.policy import Policy
from countmorl.runtime.rows import Rows
from countmorl.runtime.session import NO_NAMES, Session
from countmorl.runtime.tabular import TabularCounts, TabularPolicy

POLICY_NAME, COUNTS_NAME, SUMS_FILE = "policy.safetensors", "counts.safetensors", "SHA256SUMS"
DIGESTED = (CONTRACT_FILE, POLICY_NAME, COUNTS_NAME, NEIGHBOURS, CLONE, "baseline.safetensors")
"""Files of a bundle that decide what it answers: each of them has its digest."""
MOST_BUNDLE_BYTES = 4_000_000_000
UNSEEN = "unseen"


@dataclass(frozen=True, eq=False, kw_only=True)
class Bundle:
    """What `load` gives: `act(obs)` and `act_row(row)` answer with the action and why."""

    contract: Contract
    policy: Policy | TabularPolicy
    counts: CountsPairs | None
    guard: Guard | None

    @cached_property
    def ranges(self) -> Ranges:
        """What the log's numbers lay between."""
        return Ranges(self.contract)

    @cached_property
    def rows(self) -> Rows | None:
        """What reads rows; None where the log's columns had no names."""
        return Rows(self.contract.schema) if self.contract.schema else None

    def act(self, obs: Any, *, rng: np.random.Generator | None = None) -> tuple[Any, Why]:
        """The action for one observation [obs], or for each of [n, obs], and why.

        Without a memory: `session` remembers what history and the guard need. Columns with names
        are put in order.
        """
        obs = self._in_order(obs)
        said = self.ranges.check(obs)
        if self.guard:
            action, why = self.guard.act(obs, rng=rng)
        else:
            action = self.policy.act(obs, rng=rng)
            why = self.why(obs, action)
        return action, explained(why, said)

    def act_row(self, row: Any, *, rng: np.random.Generator | None = None) -> tuple[Any, Why]:
        """The action for one row of a log, a mapping of names to raw values, by name, and why.

        The action is None where the guard abstains.
        """
        self._alone()
        return self.session().act_row(row, rng=rng)

    def act_rows(
        self, rows: Iterable[Any], *, rng: np.random.Generator | None = None
    ) -> list[tuple[NamedAction | None, Why]]:
        """The same for each of several rows that have nothing to do with each other."""
        self._alone()
        return [self.session().act_row(row, rng=rng) for row in rows]

    def session(self) -> BundleSession:
        """Begin an episode: what is returned remembers its rows, actions and fall-backs."""
        return BundleSession(self)

    def why(self, obs: np.ndarray, action: Any) -> Why:
        """How often pairs were logged; nobody falls back."""
        one = obs.ndim < 2
        if self.counts is None:
            none = None if one else np.full(len(obs), None)
            return Why(count=none, level=none, fell_back=False if one else np.zeros(len(obs), bool))
        pairs = np.atleast_2d(obs), np.asarray(action)[None] if one else action
        found = self.counts.counts(*pairs)
        if one:
            return Why(count=float(found.count[0]), level=str(found.level[0]), fell_back=False)
        return Why(count=found.count, level=found.level, fell_back=np.zeros(len(obs), bool))

    def _in_order(self, obs: Any) -> np.ndarray:
        if names_of(obs) is None:
            return as_numbers(obs)
        return in_order(obs, [each.name for each in self.contract.observation])

    def _alone(self) -> None:
        if self.rows is None:
            raise DataError(NO_NAMES)
        if why := self.rows.needs_session:
            raise DataError(
                f"This policy cannot act on a row alone: {why}. Use `session = bundle.session()`, "
                "one for each episode, and `session.act_row(row)`."
            )


class BundleSession:
    """One episode of a bundle: rows or numbers in, actions and reasons out."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self._watch = bundle.guard.begin() if bundle.guard else None
        self._session = Session(self._step, bundle.rows)
        self._why: Why | None = None
        self._last: Any = None

    def act(self, obs: Any, *, rng: np.random.Generator | None = None) -> tuple[Any, Why]:
        """The action for the present numbers, in order or by name; the past is added here."""
        action = self._session.act(obs, rng=rng)
        assert self._why is not None
        self._last = action
        return action, self._why

    def act_row(
        self, row: Any, *, rng: np.random.Generator | None = None
    ) -> tuple[NamedAction | None, Why]:
        """The action for the episode's next row, by name; None where the guard abstains."""
        schema = self.bundle.contract.schema
        if schema is None:
            raise DataError(NO_NAMES)
        try:
            action = self._session.act_numbers(row, rng=rng)
        except DataError as error:
            if self.bundle.contract.unreadable == "refuse":
                raise
            action = self._without()
            self._why = Why(count=0.0, level=UNSEEN, fell_back=True, reason=str(error))
        assert self._why is not None
        self._last = action
        return None if is_nobodys(action) else name_action(schema, action), self._why

    def see(self, row: Any) -> None:
        """Take note of a row at which no action is asked for."""
        self._session.see(row)

    def executed(self, action: Any) -> None:
        """Say what was really done at the last step, where that is not what was advised."""
        self._session.executed(action)

    def _step(self, obs: np.ndarray, *, rng: np.random.Generator | None = None) -> Any:
        bundle = self.bundle
        obs = bundle._in_order(obs)
        said = bundle.ranges.check(obs)
        if self._watch:
            action, why = self._watch.act(obs, rng=rng)
        else:
            action = bundle.policy.act(obs, rng=rng)
            why = bundle.why(obs, action)
        self._why = explained(why, said)
        return action

    def _without(self) -> Any:
        """What the fall-back does that has seen nothing."""
        guard = self.bundle.guard
        assert guard is not None, "the contract has no fall-back without a guard"
        held = guard.settings.fall_back == "hold" and self._last is not None
        return self._last if held else guard.instead()


@dataclass(frozen=True, eq=False)
class RangedCounts:
    """Counts by which what lies far outside the logged ranges was never seen."""

    inner: CountsPairs
    ranges: Ranges

    def counts(self, obs: Any, action: Any) -> Counted:
        """Count pairs; far ones count nothing, whatever code they share."""
        found = self.inner.counts(obs, action)
        far = self.ranges.far(np.atleast_2d(np.asarray(obs, np.float32)))
        if not far.any():
            return found
        return Counted(
            members=np.where(far, 0, found.members),
            count=np.where(far, 0.0, found.count),
            level=np.where(far, UNSEEN, found.level),
        )


def explained(why: Why, said: str) -> Why:
    """Why, with what is wrong with the one observation, where anything is."""
    return replace(why, reason=said) if said and np.ndim(why.fell_back) == 0 else why


def load_bundle(folder: str | Path) -> Bundle:
    """Read a bundle; every file is checked against its digest, and nothing of it is executed."""
    folder = Path(folder)
    with explained_read(folder):
        if not (folder / CONTRACT_FILE).is_file():
            raise RunError(
                f"{folder} is not a bundle: it holds no {CONTRACT_FILE}. `countmorl export RUN -o "
                "DIR` makes one."
            )
    check_sums(folder)
    contract = Contract.read(folder)
    policy = in_64_bits(load_policy(folder / POLICY_NAME))
    try:
        counts = _counts_of(folder, contract, policy)
        guard = None
        if contract.guard:
            assert counts is not None, "checked by the contract"
            clone = load_policy(folder / CLONE) if contract.guard.fall_back == "clone" else None
            guard = Guard(policy=policy, counts=counts, settings=contract.guard, clone=clone)
    except ConfigError as error:
        raise RunError(f"{folder} is no sound bundle: {error}") from error
    if said := _problem(contract, policy):
        raise RunError(f"{folder} is no sound bundle: {said}.")
    return Bundle(contract=contract, policy=policy, counts=counts, guard=guard)


def in_64_bits(policy: Any) -> Any:
    """The policy with its sums in 64 bits: its actions, of 32, are the same in every program."""
    if not isinstance(policy, Policy):
        return policy
    wide = {
        name: tuple(np.float64(each) for each in getattr(policy, name))
        for name in ("weights", "biases")
    }
    return replace(policy, **wide)


def check_sums(folder: Path) -> None:
    """Raise where a file of a bundle is not the one that was exported, or is missing."""
    path = folder / SUMS_FILE
    if not path.is_file():
        raise RunError(f"{folder} is not a whole bundle: it holds no {SUMS_FILE}.")
    try:
        lines = read_bytes(path, 1_000_000).decode().splitlines()
    except UnicodeDecodeError as error:
        raise RunError(f"{path} is damaged: it is no text.") from error
    found = [re.fullmatch(r"([0-9a-f]{64})  ([A-Za-z0-9_.-]{1,100})", line) for line in lines]
    sums = {match[2]: match[1] for match in found if match}
    if len(sums) != len(lines) or not {CONTRACT_FILE, POLICY_NAME} <= set(sums):
        raise RunError(f"{path} is damaged: wanted one digest and one file's name a line.")
    for name in DIGESTED:
        if name not in sums and (folder / name).exists():
            raise RunError(f"{path} is damaged: it has no digest of {name}. Export the run again.")
    for name, wanted in sums.items():
        content = read_bytes(folder / name, MOST_BUNDLE_BYTES)
        if hashlib.sha256(content).hexdigest() != wanted:
            raise RunError(
                f"{folder / name} is not the file that was exported: its digest is another. "
                "Restore it from a copy, or export the run again."
            )


def _counts_of(folder: Path, contract: Contract, policy: Any) -> CountsPairs | None:
    counts: CountsPairs | None = None
    if contract.counts == "codes":
        counts = Counts.load(folder / COUNTS_NAME)
    elif contract.counts == "neighbours":
        counts = Neighbours.load(folder / NEIGHBOURS)
    elif contract.counts == "tabular":
        if not isinstance(policy, TabularPolicy):
            raise ConfigError("its policy has no counts of its own")
        counts = TabularCounts.of(policy)
    if counts is None:
        return None
    return RangedCounts(counts, Ranges(contract))


def _problem(contract: Contract, policy: Policy | TabularPolicy) -> str | None:
    """Why contract and policy do not belong together; None where they do."""
    sizes = (len(contract.observation), len(contract.action), contract.discrete)
    if sizes != (policy.obs_dim, policy.action_dim, policy.discrete):
        return "its contract and its policy are of two sizes"
    schema = contract.schema
    if schema and (schema.sizes != sizes[:2] or schema.discrete != policy.discrete):
        return "the schema of its contract is of another size"
    return None
