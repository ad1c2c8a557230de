"""Every call to the disk fails once, or the process dies there: a sentence, and nothing is lost.

The suite takes a sample that moves with the number of the call; `make faults` takes them all.
"""

import itertools
import shutil
import signal

import jaxtyping
import pytest

from robustness import real_run
from robustness.faults import (
    ERRORS,
    Work,
    begin,
    contents,
    count_calls,
    die,
    fails_and_recovers,
    go_on,
    real_kill,
    refuse,
)

TRAINING, TRAINING_FAULTS = Work(real_run.train_only, real_run.resume_only), 8
STEP = 12
"""Every so many-th call fails in the suite."""


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """How many calls a run makes, and what it leaves behind."""
    folder = tmp_path_factory.mktemp("faults")
    return count_calls(folder / "whole"), contents(folder / "whole")


def test_a_call_that_is_refused_is_said_and_recovered_from(unbroken, tmp_path):
    calls, whole = unbroken
    codes = itertools.cycle(ERRORS)
    for at in range(1, calls + 1, STEP):
        fails_and_recovers(tmp_path / "run", at, refuse(next(codes)), whole)
        shutil.rmtree(tmp_path / "run")


def test_killed_at_a_call_it_goes_on_exactly(unbroken, tmp_path):
    calls, whole = unbroken
    for at in range(3, calls + 1, STEP):
        fails_and_recovers(tmp_path / "run", at, die, whole)
        shutil.rmtree(tmp_path / "run")


def test_really_killed_it_goes_on_exactly(unbroken, tmp_path):
    calls, whole = unbroken
    assert real_kill(tmp_path / "run", calls * 2 // 3) == -signal.SIGKILL
    go_on(tmp_path / "run")
    assert contents(tmp_path / "run") == whole


def test_the_shim_sees_what_it_should(unbroken, tmp_path):
    """A run that is not failed is whole, and its files are all there."""
    calls, whole = unbroken
    begin(tmp_path / "run")
    assert contents(tmp_path / "run") == whole
    assert calls > 200
    assert {"config.json", "metrics.jsonl", "stages/policy.safetensors"} <= set(whole)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A training with all its stages, for as long as nothing fails."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jaxtyping.config, "jaxtyping_disable", True)
        folder = tmp_path_factory.mktemp("trained")
        real_run.train_only(folder / "warm")
        return count_calls(folder / "whole", TRAINING), contents(folder / "whole")


@pytest.mark.usefixtures("unchecked")
def test_a_real_training_recovers_too(trained, tmp_path):
    calls, whole = trained
    assert {"stages/termination.safetensors", "stages/counter.safetensors"} <= set(whole)
    faults = itertools.cycle((*map(refuse, ERRORS), die))
    for at in range(5, calls + 1, calls // TRAINING_FAULTS):
        fails_and_recovers(tmp_path / "run", at, next(faults), whole, TRAINING)
        shutil.rmtree(tmp_path / "run")
