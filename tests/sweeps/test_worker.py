import json
import os
import signal
import subprocess

import pytest

from countmorl import Run
from countmorl.runs.lock import hold_lock
from countmorl.sweeps import worker
from countmorl.sweeps.worker import ORPHANED, command, environment, outcome
from countmorl.threads import BLAS, XLA
from sweeps_parts import small_plan


def job(tmp_path, row):
    return {"row": row.as_dict(), "folder": str(tmp_path / "sweep")}


def test_a_row_is_begun_gone_on_with_and_left_alone(tmp_path):
    model, mopo = small_plan(tmp_path, "mopo").rows
    assert outcome(job(tmp_path, model)) == ("done", "")
    assert outcome(job(tmp_path, mopo)) == ("done", "")
    run = Run.open(tmp_path / "sweep" / mopo.name)
    assert run.finished
    assert run.manifest.model_run == f"../{model.name}"
    assert run.manifest.options.label == "mopo"
    before = run.policy_path.stat().st_mtime_ns
    assert outcome(job(tmp_path, mopo)) == ("done", "")
    assert run.policy_path.stat().st_mtime_ns == before
    whole = run.policy_path.read_bytes()
    run.result_path("policy").unlink()
    assert outcome(job(tmp_path, mopo)) == ("done", "")
    assert run.policy_path.read_bytes() == whole


def test_what_goes_wrong_is_a_sentence(tmp_path, capsys):
    (row,) = small_plan(tmp_path, "bc").rows
    (tmp_path / "log.npz").unlink()
    state, said = outcome(job(tmp_path, row))
    assert state == "failed"
    assert "log.npz" in said
    assert "countmorl: " in capsys.readouterr().err


def test_another_run_in_its_folder_is_not_touched(tmp_path):
    (row,) = small_plan(tmp_path, "bc").rows
    outcome(job(tmp_path, row))
    (other,) = small_plan(tmp_path, "bc", epochs=9).rows
    state, said = outcome(job(tmp_path, other))
    assert (state, "holds another run than the plan's" in said) == ("failed", True)


@pytest.mark.parametrize(
    ("error", "state", "said"),
    [
        (KeyboardInterrupt(), "stopped", "before its first epoch"),
        (MemoryError(), "failed", "not enough memory"),
        (ZeroDivisionError("by zero"), "failed", "ZeroDivisionError: by zero"),
    ],
)
def test_faults_of_every_kind_end_one_run_alone(monkeypatch, error, state, said):
    def fail(_):
        raise error

    monkeypatch.setattr(worker, "carry_out", fail)
    got, sentence = outcome({})
    assert got == state
    assert said in sentence


def test_a_run_that_another_process_holds_is_waited_for_and_then_told(tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "PATIENCE", 0.0)
    (row,) = small_plan(tmp_path, "bc").rows
    outcome(job(tmp_path, row))
    path = tmp_path / "sweep" / row.name
    Run(path).result_path("policy").unlink()
    with hold_lock(path):
        state, said = outcome(job(tmp_path, row))
    assert (state, "Another process is training" in said) == ("failed", True)


def test_threads_are_what_was_asked_for():
    found = environment(3)
    assert {found[name] for name in (XLA, *BLAS)} == {"3"}
    assert found["PATH"] == os.environ["PATH"]


def start():
    return subprocess.Popen(
        command(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )


def begun(process, tmp_path, row):
    """Hand a process its job, and come back when the run has recorded an epoch."""
    process.stdin.write(json.dumps(job(tmp_path, row)).encode() + b"\n")
    process.stdin.flush()
    metrics = tmp_path / "sweep" / row.name / "metrics.jsonl"
    while not metrics.exists():
        assert process.poll() is None, process.stderr.read()
    return metrics


@pytest.mark.slow
def test_a_method_of_ones_own_is_found_beside_the_sweep(tmp_path):
    (tmp_path / "mine_of_worker.py").write_text(
        "from dataclasses import dataclass\n"
        "from countmorl.algorithms.bc import BC\n"
        "@dataclass(frozen=True, kw_only=True)\n"
        "class Mine(BC):\n    '''Mine: a clone.'''\n"
    )
    (row,) = small_plan(tmp_path, "bc").rows
    values = row.as_dict() | {"algorithm": "mine_of_worker:Mine", "name": "mine"}
    with start() as process:
        process.stdin.write(json.dumps({"row": values, "folder": "sweep"}).encode() + b"\n")
        process.stdin.flush()
        said = json.loads(process.stdout.read())
    assert said == {"state": "done", "sentence": ""}
    assert Run.open("sweep/mine").manifest.algorithm == "mine_of_worker:Mine"


@pytest.mark.slow
def test_it_ends_with_whoever_started_it(tmp_path):
    (row,) = small_plan(tmp_path, "bc", epochs=1_000_000).rows
    with start() as process:
        begun(process, tmp_path, row)
        process.stdin.close()
        assert process.wait(60) == ORPHANED
        process.stdin = None


@pytest.mark.slow
def test_asked_to_stop_it_saves_and_says_so(tmp_path):
    (row,) = small_plan(tmp_path, "bc", epochs=1_000_000).rows
    with start() as process:
        metrics = begun(process, tmp_path, row)
        process.send_signal(signal.SIGTERM)
        said = json.loads(process.stdout.read())
        assert process.wait(60) == 0
    assert said["state"] == "stopped"
    assert Run.open(metrics.parent).records()
