import itertools
import json
import os
import signal
from types import SimpleNamespace

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from countmorl import trees
from countmorl.errors import Interrupted, RunError
from countmorl.files import read_arrays, write_arrays
from countmorl.fitting import AbstractFit
from countmorl.runs.folder import Run
from countmorl.runs.manifest import Manifest
from countmorl.training import stages as module
from countmorl.training.stages import Stages


class Kill(BaseException):
    """Stands for `kill -9`: nothing catches it."""


class State(eqx.Module):
    total: jax.Array


class Walk(AbstractFit):
    """Adds a number that the key decides, epoch by epoch."""

    name, stream, epochs = "walk", 3, 6

    def __init__(self, *, hook=None, finish_at=None):
        self.hook = hook or (lambda epoch: None)
        self.finish_at, self.saved = finish_at, []

    def init(self, *, key):
        return State(jax.random.uniform(key))

    def epoch(self, state, *, key):
        return State(state.total + jax.random.uniform(key)), {"total": state.total}

    def judge(self, state, epoch):
        self.last = epoch
        self.hook(epoch)
        return {"judged": epoch * 10}

    def finished(self, state):
        return self.last == self.finish_at

    def policy(self, state):
        self.saved.append(self.last)
        return None

    def result(self, state):
        return state


@pytest.fixture
def run(tmp_path):
    return Run.create(tmp_path / "run", Manifest(algorithm="walk"))


def stages(run, **kwargs):
    return Stages(run, 0, kwargs.pop("save_every", 2), quiet=True, **kwargs)


def unbroken(tmp_path):
    run = Run.create(tmp_path / "unbroken", Manifest(algorithm="walk"))
    return stages(run).do(Walk()), run.metrics_path.read_bytes()


def kill_at(wanted):
    def hook(epoch):
        if epoch == wanted:
            raise Kill

    return hook


def test_an_epoch_is_a_line(run):
    stages(run).do(Walk())
    lines = run.lines("metrics.jsonl")
    assert [(line["stage"], line["epoch"], line["judged"]) for line in lines] == [
        ("walk", epoch, 10 * epoch) for epoch in range(1, 7)
    ]
    timing = [json.loads(line) for line in (run.path / "timing.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in timing] == [1, 2, 3, 4, 5, 6]
    assert all(line["seconds"] >= 0 for line in timing)


class TestPeakMemory:
    def test_is_recorded_where_the_system_tells(self, run, monkeypatch):
        class Told:
            RUSAGE_SELF = 0

            @staticmethod
            def getrusage(who):
                return SimpleNamespace(ru_maxrss=3000)

        monkeypatch.setattr(module, "resource", Told)
        monkeypatch.setattr(module.sys, "platform", "linux")
        stages(run).do(Walk())
        assert {timing.peak_memory for timing in run.timings()} == {3000 * 1024}
        monkeypatch.setattr(module.sys, "platform", "darwin")
        assert module._peak_memory() == 3000

    def test_is_left_out_elsewhere(self, run, monkeypatch):
        monkeypatch.setattr(module, "resource", None)
        stages(run).do(Walk())
        assert {timing.peak_memory for timing in run.timings()} == {None}
        assert all("peak_memory" not in line for line in run.lines("timing.jsonl"))


def test_every_epoch_draws_anew(run):
    stages(run).do(Walk())
    totals = [line["total"] for line in run.lines("metrics.jsonl")]
    steps = {round(after - before, 5) for before, after in itertools.pairwise(totals)}
    assert len(steps) == 5


def test_another_seed_walks_another_way(run, tmp_path):
    other = Run.create(tmp_path / "other", Manifest(algorithm="walk"))
    Stages(other, 1, 2, quiet=True).do(Walk())
    stages(run).do(Walk())
    assert run.lines("metrics.jsonl")[0]["total"] != other.lines("metrics.jsonl")[0]["total"]


def test_saves_every_so_often_and_at_the_end(run):
    stage = Walk()
    stages(run, save_every=4).do(stage)
    assert stage.saved == [4, 6]


@pytest.mark.parametrize("epoch", range(1, 7))
def test_a_killed_stage_goes_on_bit_for_bit(run, tmp_path, epoch):
    wanted, metrics = unbroken(tmp_path)
    with pytest.raises(Kill):
        stages(run).do(Walk(hook=kill_at(epoch)))
    got = stages(run).do(Walk())
    assert eqx.tree_equal(got, wanted)
    assert run.metrics_path.read_bytes() == metrics


def test_killed_after_the_line_and_before_the_checkpoint(run, tmp_path, monkeypatch):
    wanted, metrics = unbroken(tmp_path)

    def killed(*args):
        raise Kill

    with monkeypatch.context() as patch:
        patch.setattr(Run, "save_checkpoint", killed)
        with pytest.raises(Kill):
            stages(run).do(Walk())
    assert len(run.lines("metrics.jsonl")) == 2
    assert eqx.tree_equal(stages(run).do(Walk()), wanted)
    assert run.metrics_path.read_bytes() == metrics


def test_a_half_written_line_is_cut_away(run, tmp_path):
    wanted, metrics = unbroken(tmp_path)
    with pytest.raises(Kill):
        stages(run).do(Walk(hook=kill_at(4)))
    with open(run.metrics_path, "ab") as file:
        file.write(b'{"stage": "wa')
    assert eqx.tree_equal(stages(run).do(Walk()), wanted)
    assert run.metrics_path.read_bytes() == metrics


def test_a_finished_stage_is_not_run_again(run):
    first = stages(run).do(Walk())
    metrics = run.metrics_path.read_bytes()
    assert eqx.tree_equal(stages(run).do(Walk(hook=kill_at(1))), first)
    assert run.metrics_path.read_bytes() == metrics


def test_a_stage_may_finish_early(run):
    stage = Walk(finish_at=3)
    stages(run).do(stage)
    assert len(run.lines("metrics.jsonl")) == 3
    assert stage.saved == [2, 3]


class TestStages:
    class Second(Walk):
        name, stream = "second", 4

    def both(self, run, **kwargs):
        work = stages(run)
        work.do(Walk())
        return work.do(self.Second(**kwargs))

    @pytest.mark.parametrize("epoch", [1, 2, 5])
    def test_killed_in_the_second_the_first_is_kept(self, run, tmp_path, epoch):
        other = Run.create(tmp_path / "unbroken", Manifest(algorithm="walk"))
        wanted = self.both(other)
        with pytest.raises(Kill):
            self.both(run, hook=kill_at(epoch))
        assert eqx.tree_equal(self.both(run), wanted)
        assert run.metrics_path.read_bytes() == other.metrics_path.read_bytes()

    def test_stages_draw_from_different_streams(self, run):
        work = stages(run)
        assert not eqx.tree_equal(work.do(Walk()), work.do(self.Second()))


class TestInterrupt:
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_ctrl_c_or_a_scheduler_lets_the_epoch_finish_and_saves(self, run, tmp_path, number):
        wanted, metrics = unbroken(tmp_path)

        def press(epoch):
            if epoch == 3:
                os.kill(os.getpid(), number)

        stage = Walk(hook=press)
        before = signal.getsignal(number)
        with pytest.raises(Interrupted, match=r"Stopped after epoch 3.*nothing is lost") as caught:
            stages(run).do(stage)
        assert signal.getsignal(number) is before
        assert caught.value.folder == run.path
        assert stage.saved == [2, 3]
        assert run.load_checkpoint()[1]["epoch"] == 3
        assert eqx.tree_equal(stages(run).do(Walk()), wanted)
        assert run.metrics_path.read_bytes() == metrics

    def test_a_second_ctrl_c_stops_at_once(self, run):
        def press(epoch):
            if epoch == 3:
                os.kill(os.getpid(), signal.SIGINT)
                os.kill(os.getpid(), signal.SIGINT)

        before = signal.getsignal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            stages(run).do(Walk(hook=press))
        assert signal.getsignal(signal.SIGINT) is before
        assert run.load_checkpoint()[1]["epoch"] == 2

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_in_the_last_epoch_it_is_heard_too(self, run, tmp_path, number):
        """Or a run of many stages would go on with the next, for hours."""
        wanted, metrics = unbroken(tmp_path)

        def press(epoch):
            if epoch == 6:
                os.kill(os.getpid(), number)

        with pytest.raises(Interrupted, match="Stopped after epoch 6"):
            stages(run).do(Walk(hook=press))
        assert eqx.tree_equal(stages(run).do(Walk()), wanted)
        assert run.metrics_path.read_bytes() == metrics


class TestDivergence:
    class Diverging(Walk):
        def epoch(self, state, *, key):
            bad = jnp.where(state.total > self.limit, jnp.nan, state.total)
            return State(state.total + 1), {"fine": state.total, "q": bad}

    @pytest.mark.parametrize("limit", [4.0])
    def test_names_epoch_quantity_and_keeps_the_checkpoint(self, run, limit):
        stage = self.Diverging()
        stage.limit = limit
        # The start lies between 0 and 1, so the total passes 4 after four epochs, in the fifth.
        with pytest.raises(RunError, match=r"diverged: `q` is nan in epoch 5 of stage walk") as got:
            stages(run).do(stage)
        assert str(run.path) in str(got.value)
        assert run.load_checkpoint()[1]["epoch"] == 4
        assert [line["epoch"] for line in run.lines("metrics.jsonl")] == [1, 2, 3, 4]


def test_loggers_get_every_epoch(run):
    class Recorder:
        def __init__(self):
            self.lines = []

        def log(self, values, epoch):
            self.lines.append((epoch, sorted(values)))

        def close(self):
            pass

    recorder = Recorder()
    stages(run, loggers=[recorder]).do(Walk())
    assert recorder.lines == [(e, ["walk/judged", "walk/total"]) for e in range(1, 7)]


@pytest.mark.parametrize("epoch", [0, -1, 7, 10**18])
def test_a_checkpoint_of_an_epoch_that_there_is_not_is_refused(run, epoch):
    about = {"stage": "walk", "epoch": epoch, "ended": False}
    run.save_checkpoint(trees.to_arrays(State(jnp.zeros(()))), about)
    with pytest.raises(RunError, match="does not say which epoch it is of"):
        stages(run).do(Walk())


def test_a_result_that_is_not_finite_is_refused(run):
    run.save_result("walk", trees.to_arrays(State(jnp.full((), jnp.inf))))
    with pytest.raises(RunError, match=r"walk.safetensors is incomplete: it holds numbers that"):
        stages(run).do(Walk())


def test_a_checkpoint_of_another_shape_is_refused(run):
    with pytest.raises(Kill):
        stages(run).do(Walk(hook=kill_at(4)))

    class Wider(Walk):
        def init(self, *, key):
            return State(jnp.zeros(2))

    with pytest.raises(RunError, match="does not fit this run"):
        stages(run).do(Wider())


@pytest.mark.parametrize(
    "about",
    [
        {"metrics_size": None},
        {"metrics_size": -1},
        {"metrics_size": True},
        {"epoch": "2"},
        {"epoch": None},
        {"ended": 1},
    ],
)
def test_a_forged_checkpoint_is_refused(run, about):
    with pytest.raises(Kill):
        stages(run).do(Walk(hook=kill_at(3)))
    arrays, meta = read_arrays(run.checkpoint_path)
    write_arrays(run.checkpoint_path, arrays, meta | about)
    with pytest.raises(RunError, match="does not say"):
        stages(run).do(Walk())
