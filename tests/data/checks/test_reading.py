import numpy as np
import pytest

from countmorl.data.check import check

START = 1_700_000_000_000_000_000


def test_what_is_not_used_is_a_finding(only, log):
    finding = only(log(), "unused", unused=("camera", "infos/"))
    assert (finding.level, finding.count) == ("warning", 2)
    assert "not used: camera, infos/." in finding.message


@pytest.mark.parametrize("ending", ["npz", "hdf5"])
def test_of_files_too(log, save, tmp_path, ending):
    found = check(save(tmp_path / f"log.{ending}", log() | {"camera": np.zeros(60)}))
    assert [finding.kind for finding in found] == ["unused"]


def test_doubtful_actions(only, log):
    finding = only(log() | {"actions": 5.0 * (np.arange(60) % 4)}, "action-kind")
    assert "--actions discrete" in finding.message


def test_a_clock_in_nanoseconds_is_not_called_constant(findings, walk, with_names):
    arrays = walk()
    times = START + 1_000_000_000 * np.arange(2000)
    arrays["obs"] = np.concatenate([arrays["obs"][:, :2], times[:, None]], axis=1)
    found = findings(with_names(arrays, "age", "lab", "time"))
    assert ("error", "precision") in [(f.level, f.kind) for f in found]
    assert "constant" not in [f.kind for f in found]
    assert "`obs` columns time vary too little for their size" in found[0].message


def test_finite_numbers_are_not_called_infinite(findings, walk):
    arrays = walk()
    arrays["obs"][[4, 9], 1] = 1e300
    arrays["obs"][7, 1] = np.inf
    found = {f.kind: f for f in findings(arrays)}
    assert (found["too-large"].level, found["too-large"].rows) == ("error", (4, 9))
    assert "columns [1]" in found["too-large"].message
    assert found["not-finite"].rows == (7,)


def test_absurd_numbers_beside_nan(findings, walk):
    arrays = walk()
    arrays["obs"][3, 0], arrays["obs"][5, 0] = np.nan, -1e8
    found = {f.kind: f.rows for f in findings(arrays)}
    assert (found["scale"], found["not-finite"]) == ((5,), (3,))
