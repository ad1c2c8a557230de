"""What the default codes cost: an epoch that verifies them, and the fit that gives every length."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr

from benchmarks.algorithms import ROWS, UPDATES, Given, prepared
from benchmarks.learning import counted_model, verifying
from benchmarks.measure import Result, alternate
from countmorl.algorithms.count_morl import CountMORL
from countmorl.counting.base import CodesConfig
from countmorl.counting.fit import CodesFit
from countmorl.dynamics.fit import ModelRows
from countmorl.rollouts import PenalizedModel
from countmorl.training.epoch import epoch

BITS = 16


def verified_epoch(model: PenalizedModel, x: jax.Array) -> Result:
    """An epoch with verified codes against one with plain ones; all else is the default."""
    config, works = replace(CountMORL(), beta=1.0), []
    for counted in (verifying(model), model):
        frozen, state = prepared(config, Given(counted, x[:ROWS]))

        def work(frozen: Any = frozen, state: Any = state) -> Any:
            copy = jax.tree.map(lambda leaf: jnp.copy(leaf) if eqx.is_array(leaf) else leaf, state)
            return jax.block_until_ready(epoch(frozen, copy, jr.key(2))[1])

        work()  # Compile.
        works.append(work)
    verified, plain = alternate(*works)
    return Result(
        name=f"count-morl: {UPDATES} updates with their rollouts, codes verified",
        seconds=verified,
        ratio=verified / plain,
        ratio_to="the same with plain codes",
        limit=1.15,
    )


def ordered_fit(model: PenalizedModel, x: jax.Array) -> Result:
    """Updates of encoders for all lengths, against those for one length by the paper's rules."""
    rows, works = ModelRows(x[:ROWS], x[:ROWS], x[:1000], x[:1000]), []
    kinds: tuple[tuple[Literal["dynamics", "pairs"], int | Literal["auto"]], ...]
    kinds = ("dynamics", "auto"), ("pairs", BITS)
    for follow, bits in kinds:
        config = CodesConfig(fit_updates=UPDATES, follow=follow)
        fit = CodesFit(model.ensemble, rows, config, bits)

        start = fit.init(key=jr.key(1))

        def work(fit: CodesFit = fit, start: Any = start) -> Any:
            copy = jax.tree.map(jnp.copy, start)  # An epoch uses its state up.
            return jax.block_until_ready(fit.epoch(copy, key=jr.key(2))[1])

        work()  # Compile.
        works.append(work)
    ordered, plain = alternate(*works)
    return Result(
        name=f"codes of all lengths: {UPDATES} updates",
        seconds=ordered,
        ratio=ordered / plain,
        ratio_to=f"plain codes of {BITS} bits",
    )


def run() -> list[Result]:
    """The epoch and the fit."""
    model, x = counted_model()
    return [verified_epoch(model, x), ordered_fit(model, x)]
