"""What a training leaves in its run, for the fuzzer: models, codes, counters, checkpoints."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import countmorl
from countmorl import trees
from countmorl.counting.base import CodesConfig
from countmorl.counting.codes import Autoencoder
from countmorl.counting.fit import CodesFit
from countmorl.counting.learned import CodeCounter
from countmorl.counting.query import CountUse, save_counter
from countmorl.counting.table import CountTable
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.fit import EnsembleConfig, EnsembleFit, ModelRows, Scales
from countmorl.evaluation.parts import ensemble_of
from countmorl.fitting import AbstractFit, first_state, stream_of
from countmorl.runs.folder import Run
from countmorl.runs.manifest import Manifest
from countmorl.scaling import Standardizer
from countmorl.training.stages import Stages
from robustness.damage import by_bytes, by_forgery
from robustness.format import Format

OBS, ACTION, ROWS, BITS = 2, 1, 24, 4
CONFIG = EnsembleConfig(
    members=3, elites=2, width=4, batch=8, holdout=5, max_epochs=2, least_steps=1
)
CODES = CodesConfig(bits=BITS, fit_epochs=2, fit_updates=2, fit_batch=8, follow="pairs")
USE = CountUse(
    counter="codes",
    beta=1.0,
    estimate="AVG",
    alpha=0.5,
    action_low=(-1.0,),
    action_high=(1.0,),
    discrete=False,
)


@functools.cache
def model_fit() -> EnsembleFit:
    """The model of a few made-up rows."""
    rng = np.random.default_rng(0)
    sizes = ((ROWS, OBS + ACTION), (ROWS, OBS + 1), (5, OBS + ACTION), (5, OBS + 1))
    rows = ModelRows(*(jnp.asarray(rng.standard_normal(size), jnp.float32) for size in sizes))
    scales = Scales(Standardizer.identity(OBS + ACTION), Standardizer.identity(OBS + 1))
    return EnsembleFit(rows, scales, CONFIG)


@functools.cache
def model() -> Ensemble:
    """What the fit begins with: good enough to be stored. Its members have no errors yet."""
    begun = model_fit().result(start(model_fit()))
    return eqx.tree_at(lambda each: each.holdout_error, begun, jnp.ones(CONFIG.members))


@functools.cache
def codes_fit() -> CodesFit:
    """The encoders of that model."""
    return CodesFit(model(), model_fit().rows, CODES, BITS, 0)


@functools.cache
def codes() -> Autoencoder:
    """What their fit begins with."""
    return codes_fit().result(start(codes_fit()))


@functools.cache
def start(fit: AbstractFit) -> Any:
    """The state before the first epoch."""
    return first_state(fit, stream_of(fit, 0))


def begun(folder: Path) -> Run:
    """A run with a model."""
    run = Run.create(folder / "run", Manifest(algorithm="count-morl", versions={}))
    run.save_result("model", trees.to_arrays(model()))
    return run


def make_model(folder: Path) -> Path:
    """Its model is damaged."""
    return begun(folder).result_path("model")


def make_codes(folder: Path) -> Path:
    """Its codes are damaged."""
    run = begun(folder)
    run.save_result(codes_fit().name, trees.to_arrays(codes()))
    return run.result_path(codes_fit().name)


def make_counter(folder: Path) -> Path:
    """Its counter is damaged."""
    run, rng = begun(folder), np.random.default_rng(0)
    seen = rng.integers(0, 2**BITS, (CONFIG.elites, ROWS, 1)).astype(np.uint32)
    tables = tuple(map(CountTable.of, seen))
    save_counter(run, CodeCounter(autoencoders=codes(), tables=tables, limits=jnp.ones(2)), USE)
    return run.result_path("counter")


def make_checkpoint(folder: Path) -> Path:
    """A model that is half fitted, and its checkpoint damaged."""
    run = Run.create(folder / "run", Manifest(algorithm="count-morl", versions={}))
    fit = model_fit()
    run.append("metrics.jsonl", {"stage": fit.name, "epoch": 1, "loss": 1.0})
    # The state before the first epoch will do; a copy of it, since an epoch uses it up.
    about = {"stage": fit.name, "epoch": 1, "ended": False}
    run.save_checkpoint(trees.to_arrays(start(fit)), about)
    return run.checkpoint_path


def read_model(path: Path) -> None:
    """Bring the model back as judges and audits do, and as a training that goes on does."""
    run = Run.open(path.parents[1])
    found = ensemble_of(run)
    assert found is not None
    how_long = jax.ShapeDtypeStruct((4, found.standardizer.mean.shape[0]), jnp.float32)
    mean, _ = eqx.filter_eval_shape(Ensemble.predict, found, how_long)
    assert mean.shape[1] == 4
    done = go_on(run, model_fit())
    elites = np.asarray(done.elites)
    assert ((elites >= 0) & (elites < CONFIG.members)).all()


def read_codes(path: Path) -> None:
    """Bring the codes back as a training that goes on does."""
    found = go_on(Run.open(path.parents[1]), codes_fit())
    assert all(np.isfinite(np.asarray(leaf)).all() for leaf in jax.tree.leaves(found))


def read_counter(path: Path) -> None:
    """Ask how often pairs were seen."""
    obs, action = np.zeros((3, OBS), np.float32), np.zeros((3, ACTION), np.float32)
    query = countmorl.counts(path.parents[1])
    if query.obs_dim != OBS or query.space.size != ACTION:
        return
    found = query(obs, action)
    assert (found.members >= 0).all()
    assert np.isfinite(found.penalty).all()
    assert (abs(found.penalty) <= abs(query.beta)).all()


def read_checkpoint(path: Path) -> None:
    """Go on with the run; what comes of it can be read, and is finite."""
    run = Run.open(path.parent)
    for stage in run.stages():
        run.result_path(stage).unlink()
    with run.lock():
        found = go_on(run, model_fit())
    assert all(np.isfinite(np.asarray(leaf)).all() for leaf in jax.tree.leaves(found))
    assert [line.epoch for line in run.records()][:1] in ([1], [])
    (run.path / "metrics.jsonl").write_text('{"stage": "model", "epoch": 1, "loss": 1.0}\n')


def go_on(run: Run, fit: AbstractFit) -> Any:
    """Carry a stage out, or take what is stored of it."""
    return Stages(run, 0, save_every=1, quiet=True).do(fit)


def _format(make: Callable[[Path], Path], read: Callable[[Path], Any], **more: bool) -> Format:
    return Format(make, read, (by_bytes, by_forgery), **more)


MODEL_FORMATS = {
    "model": _format(make_model, read_model),
    "codes": _format(make_codes, read_codes),
    "counter": _format(make_counter, read_counter, slow=True),
    "checkpoint": _format(make_checkpoint, read_checkpoint, slow=True),
}
