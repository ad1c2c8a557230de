"""The host loop: drive stages, record, save, and stop cleanly."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.random as jr
import numpy as np

from countmorl.errors import RunError
from countmorl.fitting import AbstractStage
from countmorl.loggers import Logger
from countmorl.progress import EpochReport
from countmorl.runs.folder import Run
from countmorl.trees import from_arrays, to_arrays

Result = TypeVar("Result")
POLITE = (signal.SIGINT, signal.SIGTERM)
"""Signals that ask to stop."""
COMPILED = "/jax/core/compile/backend_compile_duration"


class Interrupted(Exception):
    """The user asked to stop; everything up to `epoch` is saved."""

    def __init__(self, run: Run, stage: str, epoch: int) -> None:
        super().__init__(f"Stopped after epoch {epoch} of stage {stage}; nothing is lost.")
        self.run = run


@dataclass
class Stages:
    """Runs stages one after the other in a run folder; a finished one is read from its file."""

    run: Run
    seed: int
    save_every: int
    loggers: list[Logger] = field(default_factory=list)
    quiet: bool = False

    def do(self, stage: AbstractStage[Any, Result]) -> Result:
        """Return a stage's result: stored, or computed from its checkpoint or from its start."""
        with _compile_clock(self._compile):
            return self._do(stage, jr.fold_in(jr.key(self.seed), stage.stream))

    def _do(self, stage: AbstractStage[Any, Result], stream: jax.Array) -> Result:
        saved = self.run.load_result(stage.name)
        if saved is not None:
            arrays, meta = saved
            # A result of another run came without its metrics: keep what stands.
            self._metrics_size = max(self._metrics_size, meta["metrics_size"])
            template = eqx.filter_eval_shape(lambda key: stage.result(stage.init(key=key)), stream)
            return from_arrays(template, arrays)
        result = eqx.filter_jit(stage.result)(self._train(stage, stream))
        self.run.save_result(stage.name, to_arrays(result))
        self._metrics_size = self.run.metrics_size
        return result

    _metrics_size: int = 0
    """How long the metrics were when the last stage ended."""
    _compile: list[float] = field(default_factory=lambda: [0.0], init=False)
    """Seconds that XLA spent compiling and that no line of timing.jsonl has told yet."""

    def _train(self, stage: AbstractStage[Any, Any], stream: jax.Array) -> Any:
        state, done = self._restore(stage, stream)
        report = EpochReport(stage.name, stage.epochs, done, quiet=self.quiet)
        with _graceful_stop() as stop:
            for epoch in range(done + 1, stage.epochs + 1):
                start, before = time.perf_counter(), self._compile[0]
                state, metrics = stage.epoch(state, key=jr.fold_in(stream, epoch))
                values = {name: np.asarray(value).tolist() for name, value in metrics.items()}
                seconds = time.perf_counter() - start
                timing = {"seconds": seconds, "compile_seconds": self._compile[0]}
                if stage.updates:
                    work = max(1e-9, seconds - (self._compile[0] - before))
                    timing["updates_per_second"] = stage.updates / work
                self._compile[0] = 0.0
                _check_finite(values, stage, epoch, self.run)
                values |= stage.judge(state, epoch)
                self._record(stage, epoch, values, timing)
                last = epoch == stage.epochs or stage.finished(state)
                if stop.is_set() or epoch % self.save_every == 0 or last:
                    stage.save(state, self.run)
                    about = {"stage": stage.name, "epoch": epoch, "finished": last}
                    self.run.save_checkpoint(to_arrays(state), about)
                report(epoch, {k: values[k] for k in stage.shown if k in values})
                if stop.is_set() and not last:
                    raise Interrupted(self.run, stage.name, epoch)
                if last:
                    break
        return state

    def _record(
        self, stage: AbstractStage[Any, Any], epoch: int, values: dict, timing: dict
    ) -> None:
        about = {"stage": stage.name, "epoch": epoch}
        self.run.append("metrics.jsonl", about | values)
        self.run.append("timing.jsonl", about | timing)
        for logger in self.loggers:
            scalars = {k: v for k, v in values.items() if isinstance(v, (int, float))}
            logger.log({f"{stage.name}/{k}": v for k, v in scalars.items()}, epoch)

    def _restore(self, stage: AbstractStage[Any, Any], stream: jax.Array) -> tuple[Any, int]:
        saved = self.run.load_checkpoint()
        if saved is None or saved[1].get("stage") != stage.name:
            # The stage has not saved yet: what it wrote to the metrics is from a lost attempt.
            self.run.rewind(self._metrics_size)
            # One compiled program instead of one for every small operation.
            init = eqx.filter_jit(lambda key: strong(stage.init(key=key)))
            return init(jr.fold_in(stream, 0)), 0
        arrays, meta = saved
        template = eqx.filter_eval_shape(lambda key: stage.init(key=key), stream)
        state = from_arrays(template, arrays)
        self.run.rewind(meta["metrics_size"])
        return state, stage.epochs if meta["finished"] else meta["epoch"]


def strong(state: Any) -> Any:
    """Give every leaf a definite type, or the epoch would be compiled again for its own result."""
    return jax.tree.map(lambda leaf: jax.lax.convert_element_type(leaf, leaf.dtype), state)


def _check_finite(values: dict, stage: AbstractStage[Any, Any], epoch: int, run: Run) -> None:
    bad = [name for name, value in values.items() if not np.isfinite(value).all()]
    if bad:
        kept = (
            f" The last good checkpoint is kept in {run.path}."
            if run.checkpoint_path.exists()
            else ""
        )
        raise RunError(
            f"The training diverged: `{bad[0]}` is {values[bad[0]]} in epoch {epoch} of stage "
            f"{stage.name}.{kept} A lower learning rate may help; `countmorl data check` finds bad "
            "rows."
        )


@contextmanager
def _compile_clock(spent: list[float]) -> Iterator[None]:
    """Add up the seconds that XLA spends compiling."""

    def listen(event: str, duration_secs: float, **_: object) -> None:
        if event == COMPILED and math.isfinite(duration_secs):
            spent[0] += duration_secs

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        yield
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)


@contextmanager
def _graceful_stop() -> Iterator[threading.Event]:
    """Let Ctrl-C, or a scheduler's SIGTERM, finish the epoch and save; a second stops at once."""
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def ask(*_: object) -> None:
        stop.set()
        for number in POLITE:
            signal.signal(number, signal.default_int_handler)

    before = {number: signal.signal(number, ask) for number in POLITE}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
