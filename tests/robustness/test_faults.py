"""Every call to the disk fails once, or the process dies there: a sentence, and nothing is lost.

The suite takes a sample that moves with the number of the call; `make faults` takes them all.
"""

import contextlib
import itertools
import shutil
import signal

import jaxtyping
import pytest

from bundles import parts_of
from countmorl.errors import RunError
from countmorl.export.bundle import whole_folder, write_bundle
from countmorl.runtime.bundle import load_bundle
from countmorl.runtime.guard import Guard, GuardSettings
from robustness import real_run
from robustness.beside_formats import guarded
from robustness.faults import (
    ERRORS,
    Kill,
    Work,
    begin,
    contents,
    count_calls,
    die,
    failing,
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


@pytest.mark.slow
def test_a_call_that_is_refused_is_said_and_recovered_from(unbroken, tmp_path):
    calls, whole = unbroken
    codes = itertools.cycle(ERRORS)
    for at in range(1, calls + 1, STEP):
        fails_and_recovers(tmp_path / "run", at, refuse(next(codes)), whole)
        shutil.rmtree(tmp_path / "run")


@pytest.mark.slow
def test_killed_at_a_call_it_goes_on_exactly(unbroken, tmp_path):
    calls, whole = unbroken
    for at in range(3, calls + 1, STEP):
        fails_and_recovers(tmp_path / "run", at, die, whole)
        shutil.rmtree(tmp_path / "run")


@pytest.mark.slow
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


@pytest.mark.usefixtures("unchecked")
def test_an_export_is_whole_or_not_there(tmp_path):
    """Some calls of it fail, or are the last of their process."""
    parts, contract, _ = parts_of(guard=GuardSettings(threshold=3.0))
    out = tmp_path / "place" / "bundle"

    def write():
        with whole_folder(out) as folder:
            write_bundle(folder, parts, contract)

    with failing(out.parent, None, die) as disk:
        write()
    assert disk.calls > 40
    shutil.rmtree(out)
    faults = itertools.cycle((*map(refuse, ERRORS), die))
    for at in range(1, disk.calls + 1, disk.calls // 12):
        # A sentence, or nothing: that a temporary file could not be removed is no failure.
        with contextlib.suppress(RunError, Kill), failing(out.parent, at, next(faults)):
            write()
        if not out.exists():  # All but the last calls: the folder has its name, and is whole.
            write()
        load_bundle(out)
        shutil.rmtree(out)


@pytest.mark.usefixtures("unchecked")
def test_a_guard_is_the_old_one_or_the_new_one_or_is_not_taken(tmp_path):
    old, new = (guarded(tmp_path / each, scale) for each, scale in (("old", 1.0), ("new", 2.0)))
    run, wanted = old.parent, [contents(each) for each in (old, new)]
    with failing(run, None, die) as disk:
        Guard.load(new.parent).save(run)
    assert contents(old) == wanted[1]
    faults = itertools.cycle((die, *map(refuse, ERRORS)))
    for at in range(1, disk.calls + 1):
        for name, raw in wanted[0].items():
            (old / name).write_bytes(raw)
        with contextlib.suppress(RunError, Kill), failing(run, at, next(faults)):
            Guard.load(new.parent).save(run)
        found = {n: raw for n, raw in contents(old).items() if not n.endswith(".tmp")}
        if found in wanted:
            Guard.load(run)
        else:
            with pytest.raises(RunError, match="are of two guards"):
                Guard.load(run)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A training with all its stages, for as long as nothing fails."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jaxtyping.config, "jaxtyping_disable", True)
        folder = tmp_path_factory.mktemp("trained")
        real_run.train_only(folder / "warm")
        return count_calls(folder / "whole", TRAINING), contents(folder / "whole")


@pytest.mark.slow
@pytest.mark.usefixtures("unchecked")
def test_a_real_training_recovers_too(trained, tmp_path):
    calls, whole = trained
    assert {"stages/termination.safetensors", "stages/counter.safetensors"} <= set(whole)
    faults = itertools.cycle((*map(refuse, ERRORS), die))
    for at in range(5, calls + 1, calls // TRAINING_FAULTS):
        fails_and_recovers(tmp_path / "run", at, next(faults), whole, TRAINING)
        shutil.rmtree(tmp_path / "run")
