"""Fits as durable stages of a run: drive them, record, save, and stop cleanly."""

from __future__ import annotations

import math
import signal
import sys
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

from countmorl.errors import Interrupted, RunError, printable
from countmorl.fitting import AbstractFit, first_state, stream_of
from countmorl.loggers import Logger
from countmorl.progress import EpochReport
from countmorl.runs.folder import METRICS, TIMING, Run, made_of
from countmorl.trees import from_arrays, to_arrays

try:
    import resource
except ImportError:  # Windows does not tell; timings there have no peak of memory.
    resource = None

Result = TypeVar("Result")
POLITE = (signal.SIGINT, signal.SIGTERM)
"""Signals that ask to stop."""
COMPILED = "/jax/core/compile/backend_compile_duration"


@dataclass
class Stages:
    """Carries out fits in a run folder, one after the other; finished ones are read from it."""

    run: Run
    seed: int
    save_every: int
    keep_policies: int = 0
    """Policies of the last evaluations to keep."""
    loggers: list[Logger] = field(default_factory=list)
    quiet: bool = False

    metrics_size: int = field(default=0, init=False)
    """How long the metrics were when the last stage ended."""
    _compile: list[float] = field(default_factory=lambda: [0.0], init=False)
    """Seconds that XLA spent compiling and that no line of timing.jsonl has told yet."""

    def do(self, fit: AbstractFit[Any, Result]) -> Result:
        """Return a fit's result: stored, or computed from its checkpoint or from its start."""
        with _compile_clock(self._compile):
            return self._do(fit, stream_of(fit, self.seed))

    def say(self, text: str) -> None:
        """Tell the user something about the data."""
        if not self.quiet:
            print(printable(text), file=sys.stderr, flush=True)

    def _do(self, fit: AbstractFit[Any, Result], stream: jax.Array) -> Result:
        saved = self.run.load_result(fit.name)
        if saved is not None:
            arrays, meta = saved
            # A result of another run came without its metrics: keep what stands.
            self.metrics_size = max(self.metrics_size, meta["metrics_size"])
            template = eqx.filter_eval_shape(lambda key: fit.result(fit.init(key=key)), stream)
            with made_of(self.run.result_path(fit.name)):
                file = str(self.run.result_path(fit.name))
                result = fit.checked(from_arrays(template, arrays, file))
                if not all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(result)):
                    raise ValueError("it holds numbers that are not finite")
                return result
        result = eqx.filter_jit(fit.result)(self._train(fit, stream))
        self.run.save_result(fit.name, to_arrays(result))
        self.metrics_size = self.run.metrics_size
        return result

    def _train(self, fit: AbstractFit[Any, Any], stream: jax.Array) -> Any:
        state, done, ended = self._restore(fit, stream)
        report = EpochReport(fit.name, fit.epochs, done, quiet=self.quiet)
        with _graceful_stop() as stop:
            for epoch in range(done + 1, 1 + (done if ended else fit.epochs)):
                start, before = time.perf_counter(), self._compile[0]
                state, metrics = fit.epoch(state, key=jr.fold_in(stream, epoch))
                values = {name: np.asarray(value).tolist() for name, value in metrics.items()}
                timing = self._timing(fit, time.perf_counter() - start, before)
                _check_sound(values, fit, epoch, self.run)
                judged = fit.judge(state, epoch)
                state = fit.remembering(state, epoch, judged)
                values |= judged
                self._record(fit, epoch, values, timing)
                self._keep_policy(fit, state, epoch)
                ended = fit.finished(state)
                last = ended or epoch == fit.epochs
                if stop.is_set() or epoch % self.save_every == 0 or last:
                    self._save(fit, state, epoch, ended=ended)
                report(epoch, {k: values[k] for k in fit.shown if k in values})
                if stop.is_set():
                    raise Interrupted(self.run.path, fit.name, epoch)
                if last:
                    break
        return state

    def _timing(self, fit: AbstractFit[Any, Any], seconds: float, before: float) -> dict:
        timing = {"seconds": seconds, "compile_seconds": self._compile[0]}
        if fit.updates:
            work = max(1e-9, seconds - (self._compile[0] - before))
            timing["updates_per_second"] = fit.updates / work
        if (peak := _peak_memory()) is not None:
            timing["peak_memory"] = peak
        self._compile[0] = 0.0
        return timing

    def _save(self, fit: AbstractFit[Any, Any], state: Any, epoch: int, *, ended: bool) -> None:
        if (policy := fit.offered(state)) is not None:
            policy.save(self.run.policy_path)
        about = {"stage": fit.name, "epoch": epoch, "ended": ended}
        self.run.save_checkpoint(to_arrays(state), about)

    def _keep_policy(self, fit: AbstractFit[Any, Any], state: Any, epoch: int) -> None:
        if not self.keep_policies or not fit.kept(epoch):
            return
        if (policy := fit.policy(state)) is not None:
            policy.save(self.run.kept_policy_path(epoch))
            self.run.drop_policies(keep=self.keep_policies)

    def _record(self, fit: AbstractFit[Any, Any], epoch: int, values: dict, timing: dict) -> None:
        about = {"stage": fit.name, "epoch": epoch}
        self.run.append(METRICS, about | values)
        self.run.append(TIMING, about | timing)
        for logger in self.loggers:
            scalars = {k: v for k, v in values.items() if isinstance(v, (int, float))}
            logger.log({f"{fit.name}/{k}": v for k, v in scalars.items()}, epoch)

    def _restore(self, fit: AbstractFit[Any, Any], stream: jax.Array) -> tuple[Any, int, bool]:
        """The state to go on from, its epoch, and whether the fit has ended there by itself."""
        saved = self.run.load_checkpoint()
        if saved is None or saved[1].get("stage") != fit.name:
            # The stage has not saved yet: what it wrote to the metrics is from a lost attempt.
            self.run.rewind(self.metrics_size)
            return first_state(fit, stream), 0, False
        arrays, meta = saved
        epoch, ended = meta.get("epoch"), meta.get("ended")
        if type(epoch) is not int or not 1 <= epoch <= fit.epochs or type(ended) is not bool:
            raise RunError(f"{self.run.checkpoint_path} does not say which epoch it is of.")
        template = eqx.filter_eval_shape(lambda key: fit.init(key=key), stream)
        state = from_arrays(template, arrays, str(self.run.checkpoint_path))
        self.run.rewind(meta["metrics_size"], (fit.name, epoch))
        self.run.drop_policies(keep=self.keep_policies, after=epoch)
        return state, epoch, ended


def _check_sound(values: dict, fit: AbstractFit[Any, Any], epoch: int, run: Run) -> None:
    limits = fit.limits()
    bad = [(name, "") for name, value in values.items() if not np.isfinite(value).all()] + [
        (name, f", beyond {limit:.3g}, the most that this log's rewards can explain")
        for name, limit in limits.items()
        if name in values and np.abs(values[name]).max() > limit
    ]
    if bad:
        name, why = bad[0]
        kept = (
            f" The last good checkpoint is kept in {run.path}."
            if run.checkpoint_path.exists()
            else ""
        )
        raise RunError(
            f"The training diverged: `{name}` is {values[name]} in epoch {epoch} of stage "
            f"{fit.name}{why}.{kept} A lower learning rate may help; `countmorl data check` finds "
            "bad rows."
        )


def _peak_memory() -> float | None:
    """The most memory that this process has held, in bytes."""
    if resource is None:
        return None
    unit = 1 if sys.platform == "darwin" else 1024  # Linux tells kilobytes, macOS bytes.
    return float(unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


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
