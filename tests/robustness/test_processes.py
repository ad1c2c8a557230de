"""Several processes at once: begin and go on against each other, at every ordering of their steps.

Two processes are two threads here: a lock belongs to the open file, not to the process, and so the
order of their steps can be chosen. One test at the end uses real processes.
"""

import itertools
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from countmorl.errors import RunError
from countmorl.runs import folder as module
from countmorl.runs.folder import Run
from countmorl.runs.lock import BusyError
from countmorl.runs.manifest import Manifest


class Turns:
    """Lets several threads go one step at a time, in an order that is given."""

    def __init__(self, order: tuple[int, ...]) -> None:
        self.order, self.at, self.done = order, 0, set()
        self.changed = threading.Condition()

    def step(self, me: int) -> None:
        """Wait until it is this thread's turn; those who have ended are passed over."""
        with self.changed:
            self.changed.wait_for(lambda: self._next() in (me, None), timeout=60)
            self.at += 1
            self.changed.notify_all()

    def end(self, me: int) -> None:
        """This thread takes no more turns."""
        with self.changed:
            self.done.add(me)
            self.changed.notify_all()

    def _next(self) -> int | None:
        while self.at < len(self.order) and self.order[self.at] in self.done:
            self.at += 1
        return self.order[self.at] if self.at < len(self.order) else None


def beginner(path, name: str, *, fails: bool) -> Callable[[], str]:
    def work() -> str:
        with Run.begin(path, Manifest(algorithm=name)) as run:
            pause()
            assert run.manifest.algorithm == name, "somebody else's manifest"
            if fails:
                raise RunError("its own failure")
            run.append("metrics.jsonl", {"stage": "policy", "epoch": 1})
            pause()
            assert run.manifest.algorithm == name, "somebody else's manifest"
        return name

    return work


def resumer(path) -> Callable[[], str]:
    def work() -> str:
        run = Run.open(path)
        pause()
        with run.lock():
            pause()
            run.append("metrics.jsonl", {"stage": "policy", "epoch": 2})
        return "resumed"

    return work


pauses = threading.local()


def pause() -> None:
    getattr(pauses, "step", lambda: None)()


@contextmanager
def stepwise() -> Iterator[None]:
    """Every part of beginning a run is a step of its own."""

    def slow(real):
        def call(*args, **kwargs):
            pause()
            return real(*args, **kwargs)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in ("claim", "hold_lock", "discard"):
            patch.setattr(module, name, slow(getattr(module, name)))
        patch.setattr(Manifest, "write", slow(Manifest.write))
        yield


def together(order: tuple[int, ...], works: list[Callable[[], str]]) -> list[str | Exception]:
    """Carry works out side by side in that order of steps; what each gave, or how it failed."""
    turns, outcomes = Turns(order), dict[int, str | Exception]()

    def run(me: int) -> None:
        pauses.step = lambda: turns.step(me)
        try:
            outcomes[me] = works[me]()
        except Exception as error:
            outcomes[me] = error
        finally:
            turns.end(me)

    with stepwise():
        threads = [threading.Thread(target=run, args=(me,)) for me in range(len(works))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=120)
    return [outcomes[me] for me in range(len(works))]


def orders(first: int, second: int) -> list[tuple[int, ...]]:
    """Every way to put the steps of two processes behind each other."""
    places = itertools.combinations(range(first + second), first)
    return [tuple(int(at not in chosen) for at in range(first + second)) for chosen in places]


@pytest.mark.slow
def test_of_two_that_begin_exactly_one_does_and_nothing_of_it_is_lost(tmp_path):
    for number, order in enumerate(orders(5, 5)):
        path = tmp_path / str(number)
        works = [beginner(path, name, fails=False) for name in ("one", "two")]
        found = together(order, works)
        won = [each for each in found if isinstance(each, str)]
        assert len(won) == 1, (order, found)
        assert all(isinstance(each, (str, RunError)) for each in found), (order, found)
        run = Run.open(path)
        assert run.manifest.algorithm == won[0]
        assert len(run.lines("metrics.jsonl")) == 1


@pytest.mark.slow
def test_one_that_fails_takes_nothing_from_the_other(tmp_path):
    for number, order in enumerate(orders(5, 5)):
        path = tmp_path / str(number)
        works = [beginner(path, "one", fails=True), beginner(path, "two", fails=False)]
        failed, other = together(order, works)
        assert isinstance(failed, RunError)
        if other == "two":
            assert Run.open(path).lines("metrics.jsonl")
        else:  # It came while the first one worked, and was told so.
            assert isinstance(other, RunError)
            assert not path.exists() or not (path / "config.json").exists()


def test_one_that_goes_on_and_one_that_begins_never_meet(tmp_path):
    for number, order in enumerate(orders(5, 3)):
        path = tmp_path / str(number)
        begun, resumed = together(order, [beginner(path, "one", fails=False), resumer(path)])
        assert begun == "one" or isinstance(begun, BusyError), (order, begun)
        assert resumed == "resumed" or isinstance(resumed, RunError)
        epochs = [line["epoch"] for line in Run(path).lines("metrics.jsonl")]
        assert epochs in ([1], [1, 2]), (order, epochs)


def test_two_that_go_on_never_meet(tmp_path):
    for number, order in enumerate(orders(3, 3)):
        path = tmp_path / str(number)
        beginner(path, "one", fails=False)()
        found = together(order, [resumer(path), resumer(path)])
        assert all(each == "resumed" or isinstance(each, BusyError) for each in found)
        assert len(Run(path).lines("metrics.jsonl")) == 1 + found.count("resumed")


RACE = """
import sys
from countmorl.errors import RunError
from countmorl.runs.folder import Run
from countmorl.runs.manifest import Manifest
print("ready", flush=True)
sys.stdin.readline()
try:
    with Run.begin(sys.argv[1], Manifest(algorithm=sys.argv[2])) as run:
        run.append("metrics.jsonl", {"stage": "policy", "epoch": 1})
        print("began", flush=True)
        sys.stdin.readline()
except RunError as error:
    print("told", flush=True)
"""


def test_of_four_real_processes_one_begins(tmp_path):
    words = [sys.executable, "-c", RACE, str(tmp_path / "run")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    processes = [subprocess.Popen([*words, f"number-{each}"], **pipes) for each in range(4)]
    try:
        assert [each.stdout.readline() for each in processes] == ["ready\n"] * 4
        for each in processes:
            each.stdin.write("go\n")
            each.stdin.flush()
        said = [each.stdout.readline() for each in processes]
        assert sorted(said) == ["began\n", "told\n", "told\n", "told\n"]
        winner = said.index("began\n")
        assert Run.open(tmp_path / "run").manifest.algorithm == f"number-{winner}"
        processes[winner].send_signal(signal.SIGKILL)
        processes[winner].wait()
        with Run.open(tmp_path / "run").lock():  # The system took the lock back from the dead.
            assert len(Run(tmp_path / "run").lines("metrics.jsonl")) == 1
    finally:
        for each in processes:
            each.kill()
            each.communicate()
