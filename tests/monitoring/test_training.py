import shutil

import numpy as np
import pytest

from countmorl.errors import DataError, RunError
from countmorl.files import read_arrays
from countmorl.monitoring import training
from countmorl.monitoring.baseline import BASELINE_FILE
from countmorl.monitoring.training import baseline_of, made_of
from countmorl.runs.folder import Run
from countmorl.runtime.counts import Counts
from monitored import dataset


def none_held(data) -> np.ndarray:
    return np.zeros(len(data.episode_ends), bool)


def test_a_baseline_by_hand():
    data = dataset()
    held = none_held(data)
    held[:6] = True
    made = made_of(data, held)
    assert (len(made.pool.tally), made.pool.aside.sum(), made.pool.length) == (60, 33, 20)
    assert made.low[0] == data.obs[:, 0].min()
    assert made.high[2] == data.action.max()
    assert made.pool.reference[-1] * made.pool.spread == pytest.approx(data.reward.mean(), 1e-4)
    assert (made.origin.episodes, made.origin.rows, made.origin.blocks) == (60, 1200, False)


def test_few_episodes_become_blocks():
    data = dataset(episodes=4, length=100)
    made = made_of(data, none_held(data))
    assert made.origin.blocks
    assert (len(made.pool.tally), made.pool.length) == (40, 10)


def test_of_many_episodes_some_are_kept_and_half_of_them_set_aside(monkeypatch):
    monkeypatch.setattr(training, "EPISODES", 20)
    data = dataset()
    held = none_held(data)
    held[:30] = True
    made = made_of(data, held)
    assert (len(made.pool.tally), made.pool.aside.sum()) == (20, 10)
    assert made.origin.episodes == 60  # The range is that of all.


def test_rows_that_vouch_for_themselves_are_taken_out(counting_run):
    run = Run.open(counting_run)
    made = baseline_of(run)
    counts = Counts.of_run(run.path)
    assert made.columns[-1].name == "count"
    # Every counted row was seen at least once, by itself: without it, some were not.
    never = made.pool.edges.at[made.pool.edges.column == len(made.columns) - 1]
    assert never[0] == 0
    place = np.flatnonzero(made.pool.edges.column == len(made.columns) - 1)[0]
    assert 0 <= made.pool.shares(made.pool.tally.whole)[0][place] < 1
    assert made.origin.counter is not None
    assert counts.coder.members == 2


def test_it_is_made_once_and_again_for_another_counter(counting_run, tmp_path):
    path = shutil.copytree(counting_run, tmp_path / "run")
    made = baseline_of(Run.open(path))
    kept = (path / BASELINE_FILE).read_bytes()
    again = baseline_of(Run.open(path), data="nowhere.hdf5")  # The data are not asked for.
    assert np.array_equal(again.low, made.low)
    assert (path / BASELINE_FILE).read_bytes() == kept
    (path / "stages" / "counter.safetensors").unlink()
    assert baseline_of(Run.open(path)).origin.counter is None
    assert read_arrays(path / BASELINE_FILE)[1]["origin"]["counter"] is None


def test_the_run_goes_on_as_if_it_had_none(counting_run, tmp_path):
    path = shutil.copytree(counting_run, tmp_path / "run")
    before = {f.name: f.read_bytes() for f in path.rglob("*") if f.is_file()}
    (path / BASELINE_FILE).unlink(missing_ok=True)
    baseline_of(Run.open(path))
    after = {f.name: f.read_bytes() for f in path.rglob("*") if f.is_file()}
    assert {name: after[name] for name in before} == before | {
        BASELINE_FILE: after[BASELINE_FILE]
    } or BASELINE_FILE not in before


class TestBadInput:
    def test_data_that_have_moved(self, counting_run, tmp_path):
        path = shutil.copytree(counting_run, tmp_path / "run")
        (path / BASELINE_FILE).unlink(missing_ok=True)
        with pytest.raises(DataError, match="no file"):
            baseline_of(Run.open(path), data="nowhere.hdf5")

    def test_a_log_that_is_another(self, counting_run, tmp_path):
        path = shutil.copytree(counting_run, tmp_path / "run")
        (path / BASELINE_FILE).unlink(missing_ok=True)
        with pytest.raises(RunError, match="other data"):
            baseline_of(Run.open(path), data=dataset(seed=7))

    def test_no_successor_at_all(self):
        data = dataset(length=1)
        del_next = {k: v for k, v in data.columns.items() if k != "next_obs"}
        from countmorl import load

        alone = load({k: v for k, v in del_next.items() if k != "next_known"})
        with pytest.raises(DataError, match="what follows cannot be watched"):
            made_of(alone, none_held(alone))
