"""A disk that fails: the n-th call that concerns a run is refused, or the process dies there.

`python -m robustness.faults` goes through every call of two runs with every error and with kills:
one whose stages cost nothing, which is really killed too, and one with all the stages that a real
training has. The suite takes a sample. SQLite is tested in the same way.
"""

import argparse
import builtins
import errno
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import equinox as eqx
import jax
import numpy as np

from countmorl.errors import CountMorlError
from countmorl.fitting import AbstractFit
from countmorl.runs.folder import Run
from countmorl.runs.manifest import Manifest
from countmorl.runtime.policy import Policy
from countmorl.spaces import ActionSpace
from countmorl.training.stages import Stages
from made_runs import CALIBRATION

ERRORS = (errno.ENOSPC, errno.EIO, errno.EROFS, errno.EINTR)
BY_PATH = ("open", "replace", "mkdir", "unlink", "rmdir", "scandir", "listdir")
BY_FILE = ("write", "read", "fsync", "ftruncate")
STEPS = 100
"""Calls after which the long way through all of them says how far it is."""


OPEN, FROM_FILE = open, np.fromfile


class Kill(BaseException):
    """Stands for `kill -9` inside one process: nothing catches it, nothing is written after it."""


class Disk:
    """Counts the calls that concern a folder, and lets one of them fail."""

    def __init__(self, folder: Path, at: int | None, fail: Callable[[], Any]) -> None:
        self.folder, self.at, self.fail = str(folder), at, fail
        self.calls, self.dead, self.files = 0, False, set()

    def call(self) -> None:
        """Count a call; the one that was asked for fails, and after a kill every other too."""
        self.calls += 1
        if self.dead:
            raise Kill
        if self.calls == self.at:
            try:
                self.fail()
            except Kill:
                self.dead = True
                raise

    def by_path(self, real: Callable[..., Any]) -> Callable[..., Any]:
        """A call that names a path; files that it opens are watched."""

        def call(path: Any, *args: Any, **kwargs: Any) -> Any:
            ours = isinstance(path, (str, os.PathLike)) and str(path).startswith(self.folder)
            if ours:
                self.call()
            made = real(path, *args, **kwargs)
            if ours and isinstance(made, int):
                self.files.add(made)
            return made

        return call

    def by_file(self, real: Callable[..., Any]) -> Callable[..., Any]:
        """A call that names an open file."""

        def call(file: int, *args: Any) -> Any:
            if file in self.files:
                self.call()
            return real(file, *args)

        return call

    def reader(self, path: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        """`open`, whose reads of bytes are calls of their own."""
        ours = isinstance(path, (str, os.PathLike)) and str(path).startswith(self.folder)
        if not ours or mode != "rb":
            return self.by_path(OPEN)(path, mode, *args, **kwargs)
        self.call()
        return Reader(self, path)

    def numbers(self, file: Any, *args: Any, **kwargs: Any) -> Any:
        """`numpy.fromfile`, which reads a file past Python."""
        if isinstance(file, Reader):
            self.call()
        return FROM_FILE(file, *args, **kwargs)

    def close(self, file: int, real: Callable[[int], None] = os.close) -> None:
        """Closing never fails here: its number is given to the next file."""
        self.files.discard(file)
        real(file)


class Reader(io.BufferedReader):
    """A file that is read as bytes."""

    def __init__(self, disk: Disk, path: Any) -> None:
        super().__init__(io.FileIO(path))
        self.disk = disk

    def read(self, size: int | None = -1, /) -> bytes:
        """Read, unless it is this call that fails."""
        self.disk.call()
        return super().read(size)


@contextmanager
def failing(folder: Path, at: int | None, fail: Callable[[], Any]) -> Iterator[Disk]:
    """Let the n-th call that concerns a folder fail."""
    disk = Disk(folder, at, fail)
    changed = {name: disk.by_path(getattr(os, name)) for name in BY_PATH}
    changed |= {name: disk.by_file(getattr(os, name)) for name in BY_FILE}
    # Waiting for a real disk would show nothing more: whether it is told to is what counts here.
    changed["fsync"] = disk.by_file(lambda file: None)
    with (
        patch.multiple(os, close=disk.close, **changed),
        patch.object(builtins, "open", disk.reader),
        patch.object(np, "fromfile", disk.numbers),
    ):
        yield disk


def refuse(code: int) -> Callable[[], None]:
    """A failure: the system refuses the call."""

    def fail() -> None:
        raise OSError(code, os.strerror(code))

    return fail


def die() -> None:
    """A failure: the process is killed, within this one."""
    raise Kill


class State(eqx.Module):
    """A number that every epoch changes."""

    total: jax.Array


class Walk(AbstractFit[State, State]):
    """A stage that costs nothing: it adds a number that the key decides."""

    epochs = 3

    def __init__(self, name: str, stream: int) -> None:
        self.name, self.stream = name, stream

    def init(self, *, key):
        """Draw the first number."""
        return State(jax.random.uniform(key))

    def epoch(self, state, *, key):
        """Add another."""
        return State(state.total + jax.random.uniform(key)), {"loss": state.total}

    def kept(self, epoch):
        """Keep the policy of every epoch."""
        return self.name == "policy"

    def policy(self, state):
        """The last stage has one."""
        if self.name != "policy":
            return None
        one = np.ones(1, np.float32)
        weight = np.asarray(state.total).reshape(1, 1)
        space = ActionSpace(low=-one, high=one)
        parts = {"obs_mean": one, "obs_std": one, "space": space, "head": "tanh"}
        return Policy(weights=(weight,), biases=(one,), **parts)

    def result(self, state):
        """All of it."""
        return state


@dataclass(frozen=True)
class Work:
    """What is done in a folder while its disk fails."""

    begin: Callable[[Path], None]
    go_on: Callable[[Path], None]
    """Goes on with it, or begins anew where nothing is left."""


def begin(folder: Path) -> None:
    """A run of three stages, as `train` carries it out."""
    with Run.begin(folder, Manifest(algorithm="count-morl", versions={})) as run:
        _stages(run)


def go_on(folder: Path) -> None:
    """Go on with it, as `resume` does; where nothing is left of it, begin anew."""
    if not (folder / "config.json").exists():
        begin(folder)
        return
    run = Run.open(folder)
    with run.lock():
        _stages(run)


def _stages(run: Run) -> None:
    stages = Stages(run, 0, save_every=2, keep_policies=2, quiet=True)
    with jax.disable_jit():  # What is tested is the disk; nothing has to be fast.
        for stream, name in enumerate(("model", "codes-8")):
            stages.do(Walk(name, stream))
        run.save_result("counter", {"table": np.arange(3)}, metrics_size=stages.metrics_size)
        CALIBRATION.write(run.path)
        stages.do(Walk("policy", 2))


WALKS = Work(begin, go_on)
"""Stages that cost nothing."""


def contents(folder: Path) -> dict[str, bytes]:
    """Every file but those that tell of time; no temporary file may be left."""
    found = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    return {name: raw for name, raw in found.items() if name not in ("timing.jsonl", ".lock")}


def count_calls(folder: Path, work: Work = WALKS) -> int:
    """How many calls a whole run makes."""
    with failing(folder, None, die) as disk:
        work.begin(folder)
    return disk.calls


def fails_and_recovers(
    folder: Path, at: int, fail: Callable[[], Any], whole: dict, work: Work = WALKS
) -> None:
    """Let a call fail, check that this was said in a sentence, and that the run goes on exactly."""
    said = "."
    try:
        with failing(folder, at, fail):
            work.begin(folder)
    except CountMorlError as error:
        said = str(error)
    except Kill:
        assert fail is die
    assert said.endswith("."), f"call {at}: no sentence: {said}"
    again = Run(folder).timings() if (folder / "timing.jsonl").exists() else []
    assert all(timing.seconds >= 0 for timing in again)
    with patch.object(os, "fsync", lambda file: None):
        work.go_on(folder)
    found = contents(folder)
    other = [name for name in found.keys() | whole.keys() if found.get(name) != whole.get(name)]
    assert not other, f"call {at}: {other}"


def killed_at(folder: Path, at: int) -> None:
    """Begin a run; the process is killed at a call."""
    with failing(folder, at, lambda: os.kill(os.getpid(), signal.SIGKILL)):
        begin(folder)


def real_kill(folder: Path, at: int) -> int:
    """Kill a process of its own at a call."""
    words = ["-m", "robustness.faults", "--child", str(folder), str(at)]
    paths = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    found = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    return subprocess.run([sys.executable, *words], capture_output=True, env=found).returncode


def forked(work: Callable[..., object], *args: object) -> int:
    """Do something in a process of its own, and return how it ended.

    A fork, since Python takes seconds to begin; only as long as JAX has begun no thread.
    """
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        work(*args)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def every_call(place: Path, work: Work, step: int) -> tuple[int, dict[str, int]]:
    """Let every `step`-th call of a run fail with each error, and die in it; count them."""
    work.begin(place / "warm")  # What is calculated once is calculated here.
    run = place / "run"  # Always of this name: a judgement says it.
    calls, whole = count_calls(run, work), contents(run)
    shutil.rmtree(run)
    faults = {errno.errorcode[code]: refuse(code) for code in ERRORS} | {"kill": die}
    done = dict.fromkeys(faults, 0)
    for at in range(1, calls + 1, step):
        for name, fail in faults.items():
            fails_and_recovers(run, at, fail, whole, work)
            shutil.rmtree(run)
            done[name] += 1
        if at // STEPS != (at + step) // STEPS:
            print(f"  {at} of {calls} calls", flush=True)
    return calls, done


def every_kill(place: Path, step: int) -> tuple[int, int]:
    """Really kill a process at every `step`-th call; return the calls, and how many were killed."""
    whole, told, run, done = place / "whole", place / "calls", place / "run", 0
    place.mkdir()
    # What one process compiles the others read.
    jax.config.update("jax_compilation_cache_dir", str(place / "programs"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    assert forked(lambda: told.write_text(str(count_calls(whole)))) == 0
    calls, wanted = int(told.read_text()), contents(whole)
    for at in range(1, calls + 1, step):
        assert forked(killed_at, run, at) == -signal.SIGKILL
        assert forked(go_on, run) == 0, f"call {at}"
        assert contents(run) == wanted, f"call {at}"
        shutil.rmtree(run)
        done += 1
    return calls, done


def main() -> int:
    """Go through every call: each error, the kill within the process, and real kills."""
    if sys.argv[1:2] == ["--child"]:
        killed_at(Path(sys.argv[2]), int(sys.argv[3]))
        return 0
    from robustness import real_run

    parser = argparse.ArgumentParser(prog="make faults")
    works = {"stages": WALKS, "training": Work(real_run.begin, real_run.go_on)}
    parser.add_argument("what", nargs="*", default=["kills", *works])
    parser.add_argument("--step", type=int, default=1, help="take every so many-th call only")
    said = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="countmorl-faults-") as place:
        for name in sorted(said.what, key="kills".__ne__):  # Those fork, before JAX has threads.
            if name == "kills":
                calls, killed = every_kill(Path(place) / name, said.step)
                print(
                    f"kills: {calls} calls; killed and gone on byte for byte: {killed}", flush=True
                )
                continue
            calls, done = every_call(Path(place) / name, works[name], said.step)
            print(f"{name}: {calls} calls; failed and recovered byte for byte: {done}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
