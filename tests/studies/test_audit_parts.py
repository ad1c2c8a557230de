import numpy as np
import pytest

from countmorl import train
from countmorl.errors import RunError
from countmorl.studies.audit_parts import ALPHA, HORIZON, parts_of
from small_runs import QUIET, small, vector_log


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    np.savez(folder / "log.npz", **vector_log())
    return train(small("count-morl", epochs=1), folder / "log.npz", out=folder / "r", **QUIET)


def test_what_was_trained_comes_back(run):
    parts = parts_of(run.path)
    assert (parts.horizon, parts.alpha) == (2, 0.5)
    raw = np.asarray(parts.model.ensemble.targets.invert(parts.rows.y))
    np.testing.assert_allclose(parts.deviations, raw.std(axis=0), rtol=1e-4)
    assert (ALPHA, HORIZON) == (0.5, 5)


def test_codes_without_a_counter_count_the_same(run):
    parts = parts_of(run.path)
    run.result_path("counter").unlink()
    again = parts_of(run.path)
    hidden = parts.model.ensemble.trunks(parts.rows.x)
    counts = [np.asarray(each.counter.counts(parts.rows.x, hidden)) for each in (parts, again)]
    np.testing.assert_array_equal(*counts)


def test_other_data_are_refused(run, tmp_path):
    np.savez(tmp_path / "other.npz", **(vector_log() | {"reward": np.ones(300)}))
    with pytest.raises(RunError, match="trained on other data"):
        parts_of(run.path, data=str(tmp_path / "other.npz"))
