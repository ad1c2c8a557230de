"""The host loop: drive a stage, record, save, and stop cleanly."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import equinox as eqx
import jax.random as jr

from countmorl.errors import RunError
from countmorl.loggers import Logger
from countmorl.progress import EpochReport
from countmorl.runs import Run
from countmorl.training.checkpoint import from_arrays, to_arrays
from countmorl.training.stage import AbstractStage

SHOWN = ("loss", "return", "score")
"""Metrics on the progress line, where they are there."""


class Interrupted(Exception):
    """The user asked to stop; everything up to `epoch` is saved."""

    def __init__(self, run: Run, epoch: int) -> None:
        super().__init__(f"Stopped after epoch {epoch}; nothing is lost.")
        self.run = run


def run_stage(
    stage: AbstractStage[Any],
    run: Run,
    *,
    seed: int,
    save_every: int,
    loggers: list[Logger],
    quiet: bool = False,
) -> None:
    """Run a stage from its checkpoint, or from its start, to its end."""
    stream = jr.fold_in(jr.key(seed), stage.stream)
    state, done = _restore(stage, run, stream)
    report = EpochReport(stage.name, stage.epochs, done, quiet=quiet)
    with _graceful_stop() as stop:
        for epoch in range(done + 1, stage.epochs + 1):
            start = time.perf_counter()
            state, metrics = stage.epoch(state, key=jr.fold_in(stream, epoch))
            values = {name: float(value) for name, value in metrics.items()}
            seconds = time.perf_counter() - start
            _check_finite(values, stage, epoch, run)
            values |= stage.judge(state, epoch)
            run.append("metrics.jsonl", {"stage": stage.name, "epoch": epoch, **values})
            run.append("timing.jsonl", {"stage": stage.name, "epoch": epoch, "seconds": seconds})
            for logger in loggers:
                logger.log({f"{stage.name}/{k}": v for k, v in values.items()}, epoch)
            if stop.is_set() or epoch % save_every == 0 or epoch == stage.epochs:
                stage.save(state, run)
                run.save_checkpoint(to_arrays(state), {"stage": stage.name, "epoch": epoch})
            report(epoch, {k: values[k] for k in SHOWN if k in values})
            if stop.is_set() and epoch < stage.epochs:
                raise Interrupted(run, epoch)


def _restore(stage: AbstractStage[Any], run: Run, stream: Any) -> tuple[Any, int]:
    saved = run.load_checkpoint()
    if saved is None:
        run.rewind(0)
        return stage.init(key=jr.fold_in(stream, 0)), 0
    arrays, meta = saved
    if meta.get("stage") != stage.name or not isinstance(meta.get("epoch"), int):
        raise RunError(f"{run.checkpoint_path} belongs to another stage: {meta.get('stage')}.")
    template = eqx.filter_eval_shape(lambda key: stage.init(key=key), stream)
    state = from_arrays(template, arrays)
    run.rewind(meta["metrics_size"])
    return state, meta["epoch"]


def _check_finite(
    values: dict[str, float], stage: AbstractStage[Any], epoch: int, run: Run
) -> None:
    bad = [name for name, value in values.items() if not math.isfinite(value)]
    if bad:
        raise RunError(
            f"The training diverged: `{bad[0]}` is {values[bad[0]]} in epoch {epoch} of stage "
            f"{stage.name}. The last good checkpoint is kept in {run.path}. A lower learning rate "
            "may help; `countmorl data check` finds bad rows."
        )


@contextmanager
def _graceful_stop() -> Iterator[threading.Event]:
    """Let Ctrl-C finish the epoch and save; a second Ctrl-C stops at once."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def ask(*_: object) -> None:
        stop.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
