import numpy as np
import pytest

from countmorl import BC, RAMBO, CountMORL
from countmorl.errors import RunError
from countmorl.sweeps import trials
from countmorl.sweeps.facts import DataFacts
from countmorl.sweeps.trials import UPDATES, Clock, made_up, measure_apart, shrunk, step_seconds
from sweeps_parts import small_plan

SIZES = DataFacts(rows=10**6, obs_dim=2, action_dim=1)


def test_a_trial_is_short_and_one_step_of_it_costs_the_same():
    short = shrunk(CountMORL(horizon=7), 32)
    assert (short.epochs, short.updates, short.branches, short.horizon) == (2, UPDATES, 32, 7)
    assert (short.model.width, short.model.max_epochs, short.codes.bits) == (200, 2, 24)
    assert shrunk(BC(epochs=900), 32) == BC(epochs=2, updates=UPDATES)
    # A per-epoch part shrinks as the updates do.
    assert shrunk(RAMBO(updates=1000), 32).adversary.steps == UPDATES


def test_made_up_data_have_the_sizes():
    log = made_up(SIZES)
    assert (log["obs"].shape[1], log["action"].shape[1]) == (2, 1)
    numbered = made_up(DataFacts(rows=5, obs_dim=2, action_dim=3, discrete=True))
    assert set(np.unique(numbered["action"])) == {0, 1, 2}


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(trials, "ROWS", 200)
    monkeypatch.setattr(trials, "UPDATES", 3)


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_models_and_imagined_steps_are_measured_once(tmp_path):
    plan = small_plan(tmp_path, "count-morl", "mopo", "bc")
    count, mopo, clone = plan.trained
    clock = Clock(tmp_path / "trials")
    first, second = clock(1, count, SIZES), clock(2, mopo, SIZES)
    assert min(first.update, first.model_step, first.codes_update, first.start) > 0
    assert (second.imagined, second.model_step) == (first.imagined, first.model_step)
    assert second.codes_update == 0
    third = clock(3, clone, SIZES)
    assert third.update > 0
    assert (third.imagined, third.model_step) == (0, 0)


def test_a_step_in_an_environment_takes_time():
    assert 0 < step_seconds("CartPole-v1") < 1


@pytest.mark.usefixtures("short")
def test_standard_input_asks_and_standard_output_answers(tmp_path, monkeypatch, capsys):
    (row,) = small_plan(tmp_path, "bc").rows
    sent = []

    def run_here(words, input, **_):
        sent.append(words)

        class Stdin:
            class buffer:
                @staticmethod
                def read():
                    return input

        monkeypatch.setattr(trials.sys, "stdin", Stdin)
        capsys.readouterr()
        assert trials.main() == 0

        class Done:
            stdout = capsys.readouterr().out.encode()

        return Done

    monkeypatch.setattr(trials.subprocess, "run", run_here)
    costs, envs = measure_apart([(row, SIZES)], ["CartPole-v1"])
    assert costs[0].update > 0
    assert set(envs) == {"CartPole-v1"}
    assert sent[0][1:] == ["-m", "countmorl.sweeps.trials"]


def test_a_timing_that_fails_is_a_sentence(monkeypatch):
    class Done:
        stdout = b""

    monkeypatch.setattr(trials.subprocess, "run", lambda *_, **__: Done)
    with pytest.raises(RunError, match=r"could not be timed"):
        measure_apart([], [])
