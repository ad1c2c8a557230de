import json

import numpy as np
import pytest

from countmorl import counts, load, train
from small_runs import QUIET, small, vector_log


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """A folder with `log.npz` and a run of count-morl on it."""
    folder = tmp_path_factory.mktemp("counted")
    np.savez(folder / "log.npz", **vector_log())
    train(small("count-morl", epochs=1), folder / "log.npz", out=folder / "run", **QUIET)
    return folder


def test_a_summary(run_cli, counted):
    code, out, err = run_cli("count", counted / "run", counted / "log.npz")
    assert (code, err) == (0, "")
    names = [line.split("  ")[0] for line in out.splitlines()]
    assert names == ["pairs", "never seen", "count", "estimates", "penalty"]
    assert "pairs       300" in out


def test_json_is_what_the_query_says(run_cli, counted):
    _, out, _ = run_cli("count", counted / "run", counted / "log.npz", "--json")
    dataset = load(counted / "log.npz")
    wanted = counts(counted / "run")(dataset.obs, dataset.action).summary()
    got = json.loads(out)
    assert (got.pop("run"), got.pop("data")) == (str(counted / "run"), "log")
    assert got == json.loads(json.dumps(wanted))


def test_every_pair_is_written(run_cli, counted, tmp_path):
    code, _, _ = run_cli("count", counted / "run", counted / "log.npz", "--out", "c.npz")
    assert code == 0
    with np.load(tmp_path / "c.npz") as file:
        assert set(file) == {"members", "penalty", "LC", "AVG", "UC"}
        assert file["members"].shape == (2, 300)
        assert file["AVG"].shape == file["penalty"].shape == (300,)


def test_other_data_is_refused(run_cli, counted, tabular, log, save, tmp_path):
    save(tmp_path / "other.npz", log())
    code, _, err = run_cli("count", counted / "run", "other.npz")
    assert (code, err.count("\n")) == (2, 1)
    assert "wants observations and actions of 2 and 1 numbers" in err
    code, _, err = run_cli("count", counted / "run", tabular / "cliff.hdf5")
    assert (code, err.count("\n")) == (2, 1)
    assert "has discrete actions, but" in err


def test_a_run_that_counts_nothing(run_cli, counted, trained, tabular):
    for run in (trained / "run", tabular / "run"):
        code, _, err = run_cli("count", run, counted / "log.npz")
        assert (code, err.count("\n")) == (2, 1)
        assert "holds no counts. They come with the algorithms that count" in err


def test_one_pair_needs_no_reward(run_cli, counted, tmp_path):
    dataset = load(counted / "log.npz")
    np.savez(tmp_path / "one.npz", obs=dataset.obs[:1], action=dataset.action[:1])
    code, out, err = run_cli("count", counted / "run", "one.npz", "--json")
    assert (code, err) == (0, "")
    wanted = counts(counted / "run")(dataset.obs[:1], dataset.action[:1]).summary()
    assert json.loads(out)["estimates"] == wanted["estimates"]
