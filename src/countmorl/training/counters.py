"""Keep a run's counter in its folder, and bring it back for queries."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from countmorl.configs import from_json
from countmorl.counting.base import AbstractCounter
from countmorl.counting.codes import Autoencoder
from countmorl.counting.exact import ExactCounter
from countmorl.counting.learned import CodeCounter
from countmorl.counting.simhash import SimHashCounter
from countmorl.counting.store import CountQuery
from countmorl.counting.table import CountTable
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.fit import EnsembleConfig, Rows, finish, start
from countmorl.errors import RunError
from countmorl.files import Arrays
from countmorl.runs.folder import Run
from countmorl.scaling import Standardizer
from countmorl.trees import from_arrays, to_arrays

NAME = "counter"


def save_counter(run: Run, counter: AbstractCounter, about: dict[str, Any]) -> None:
    """Write the counter's arrays; `about` says how the run uses it."""
    tables = _tables(counter)
    arrays = {f"counter{name}": value for name, value in to_arrays(counter).items()}
    meta = {
        "counter": type(counter).__name__,
        "probes": [table.probes for table in tables],
        "sizes": [[list(table.words.shape), len(table.starts)] for table in tables],
        "use": about,
    }
    run.save_result(NAME, arrays, **meta)


def load_query(run: Run) -> CountQuery:
    """Bring back a run's model and counter, ready for questions."""
    saved, model = run.load_result(NAME), run.load_result("model")
    if saved is None or model is None:
        raise RunError(
            f"{run.path} holds no counts. They come with the algorithms that count, such as "
            "`countmorl train count-morl`, once their model and codes are fitted."
        )
    arrays, meta = saved
    try:
        use = meta["use"]
        ensemble = _ensemble(model[0], from_json(EnsembleConfig, use["model"]))
        counter = _counter(arrays, meta, ensemble)
        return CountQuery(
            ensemble=ensemble,
            counter=counter,
            action_low=np.asarray(use["action_low"], np.float32),
            action_high=np.asarray(use["action_high"], np.float32),
            beta=use["beta"],
            estimate=use["estimate"],
            alpha=use["alpha"],
            discrete=use.get("discrete", False),
        )
    except (KeyError, TypeError, IndexError) as error:
        raise RunError(f"{run.result_path(NAME)} is incomplete: {error}.") from error


def _tables(counter: AbstractCounter) -> tuple[CountTable, ...]:
    if isinstance(counter, ExactCounter):
        return (counter.table,)
    return counter.tables  # type: ignore[attr-defined]


def _ensemble(arrays: Arrays, config: EnsembleConfig) -> Ensemble:
    inputs = len(arrays[".inputs.mean"])
    targets = arrays[".members.log_var_max"].shape[1]

    def make(key: jax.Array) -> Ensemble:
        rows = Rows(*(jnp.zeros((1, n)) for n in (inputs, targets, inputs, targets)))
        state = start(rows, config, key=key)
        return finish(state, Standardizer.identity(inputs), config.elites)

    return from_arrays(eqx.filter_eval_shape(make, jax.random.key(0)), arrays)


def _counter(arrays: Arrays, meta: dict[str, Any], ensemble: Ensemble) -> AbstractCounter:
    arrays = {name.removeprefix("counter"): value for name, value in arrays.items()}
    tables = tuple(
        CountTable(
            _shape(shape, jnp.uint32), _shape([shape[0]], jnp.int32), _shape([starts], jnp.int32), n
        )
        for (shape, starts), n in zip(meta["sizes"], meta["probes"], strict=True)
    )
    if meta["counter"] == "ExactCounter":
        shapes = (_shape(list(arrays[name].shape), jnp.float32) for name in (".values", ".slack"))
        return from_arrays(ExactCounter(tables[0], *shapes), arrays)
    if meta["counter"] == "SimHashCounter":
        shape = list(arrays[".projections"].shape)
        return from_arrays(SimHashCounter(_shape(shape, jnp.float32), tables), arrays)
    bits = arrays[".autoencoders.encoder.biases[2]"].shape[-1]
    inputs = ensemble.inputs.mean.shape[0]

    def make(key: jax.Array) -> Autoencoder:
        width = ensemble.members.weights[0].shape[-1]
        scale = Standardizer.identity(width)
        one = lambda k: Autoencoder.make(scale, bits, width, inputs, key=k)  # noqa: E731
        return eqx.filter_vmap(one)(jax.random.split(key, len(ensemble.elites)))

    autoencoders = eqx.filter_eval_shape(make, jax.random.key(0))
    return from_arrays(CodeCounter(autoencoders, tables), arrays)


def _shape(shape: list[int], dtype: Any) -> Any:
    return jax.ShapeDtypeStruct(tuple(shape), dtype)
