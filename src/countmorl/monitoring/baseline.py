"""`Baseline`: what a monitor must know of a training, in one file beside the run or the bundle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from countmorl.configs import from_json, to_json
from countmorl.data.batches import Form
from countmorl.errors import ConfigError, RunError
from countmorl.files import read_arrays, write_arrays
from countmorl.monitoring.chance import Pool
from countmorl.monitoring.foretold import Foretold
from countmorl.monitoring.tally import Edges, Tally
from countmorl.monitoring.watched import Column, columns_of
from countmorl.schema import Schema

BASELINE_FILE = "baseline.safetensors"
KIND, FORMAT = "baseline", 1
MOST = 10**15
"""Episodes that a log may have."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """What a baseline was made of."""

    data: str
    """Name of the training's log."""
    hash: str
    """SHA-256 of its contents."""
    counter: str | None
    """Digest of the counter; None where a run does not count."""
    episodes: int
    """Episodes of the log, or blocks of its rows where it has too few episodes."""
    blocks: bool
    rows: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Baseline:
    """A training's columns as a monitor compares them with those of any other log."""

    form: Form
    origin: Origin
    foretold: Foretold
    pool: Pool
    low: np.ndarray
    """The least value of each column in all of the training, [columns]."""
    high: np.ndarray

    @property
    def columns(self) -> tuple[Column, ...]:
        """What is watched."""
        return columns_of(self.form, counted=self.origin.counter is not None)

    def save(self, path: Path) -> None:
        """Write everything to one safetensors file, atomically."""
        pool = self.pool
        arrays = {
            **{f"foretold.{name}": value for name, value in self.foretold.arrays.items()},
            **{f"tally.{name}": value for name, value in pool.tally.arrays.items()},
            "aside": pool.aside,
            "edges.at": pool.edges.at,
            "edges.column": pool.edges.column,
            "low": self.low,
            "high": self.high,
        }
        meta = {
            "kind": KIND,
            "format": FORMAT,
            "origin": to_json(self.origin),
            "sizes": [self.form.obs_dim, self.form.action_dim],
            "discrete": self.form.discrete,
            "done": self.form.done,
            "schema": to_json(self.form.schema) if self.form.schema else None,
            "spread": pool.spread,
        }
        write_arrays(path, arrays, meta)

    @classmethod
    def load(cls, path: Path) -> Baseline:
        """Read what `save` wrote; anything else is a `RunError`."""
        arrays, meta = read_arrays(path)
        if (meta.get("kind"), meta.get("format")) != (KIND, FORMAT):
            raise RunError(
                f"{path} is no baseline of format {FORMAT}, but {meta.get('kind', 'unknown')} "
                f"of format {meta.get('format')}. Delete it: it is made anew from the run."
            )
        try:
            found = cls._of(arrays, meta)
        except (KeyError, TypeError, ValueError, ConfigError) as error:
            raise RunError(f"{path} is not a complete baseline: {error}.") from error
        if problem := found.problem:
            raise RunError(f"{path} cannot be used: {problem}.")
        return found

    @classmethod
    def _of(cls, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> Baseline:
        def parts(of: str) -> dict[str, np.ndarray]:
            return {n.removeprefix(of): value for n, value in arrays.items() if n.startswith(of)}

        schema = None if meta["schema"] is None else from_json(Schema, meta["schema"])
        (obs, action), foretold = meta["sizes"], Foretold(**parts("foretold."))
        # Names are made of as many columns as this says, so it is looked at first.
        if not 0 < obs < obs + action == foretold.mean.size:
            raise ValueError(f"it is of {obs} and {action} columns, but foretells others")
        form = Form(
            obs_dim=int(obs),
            action_dim=int(action),
            discrete=bool(meta["discrete"]),
            schema=schema,
            done=meta["done"],
        )
        origin = from_json(Origin, meta["origin"])
        columns = columns_of(form, counted=origin.counter is not None)
        pool = Pool(
            tally=Tally(**parts("tally.")),
            aside=arrays["aside"].astype(bool),
            fitted=np.array([column.fitted for column in columns]),
            rarer=np.array([column.part == "counted" for column in columns]),
            edges=Edges(**parts("edges.")),
            spread=float(meta["spread"]),
        )
        return cls(
            form=form,
            origin=origin,
            foretold=foretold,
            pool=pool,
            low=arrays["low"],
            high=arrays["high"],
        )

    @property
    def problem(self) -> str | None:
        """Why it cannot be used; None where it can."""
        pool, width = self.pool, len(self.columns)
        tally, edges = pool.tally, pool.edges
        episodes = tally.known.shape[0] if tally.known.ndim else 0
        schema = self.form.schema
        if schema is not None and schema.sizes != (self.form.obs_dim, self.form.action_dim):
            return "its schema names another number of columns"
        shapes = {
            "tally.below": (tally.below.shape, (episodes, edges.at.size)),
            "tally.known": (tally.known.shape, (episodes, width)),
            "tally.reward": (tally.reward.shape, (episodes,)),
            "aside": (pool.aside.shape, (episodes,)),
            "edges.column": (edges.column.shape, edges.at.shape),
            "low": (self.low.shape, (width,)),
            "high": (self.high.shape, (width,)),
        }
        for name, (shape, wanted) in shapes.items():
            if shape != wanted:
                return f"`{name}` has the shape {list(shape)}, wanted {list(wanted)}"
        if not episodes or not 0 < pool.spread < np.inf or not 1 <= self.origin.episodes <= MOST:
            return "its parts do not fit together"
        inputs = self.form.obs_dim + self.form.action_dim
        followed = sum(column.part == "followed" for column in self.columns)
        return (
            self.foretold.problem(inputs, followed)
            or edges.problem([column.part == "counted" for column in self.columns])
            or tally.problem
        )
