import shutil

import numpy as np
import pytest

import countmorl
from countmorl import train
from countmorl.counting.adding import add_log, export_file, merge_file, standing
from countmorl.errors import DataError, RunError
from countmorl.runs.folder import Run
from countmorl.runtime.added import ADDED_FILE
from countmorl.runtime.counts import Counts
from monitored import walks
from small_runs import QUIET, small


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """A run of count-morl beside its log and another one. Read it, never write to it."""
    folder = tmp_path_factory.mktemp("counted")
    np.savez(folder / "log.npz", **walks())
    np.savez(folder / "new.npz", **walks(episodes=5, seed=7))
    train(small("count-morl"), folder / "log.npz", out=folder / "run", **QUIET)
    return folder


@pytest.fixture
def run(counted, tmp_path) -> Run:
    return Run.open(shutil.copytree(counted / "run", tmp_path / "run"))


def members(path, log: dict) -> np.ndarray:
    return Counts.of_run(path).counts(log["obs"], log["action"]).members


def test_a_log_is_counted_once_more(counted, run):
    log = walks(episodes=5, seed=7)
    before = members(run.path, log)
    words, known = Counts.of_run(run.path).codes(log["obs"], log["action"])
    found = add_log(run, counted / "new.npz")
    assert (found.rows, found.logs[0].name) == (100, "new.npz")
    # Each pair counts by so many more as pairs of the log have its code.
    own = [
        [(row == each[k]).all(axis=1).sum() for row in each]
        for each, k in zip(words, known, strict=True)
    ]
    assert np.array_equal(members(run.path, log), np.where(known, before + np.array(own), 0))
    # JAX says the same, but for codes whose number is nearly 0: it sums in 32 bits.
    theirs = countmorl.counts(run.path)(log["obs"], log["action"]).members
    assert (theirs == members(run.path, log)).mean() > 0.98


def test_the_runs_own_files_stay_as_they_are(counted, run):
    before = {f: f.read_bytes() for f in run.path.rglob("*") if f.is_file()}
    add_log(run, counted / "new.npz")
    after = {f: f.read_bytes() for f in run.path.rglob("*") if f.is_file()}
    assert set(after) - set(before) == {run.path / ADDED_FILE}
    assert all(after[f] == content for f, content in before.items())


def test_sites_add_up_without_their_rows(counted, run, tmp_path):
    other = Run.open(shutil.copytree(counted / "run", tmp_path / "other"))
    np.savez(tmp_path / "theirs.npz", **walks(episodes=3, seed=8))
    add_log(run, counted / "new.npz")
    add_log(other, tmp_path / "theirs.npz")
    export_file(other, tmp_path / "counts.safetensors")
    found = merge_file(run, tmp_path / "counts.safetensors")
    assert [log.name for log in found.logs] == ["new.npz", "theirs.npz"]
    # In whichever order they come.
    export_file(run, tmp_path / "both.safetensors")
    third = Run.open(shutil.copytree(counted / "run", tmp_path / "third"))
    add_log(third, tmp_path / "theirs.npz")
    add_log(third, counted / "new.npz")
    log = walks(episodes=5, seed=7)
    assert np.array_equal(members(third.path, log), members(run.path, log))
    assert standing(third).rows == 160


def test_logs_larger_than_a_part_count_the_same(counted, run, tmp_path, monkeypatch):
    from countmorl.counting import adding
    from countmorl.data.batches import batches
    from countmorl.data.readers import WRITERS

    WRITERS[".hdf5"](countmorl.load(counted / "new.npz"), tmp_path / "new.hdf5")
    other = Run.open(shutil.copytree(counted / "run", tmp_path / "other"))
    add_log(other, counted / "new.npz")
    monkeypatch.setattr(adding, "batches", lambda *a, **k: batches(*a, **k, rows=30))
    add_log(run, tmp_path / "new.hdf5")
    assert standing(run).logs[0].hash == standing(other).logs[0].hash
    log = walks(episodes=5, seed=7)
    assert np.array_equal(members(run.path, log), members(other.path, log))


class TestBadInput:
    def test_twice(self, counted, run):
        add_log(run, counted / "new.npz")
        kept = (run.path / ADDED_FILE).read_bytes()
        with pytest.raises(DataError, match=r"'new\.npz' was added already"):
            add_log(run, counted / "new.npz")
        assert (run.path / ADDED_FILE).read_bytes() == kept

    def test_the_training_itself(self, counted, run):
        with pytest.raises(DataError, match="is the log that the run was trained on"):
            add_log(run, counted / "log.npz")
        assert not (run.path / ADDED_FILE).exists()

    def test_a_run_that_does_not_count(self, trained, counted, tmp_path):
        bc = Run.open(shutil.copytree(trained / "run", tmp_path / "bc"))
        with pytest.raises(RunError, match="holds no counts"):
            add_log(bc, counted / "new.npz")

    @pytest.mark.slow
    def test_another_run_s_counts(self, counted, run, tmp_path):
        np.savez(tmp_path / "log.npz", **walks(seed=3))
        train(small("count-morl", epochs=1), tmp_path / "log.npz", out=tmp_path / "o", **QUIET)
        other = Run.open(tmp_path / "o")
        add_log(other, counted / "new.npz")
        export_file(other, tmp_path / "c.safetensors")
        with pytest.raises(DataError, match="of other codes"):
            merge_file(run, tmp_path / "c.safetensors")

    def test_nothing_to_export(self, run, tmp_path):
        with pytest.raises(RunError, match="Nothing was added"):
            export_file(run, tmp_path / "c.safetensors")

    def test_a_file_that_is_there(self, counted, run, tmp_path):
        add_log(run, counted / "new.npz")
        (tmp_path / "c.safetensors").write_text("mine")
        with pytest.raises(DataError, match="exists already"):
            export_file(run, tmp_path / "c.safetensors")

    def test_no_such_file(self, run, tmp_path):
        with pytest.raises(RunError, match="There is no file"):
            merge_file(run, tmp_path / "c.safetensors")

    def test_other_columns(self, run, tmp_path):
        log = walks() | {"obs": np.zeros((1200, 3)), "next_obs": np.zeros((1200, 3))}
        np.savez(tmp_path / "odd.npz", **log)
        with pytest.raises(DataError, match="has 3 observation"):
            add_log(run, tmp_path / "odd.npz")
