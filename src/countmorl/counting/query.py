"""How often were these pairs seen? A run's counter with its model, saved and asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from countmorl import trees
from countmorl.configs import from_json, to_json
from countmorl.counting import find_counter
from countmorl.counting.base import AbstractCounter
from countmorl.counting.estimate import CountEstimate, Join, Kind, members_penalty
from countmorl.counting.table import CountTable
from countmorl.dynamics.ensemble import Ensemble
from countmorl.errors import ConfigError, DataError, RunError
from countmorl.runs.folder import Run, made_of
from countmorl.runtime.added import ADDED_FILE
from countmorl.runtime.counts import Counts as StandingCounts
from countmorl.runtime.use import CountUse
from countmorl.spaces import ActionSpace

PROBES = (5, 11)
"""Numbers of pairs with which it is tried whether the parts of a query fit together."""
NAME = "counter"
"""The stage whose result a run's counter is."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Counts:
    """What is known of some pairs: every member's count, the three estimates, the penalty."""

    members: np.ndarray
    """[members, pairs]"""
    estimates: dict[Kind, np.ndarray]
    """LC, AVG and UC, each [pairs]"""
    penalty: np.ndarray
    """What the run took from the reward of each pair."""

    def summary(self) -> dict[str, Any]:
        """Shares and quantiles over the pairs, as JSON-able values."""
        mean = self.estimates["AVG"]
        unseen = (self.members == 0).all(axis=0)
        return {
            "pairs": len(mean),
            "unseen": float(unseen.mean()),
            "count_quantiles": {
                f"{int(100 * q)}%": float(np.quantile(mean, q))
                for q in (0.05, 0.25, 0.5, 0.75, 0.95)
            },
            "estimates": {kind: float(values.mean()) for kind, values in self.estimates.items()},
            "penalty": float(self.penalty.mean()),
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class CountQuery:
    """Counts of any pairs, by a run's model and counter: `query(obs, action) -> Counts`."""

    ensemble: Ensemble
    counter: AbstractCounter
    space: ActionSpace
    beta: float
    estimate: Kind
    alpha: float
    join: Join = "counts"

    @property
    def obs_dim(self) -> int:
        """Numbers in one observation."""
        return self.ensemble.standardizer.mean.shape[0] - self.space.size

    def __call__(self, obs: np.ndarray, action: np.ndarray) -> Counts:
        """Count pairs [n, obs] and [n, action] (or one of each), actions in their true bounds.

        Discrete actions are numbers [n], or one-hot vectors [n, actions].
        """
        obs = np.atleast_2d(np.float32(obs))
        vectors = np.atleast_2d(self.space.vectors(action))
        if (obs.shape, len(vectors)) != ((len(vectors), self.obs_dim), len(obs)) or (
            vectors.shape[1] != self.space.size
        ):
            raise DataError(
                f"The counter wants observations and actions of {self.obs_dim} and "
                f"{self.space.size} numbers, one of each per pair; got shapes {list(obs.shape)} "
                f"and {list(np.shape(action))}."
            )
        # Nothing is converted or added up outside of the one program: each little operation would
        # be compiled by itself.
        parts = self.ensemble, self.counter
        how = self.estimate, self.alpha, self.beta, self.join
        members, estimates, penalty = _count(parts, obs, vectors, how)
        kinds: tuple[Kind, ...] = ("LC", "AVG", "UC")
        return Counts(
            members=np.asarray(members),
            estimates={kind: np.asarray(estimates[kind]) for kind in kinds},
            penalty=np.asarray(penalty),
        )


@eqx.filter_jit
def _count(
    parts: tuple[Ensemble, AbstractCounter],
    obs: Float[Array | np.ndarray, "pairs obs"],
    action: Float[Array | np.ndarray, "pairs action"],
    how: tuple[Kind, float, float, Join],
) -> tuple[Int[Array, "members pairs"], dict[Kind, Array], Float[Array, " pairs"]]:
    """Every member's counts; the estimates by their kind; the penalty by the run's own."""
    ensemble, counter = parts

    def one(x: Array, _: Array) -> Array:
        return counter.counts(x, ensemble.trunks(x))

    pairs = jnp.asarray(obs), jnp.asarray(action)
    members = trees.in_blocks(one, ensemble.standardize(*pairs), axis=1)
    estimate = CountEstimate.of(members)
    kinds: tuple[Kind, ...] = ("LC", "AVG", "UC")
    kind, alpha, beta, join = how
    counts: dict[Kind, Array] = {each: estimate.count(each, alpha) for each in kinds}
    return members, counts, members_penalty(members, kind, alpha, beta, join)


def save_counter(
    run: Run, counter: AbstractCounter, use: CountUse, *, metrics_size: int | None = None
) -> None:
    """Keep a counter in a run's folder.

    A resumed run does so again when its metrics have grown: `metrics_size` is what they were.
    """
    about = {} if metrics_size is None else {"metrics_size": metrics_size}
    run.save_result(NAME, counter.to_arrays(), use=to_json(use), **about)


def counts(run: Run | str | Path) -> CountQuery:
    """Ask a run how often pairs were seen: `countmorl.counts(run)(obs, action)`.

    The answer has every member's count, the three estimates, and what the run takes from the
    reward of each pair.
    """
    run = run if isinstance(run, Run) else Run.open(run)
    saved, model = run.load_result(NAME), run.load_result("model")
    if saved is None or model is None:
        raise RunError(
            f"{run.path} holds no counts. They come with the algorithms that count, such as "
            "`countmorl train count-morl`, once their model and codes are fitted; a tabular "
            "policy has its own, `countmorl.load_policy(run).counts`."
        )
    arrays, meta = saved
    with made_of(run.result_path("model")):
        ensemble = Ensemble.from_arrays(model[0])
    with made_of(run.result_path(NAME)):
        use = _use(meta)
        query = CountQuery(
            ensemble=ensemble,
            counter=find_counter(use.counter).from_arrays(arrays),
            space=use.space,
            beta=use.beta,
            estimate=use.estimate,
            alpha=use.alpha,
            join=use.join,
        )
        _check_sound(query)
    return _with_added(query, run)


def _with_added(query: CountQuery, run: Run) -> CountQuery:
    """The counts with the logs that were added after the training."""
    if not (run.path / ADDED_FILE).exists():
        return query
    tables = tuple(
        CountTable.from_arrays(
            {name: jnp.asarray(getattr(table, name)) for name in ("words", "counts", "starts")}
        )
        for table in StandingCounts.of_run(run.path).tables.each
    )
    counter: Any = query.counter
    return replace(query, counter=eqx.tree_at(lambda each: each.tables, counter, tables))


def _use(meta: dict[str, Any]) -> CountUse:
    try:
        return from_json(CountUse, meta.get("use"))
    except ConfigError as error:
        raise ValueError(str(error)) from error


def _check_sound(query: CountQuery) -> None:
    """Raise where the parts of a query do not fit together, before anybody trusts its counts."""
    space, model = query.space, query.ensemble
    if (
        query.obs_dim < 1
        or space.low.shape != space.high.shape
        or not (space.low < space.high).all()
    ):
        raise ValueError("its actions are of another size than its model's")
    if not np.isfinite((query.beta, query.alpha)).all():
        raise ValueError("its penalty is not finite")
    how = query.estimate, query.alpha, query.beta, query.join
    for pairs in PROBES:  # What is spread over rows by chance fits one number of them alone.
        sizes = (pairs, query.obs_dim), (pairs, space.size)
        rows = (np.zeros(size, np.float32) for size in sizes)
        members, *_ = eqx.filter_eval_shape(_count, (model, query.counter), *rows, how)
        if members.shape[1:] != (pairs,):
            raise ValueError("its codes are not one for each pair")
