"""A trained policy without JAX: load it, give it observations or rows of a log, get actions.

It needs NumPy, and no package of tables either.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from countmorl.configs import to_json
from countmorl.errors import DataError, RunError
from countmorl.files import Arrays, write_arrays
from countmorl.runtime.actions import NamedAction, name_action
from countmorl.runtime.checks import Head, policy_problem, stored_schema
from countmorl.runtime.files import read_policy_file
from countmorl.runtime.named import Frame, as_numbers, in_order, names_of
from countmorl.runtime.rows import Rows
from countmorl.runtime.session import NO_NAMES, Session
from countmorl.schema import Schema, action_names, obs_names
from countmorl.spaces import ActionSpace

POLICY_KIND = "policy"
FORMAT = 1
BLOCK = 8_192
"""Rows that go through the network at once: a million would take gigabytes."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Policy:
    """A ReLU network from observations to actions.

    x = (obs - obs_mean) / obs_std; hidden layers relu(x W + b); a linear last layer. Its output y
    is squashed into the action bounds: `tanh` gives tanh(y); `tanh_normal` splits y into a mean and
    a log standard deviation and gives tanh(mean), or a sample where `rng` is passed to `act`.
    With `categorical`, actions are numbers from 0 on: the one of the largest y, or a sample with
    probabilities softmax(y).
    """

    weights: tuple[np.ndarray, ...]
    biases: tuple[np.ndarray, ...]
    head: Head
    obs_mean: np.ndarray
    obs_std: np.ndarray
    space: ActionSpace
    log_std_range: tuple[float, float] = (-20.0, 2.0)
    info: Mapping[str, Any] = field(default_factory=dict)
    """Where the policy comes from: algorithm, dataset, task, version."""
    schema: Schema | None = None
    """What the columns of its log mean, where they had names."""

    def __post_init__(self) -> None:
        if problem := policy_problem(self):
            raise RunError(f"This policy cannot be used: {problem}.")

    def __repr__(self) -> str:
        layers = "-".join(str(len(bias)) for bias in self.biases[:-1])
        end = "actions to choose from" if self.discrete else "numbers"
        return (
            f"Policy({self.obs_dim} numbers -> {layers} -> {self.action_dim} {end}, "
            f"{self.head}, {dict(self.info)})"
        )

    @property
    def obs_dim(self) -> int:
        """Numbers in one observation."""
        return len(self.obs_mean)

    @property
    def action_dim(self) -> int:
        """Numbers in one action; how many actions there are where they are discrete."""
        return self.space.size

    @property
    def discrete(self) -> bool:
        """Whether actions are numbers from 0 to `action_dim` - 1, not vectors."""
        return self.space.discrete

    @property
    def obs_names(self) -> tuple[str, ...]:
        """Names of an observation's numbers; their places where the log gave none."""
        return obs_names(self.schema, self.obs_dim)

    @property
    def action_names(self) -> tuple[str, ...]:
        """Names of an action's numbers; of discrete actions, their own, in order of number."""
        return action_names(self.schema, self.action_dim)

    def act(
        self,
        obs: ArrayLike | Mapping[str, Any] | Frame,
        *,
        rng: np.random.Generator | None = None,
    ) -> np.ndarray | Any:
        """Return the action for one observation [obs_dim] or a batch [n, obs_dim].

        The action is the policy's mean, squashed, or the likeliest of discrete ones; with `rng` it
        is sampled where the policy is stochastic. A discrete action is a number, whose name is
        `policy.action_names[number]`.

        Columns with names, of a mapping or a DataFrame, are put in the order of
        `policy.obs_names`; an array is taken to be in that order.
        """
        obs = self._in_order(obs)
        if obs.ndim not in (1, 2) or obs.shape[-1] != self.obs_dim:
            raise DataError(
                f"The policy wants observations of {self.obs_dim} numbers, [{self.obs_dim}] or "
                f"[n, {self.obs_dim}], got an array of shape {list(obs.shape)}."
            )
        if obs.ndim == 1 or len(obs) <= BLOCK:
            return self._act(obs, rng)
        blocks = [self._act(obs[at : at + BLOCK], rng) for at in range(0, len(obs), BLOCK)]
        return np.concatenate(blocks)

    def _act(self, obs: np.ndarray, rng: np.random.Generator | None) -> np.ndarray | Any:
        y = self.outputs(obs)
        if not np.isfinite(y).all():
            raise DataError(
                "The policy has no answer: its numbers overflow for an observation that is so far "
                "from those it has learned from."
            )
        if self.discrete:
            # The largest of y + Gumbel noise is a sample of softmax(y).
            noise = 0.0 if rng is None else rng.gumbel(size=y.shape)
            return np.argmax(y + noise, axis=-1)
        if self.head == "tanh_normal":
            y, log_std = y[..., : self.action_dim], y[..., self.action_dim :]
            if rng is not None:
                noise = rng.standard_normal(y.shape, np.float32)
                y = y + np.exp(np.clip(log_std, *self.log_std_range)) * noise
        return self.space.actions(np.tanh(y))

    def outputs(self, obs: np.ndarray) -> np.ndarray:
        """What the network's last layer says; not finite where its numbers overflow."""
        with np.errstate(over="ignore", invalid="ignore"):
            x = (obs - self.obs_mean) / self.obs_std
            for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
                x = np.maximum(x @ weight + bias, 0)
            return x @ self.weights[-1] + self.biases[-1]

    def chances(self, obs: np.ndarray) -> np.ndarray:
        """How likely each of its discrete actions is when it is sampled, [n, actions]."""
        if not self.discrete:
            raise DataError("The policy's actions are vectors, which have densities, no chances.")
        y = self.outputs(obs)
        weights = np.exp(y - y.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True)

    def act_row(self, row: Any, *, rng: np.random.Generator | None = None) -> NamedAction:
        """Return the action for one row of a log, a mapping of names to raw values.

        The name of a discrete action; of a vector, its numbers by name. Where the policy needs to
        know the rows before, as with history, `session` has the same method.
        """
        rows = self._rows_alone()
        return name_action(rows.schema, self.act(rows.numbers(row), rng=rng))

    def act_rows(
        self, rows: Iterable[Any], *, rng: np.random.Generator | None = None
    ) -> list[NamedAction]:
        """Return the action for each of several rows that have nothing to do with each other."""
        alone = self._rows_alone()
        return [name_action(alone.schema, a) for a in self.act(alone.table(rows), rng=rng)]

    def session(self) -> Session:
        """Begin an episode: what is returned remembers its rows and actions, as history needs."""
        return Session(self.act, self._rows)

    def save(self, path: str | Path) -> None:
        """Write the policy to one safetensors file, atomically."""
        arrays: Arrays = {
            "obs_mean": self.obs_mean,
            "obs_std": self.obs_std,
            "action_low": self.space.low,
            "action_high": self.space.high,
        }
        for index, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            arrays |= {f"weight.{index}": weight, f"bias.{index}": bias}
        meta = {
            "kind": POLICY_KIND,
            "format": FORMAT,
            "head": self.head,
            "layers": len(self.weights),
            "log_std_range": list(self.log_std_range),
            "info": dict(self.info),
        }
        if self.schema:
            meta["schema"] = to_json(self.schema)
        write_arrays(Path(path), arrays, meta)

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read a policy from a run folder or from a `policy.safetensors` file."""
        path, arrays, meta = read_policy_file(path)
        kind = meta.get("kind", "unknown")
        if kind != POLICY_KIND:
            raise RunError(
                f"{path} is not a policy of a network; it is a {kind} file. "
                "`countmorl.load_policy` reads every kind of policy."
            )
        return cls.of(path, arrays, meta)

    @classmethod
    def of(cls, path: Path, arrays: Arrays, meta: Mapping[str, Any]) -> Policy:
        """Make a policy of what its file holds."""
        if meta.get("format") != FORMAT:
            raise RunError(
                f"{path} has format {meta.get('format')}, this version reads {FORMAT}. "
                "Use the version of countmorl that wrote it."
            )
        try:
            return cls(
                weights=tuple(arrays[f"weight.{i}"] for i in range(meta["layers"])),
                biases=tuple(arrays[f"bias.{i}"] for i in range(meta["layers"])),
                head=meta["head"],
                obs_mean=arrays["obs_mean"],
                obs_std=arrays["obs_std"],
                space=ActionSpace(
                    low=arrays["action_low"],
                    high=arrays["action_high"],
                    discrete=meta["head"] == "categorical",
                ),
                log_std_range=tuple(meta["log_std_range"]),
                info=meta["info"],
                schema=stored_schema(path, meta.get("schema")),
            )
        except (KeyError, TypeError, OverflowError) as error:
            raise RunError(f"{path} is not a complete policy: {error} is missing.") from error

    @cached_property
    def _rows(self) -> Rows | None:
        return Rows(self.schema) if self.schema else None

    def _rows_alone(self) -> Rows:
        """What reads rows that stand alone; refused where they say too little."""
        if self._rows is None:
            raise DataError(NO_NAMES)
        if why := self._rows.needs_session:
            raise DataError(
                f"This policy cannot act on a row alone: {why}. Use `session = policy.session()`, "
                "one for each episode, and `session.act_row(row)`."
            )
        return self._rows

    def _in_order(self, obs: Any) -> np.ndarray:
        if names_of(obs) is None:
            return as_numbers(obs)
        if self.schema is None:
            raise DataError(
                "The log that this policy learned from had no names of columns, so columns with "
                f"names cannot be put in its order. Give an array, [n, {self.obs_dim}]."
            )
        return in_order(obs, self.schema.obs_names)
