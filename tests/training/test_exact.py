import json

import pytest

from countmorl.errors import RunError
from countmorl.runs.folder import Run
from countmorl.runs.manifest import Manifest, installed_versions
from countmorl.training import exact
from countmorl.training.exact import environment, go_on_exactly


def begun(folder, **changes):
    asked = {"algorithm": "bc", "config": {"discount": 0.99}, "environment": environment()}
    return Run.create(folder / "run", Manifest(**(asked | changes)))


def test_the_same_machine_goes_on(tmp_path):
    run = begun(tmp_path)
    assert go_on_exactly(run, run.manifest, inexact=False) == run.manifest


def test_what_is_recorded():
    found = environment()
    assert set(found) == {"threads", "threads of NumPy", "instructions", "device", *exact.FLAGS}
    assert int(found["threads"]) >= 1
    assert found["device"] == "cpu"


@pytest.mark.parametrize(
    ("name", "then", "words"),
    [
        ("threads", "64", "threads was 64 and is"),
        ("threads of NumPy", "64", "threads of NumPy was 64"),
        ("instructions", "avx9000", "the processor has no avx9000"),
        ("instructions", "", "it has .* too"),
        ("device", "NVIDIA H100", "device was NVIDIA H100 and is cpu"),
        ("XLA_FLAGS", "--fast", "XLA_FLAGS was --fast"),
    ],
)
def test_another_machine_is_said_and_refused_unless_told(tmp_path, name, then, words):
    run = begun(tmp_path, environment=environment() | {name: then})
    with pytest.raises(RunError, match=rf"bit for bit: {words}.*--inexact"):
        go_on_exactly(run, run.manifest, inexact=False)
    went_on = go_on_exactly(run, run.manifest, inexact=True)
    assert went_on == run.manifest
    assert len(went_on.inexact) == 1
    assert go_on_exactly(run, run.manifest, inexact=False) == went_on


def test_the_command_that_takes_the_runs_threads_is_said(tmp_path):
    run = begun(tmp_path, environment=environment() | {"threads": "64", "threads of NumPy": "8"})
    with pytest.raises(RunError) as refused:
        go_on_exactly(run, run.manifest, inexact=False)
    command = (
        "NPROC=64 OPENBLAS_NUM_THREADS=8 MKL_NUM_THREADS=8 OMP_NUM_THREADS=8 "
        f"countmorl resume {run.path}"
    )
    assert f"Go on as it began (its threads: `{command}`), or" in str(refused.value)


def test_other_packages_are_said(tmp_path):
    versions = installed_versions() | {"jaxlib": "0.0.1", "python": "2.7"}
    run = begun(tmp_path, versions=versions)
    with pytest.raises(RunError, match=r"bit for bit: jaxlib was 0\.0\.1 and is [^;]*\. Go on"):
        go_on_exactly(run, run.manifest, inexact=False)


def test_a_setting_changed_by_hand_is_said(tmp_path):
    run = begun(tmp_path)
    values = json.loads((run.path / "config.json").read_text())
    values["config"]["discount"] = 0.5
    (run.path / "config.json").write_text(json.dumps(values))
    with pytest.raises(RunError, match=r"config.json was changed by hand"):
        go_on_exactly(run, run.manifest, inexact=False)
    assert go_on_exactly(run, run.manifest, inexact=True).config == {"discount": 0.5}
    assert Manifest.is_as_written(run.path / "config.json")


def test_a_run_of_before_there_were_records_goes_on(tmp_path):
    run = begun(tmp_path)
    values = json.loads((run.path / "config.json").read_text())
    for name in ("digest", "environment", "inexact"):
        del values[name]
    (run.path / "config.json").write_text(json.dumps(values))
    assert Manifest.is_as_written(run.path / "config.json") is None
    assert go_on_exactly(run, run.manifest, inexact=False) == run.manifest
