import h5py
import numpy as np
import pytest

from countmorl.data.batches import Batch, Form, batches
from countmorl.errors import DataError
from monitored import walks

FORM = Form(obs_dim=2, action_dim=1, discrete=False)


def joined(parts: list[Batch], name: str) -> np.ndarray:
    return np.concatenate([getattr(part, name) for part in parts])


def write(path, arrays):
    with h5py.File(path, "w") as file:
        for name, values in arrays.items():
            file[name] = values
    return path


@pytest.mark.parametrize("rows", [20, 33, 70, 1200, 5000])
@pytest.mark.parametrize("successors", [True, False])
def test_parts_of_any_size_hold_the_same_steps(tmp_path, rows, successors):
    log = walks()
    if not successors:
        del log["next_obs"]
    path = write(tmp_path / "log.hdf5", log)
    parts = list(batches(path, FORM, rows=rows))
    (whole,) = batches(log, FORM)
    assert len(parts) == -(-1200 // (rows - rows % 20 if rows < 1200 else 1200))
    for name in ("obs", "action", "reward", "next_obs", "next_known", "episode"):
        assert np.array_equal(joined(parts, name), getattr(whole, name)), name
    assert whole.episode[-1] == 59


def test_an_episode_longer_than_a_part_stays_one(tmp_path):
    log = {name: values[:100] for name, values in walks(episodes=1, length=100).items()}
    path = write(tmp_path / "log.hdf5", log)
    parts = list(batches(path, FORM, rows=30))
    assert [len(part) for part in parts] == [30, 30, 30, 10]
    assert set(joined(parts, "episode")) == {0}


def test_ends_by_rows_and_by_ids(tmp_path):
    log = walks()
    del log["truncated"], log["next_obs"]
    ends = write(tmp_path / "ends.hdf5", log | {"episode_ends": np.arange(19, 1200, 20)})
    ids = write(tmp_path / "ids.hdf5", log | {"episode_id": np.repeat(np.arange(60), 20)})
    for path in (ends, ids):
        parts = list(batches(path, FORM, rows=50))
        assert np.array_equal(joined(parts, "episode"), np.repeat(np.arange(60), 20))


def test_discrete_actions_stay_discrete_whichever_a_part_holds(tmp_path):
    log = walks() | {"action": np.zeros(1200, np.int64)}
    form = Form(obs_dim=2, action_dim=3, discrete=True)
    parts = list(batches(write(tmp_path / "log.hdf5", log), form, rows=100))
    assert parts[0].action.shape == (100, 3)
    assert (joined(parts, "action") == [1, 0, 0]).all()


def test_actions_outside_of_a_files_own_bounds_are_read(tmp_path):
    log = walks() | {"action_low": np.array([-0.1]), "action_high": np.array([0.1])}
    (part,) = batches(write(tmp_path / "log.hdf5", log), FORM)
    assert part.action.max() > 0.9


def test_arrays_of_other_files_are_read_as_a_whole(tmp_path):
    np.savez(tmp_path / "log.npz", **walks())
    (part,) = batches(tmp_path / "log.npz", FORM)
    assert len(part) == 1200


def test_tables_are_read_by_the_schema_and_new_words_are_told(tmp_path):
    from countmorl import from_table

    rows = [
        {"id": i // 5, "x": i % 7 / 2, "ward": "AB"[i % 2], "dose": i % 3 / 1.5, "r": 1.0}
        for i in range(40)
    ]
    known = from_table(rows, episode="id", obs=["x", "ward"], action="dose", reward="r")
    form = Form(obs_dim=known.obs_dim, action_dim=1, discrete=False, schema=known.schema)
    today = [row | {"dose": 50.0 * row["dose"]} for row in rows]
    today[3]["ward"] = "C"
    lines = ["id,x,ward,dose,r", *(",".join(map(str, row.values())) for row in today)]
    (tmp_path / "today.csv").write_text("\n".join(lines))
    (part,) = batches(tmp_path / "today.csv", form)
    assert part.obs.shape == known.obs.shape
    assert np.array_equal(part.obs[4], known.obs[4])
    assert part.obs[3, 1:].tolist() == [0, 0]
    assert {name: np.flatnonzero(flags).tolist() for name, flags in part.strange.items()} == {
        "ward": [3]
    }
    assert part.action.max() > 60  # Far outside of the training's bounds.


class TestBadInput:
    def test_columns_of_unequal_length(self, tmp_path):
        path = write(tmp_path / "log.hdf5", walks() | {"reward": np.zeros(7)})
        with pytest.raises(DataError, match=r"`reward` of .* has 7 rows, wanted 1200"):
            list(batches(path, FORM))

    def test_rules_for_a_log_that_is_no_table(self, tmp_path):
        with pytest.raises(DataError, match="are for tables"):
            list(batches(write(tmp_path / "log.hdf5", walks()), FORM, missing=("r=0",)))

    def test_a_file_that_is_none(self, tmp_path):
        (tmp_path / "log.hdf5").write_bytes(b"no file of arrays")
        with pytest.raises(DataError, match="not a readable HDF5 file"):
            list(batches(tmp_path / "log.hdf5", FORM))

    def test_another_number_of_columns(self, tmp_path):
        path = write(tmp_path / "log.hdf5", walks())
        with pytest.raises(DataError, match="the training had 3 and 1"):
            list(batches(path, Form(obs_dim=3, action_dim=1, discrete=False)))
