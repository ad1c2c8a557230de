import tempfile
from pathlib import Path
from types import MappingProxyType

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countmorl.data.dataset import Dataset
from countmorl.data.fields import Fields
from countmorl.data.readers.hdf5 import exact_rows, limit_reached, read_hdf5, write_hdf5
from countmorl.data.sources import load
from countmorl.envs.tasks import TASKS, Task
from countmorl.errors import DataError
from countmorl.runs.options import DataOptions

# Three episodes, written by hand: a fall in row 1, a time limit in row 3, an unfinished end.
OBS = [[0, 0], [1, 0], [5, 5], [6, 5], [8, 8], [9, 8]]
NEXT = [[1, 0], [2, 9], [6, 5], [7, 9], [9, 8], [10, 8]]
TERMINALS = [False, True, False, False, False, False]
TIMEOUTS = [False, False, False, True, False, False]
V0 = {
    "observations": np.array(OBS, np.float32),
    "actions": np.array([[0.1], [0.2], [0.3], [0.4], [0.5], [0.6]], np.float32),
    "rewards": np.array([1, 2, 3, 4, 5, 6], np.float32),
    "terminals": np.array(TERMINALS),
    "timeouts": np.array(TIMEOUTS),
}
V2 = V0 | {"next_observations": np.array(NEXT, np.float32)}
SHORT = Task(name="short", env_id="Short-v0", horizon=2)


EXACT = DataOptions(mode="d4rl-exact")


def without(arrays, *keys):
    return {key: values for key, values in arrays.items() if key not in keys}


def read(path, **kwargs):
    return Dataset.of(read_hdf5(path, **kwargs))


class TestV2:
    @pytest.fixture
    def dataset(self, save, tmp_path):
        return read(save(tmp_path / "log.hdf5", V2))

    def test_every_row_is_kept_with_its_true_next_observation(self, dataset):
        assert dataset.obs.tolist() == OBS
        assert dataset.next_obs.tolist() == NEXT
        assert dataset.next_known.tolist() == [True] * 6
        np.testing.assert_array_equal(dataset.action, V2["actions"])
        assert dataset.reward.tolist() == [1, 2, 3, 4, 5, 6]

    def test_a_timeout_is_never_a_termination(self, dataset):
        assert dataset.terminated.tolist() == TERMINALS
        assert dataset.truncated.tolist() == TIMEOUTS

    def test_the_unfinished_trajectory_is_kept_but_has_no_return(self, dataset):
        assert dataset.episode_ends.tolist() == [1, 3, 5]
        assert dataset.returns.tolist() == [1 + 2, 3 + 4]
        assert dataset.lengths.tolist() == [2, 2]

    def test_all_rows_may_train_a_model(self, dataset):
        assert dataset.transitions("model").next_obs.tolist() == NEXT

    def test_types(self, dataset):
        assert {a.dtype for a in (dataset.obs, dataset.action, dataset.reward)} == {
            np.dtype(np.float32)
        }
        assert {dataset.terminated.dtype, dataset.truncated.dtype} == {np.dtype(bool)}


class TestV0:
    @pytest.fixture
    def dataset(self, save, tmp_path):
        return read(save(tmp_path / "log.hdf5", V0))

    def test_next_is_unknown_at_a_fall_at_a_limit_and_at_the_end(self, dataset):
        assert len(dataset) == 6
        assert dataset.next_known.tolist() == [True, False, True, False, True, False]
        assert dataset.next_obs[dataset.next_known].tolist() == [[1, 0], [6, 5], [9, 8]]

    def test_nothing_of_another_episode_stands_in_for_the_unknown(self, dataset):
        assert dataset.next_obs[1].tolist() != OBS[2]
        assert dataset.next_obs[3].tolist() != OBS[4]

    def test_rows_with_an_unknown_next_state_do_not_train_a_model(self, dataset):
        model = dataset.transitions("model")
        assert model.obs.tolist() == [[0, 0], [5, 5], [8, 8]]
        assert model.next_obs.tolist() == [[1, 0], [6, 5], [9, 8]]

    def test_a_critic_also_learns_from_the_fall(self, dataset):
        critic = dataset.transitions("critic")
        assert critic.obs.tolist() == [[0, 0], [1, 0], [5, 5], [8, 8]]
        assert critic.terminated.tolist() == [False, True, False, False]

    def test_imitation_uses_every_row(self, dataset):
        assert dataset.transitions("all").obs.tolist() == OBS

    def test_without_timeouts_the_horizon_says_where_episodes_were_cut(self, save, tmp_path):
        path = save(tmp_path / "log.hdf5", without(V0, "timeouts"))
        dataset = read(path, task=SHORT)
        # Steps within the episodes, from 0: 0 1(fall) | 0 1(limit) | 0 1(limit).
        assert dataset.truncated.tolist() == [False, False, False, True, False, True]
        assert dataset.terminated.tolist() == TERMINALS
        assert dataset.next_known.tolist() == [True, False, True, False, True, False]

    def test_without_timeouts_and_horizon_only_a_fall_ends_an_episode(self, save, tmp_path):
        dataset = read(save(tmp_path / "log.hdf5", without(V0, "timeouts")))
        assert dataset.truncated.tolist() == [False] * 6
        assert dataset.episode_ends.tolist() == [1, 5]


def test_limit_reached_by_hand():
    fall = np.zeros(8, bool)
    fall[1] = True
    # Steps 0 1(fall) 0 1 2(limit) 0 1 2(limit), for a limit of 3 steps.
    assert np.flatnonzero(limit_reached(fall, 3)).tolist() == [4, 7]
    # The old loader goes on at 1 after a fall: 0 1(fall) 1 2(limit) 0 1 2(limit) 0.
    assert np.flatnonzero(limit_reached(fall, 3, as_d4rl=True)).tolist() == [3, 6]


def test_a_fall_at_the_limit_is_a_fall():
    fall = np.array([False, False, True, False])
    assert not limit_reached(fall, 3).any()


class TestExact:
    def test_rows_by_hand(self, save, tmp_path):
        dataset = read(save(tmp_path / "log.hdf5", V2), options=EXACT)
        # Row 3 is a timeout and dropped, row 5 is the last and lost; stored next observations are
        # not used, so the fall in row 1 jumps to the next episode's start.
        assert dataset.obs.tolist() == [[0, 0], [1, 0], [5, 5], [8, 8]]
        assert dataset.next_obs.tolist() == [[1, 0], [5, 5], [6, 5], [9, 8]]
        assert dataset.reward.tolist() == [1, 2, 3, 5]
        assert dataset.terminated.tolist() == [False, True, False, False]
        np.testing.assert_array_equal(dataset.action[:, 0], np.float32([0.1, 0.2, 0.3, 0.5]))

    def test_stored_next_observations_change_nothing(self, save, tmp_path):
        v2 = read(save(tmp_path / "a.hdf5", V2), options=EXACT)
        v0 = read(save(tmp_path / "b.hdf5", V0), options=EXACT)
        assert v2.hash == v0.hash

    def test_without_timeouts_by_hand(self, save, tmp_path):
        path = save(tmp_path / "log.hdf5", without(V0, "timeouts"))
        dataset = read(path, task=Task(name="t", env_id="T-v0", horizon=3), options=EXACT)
        # The old counter: 0, 1 (fall, so it goes on at 1), 1, 2 (limit: dropped), 0, last is lost.
        assert dataset.reward.tolist() == [1, 2, 3, 5]

    def test_episodes_end_where_they_did_or_before_a_dropped_row(self, save, tmp_path):
        dataset = read(save(tmp_path / "log.hdf5", V2), options=EXACT)
        assert dataset.episode_ends.tolist() == [1, 2, 3]

    def test_needs_timeouts_or_a_horizon(self, save, tmp_path):
        path = save(tmp_path / "log.hdf5", without(V0, "timeouts"))
        with pytest.raises(DataError, match=r"needs `timeouts`.*horizon"):
            read_hdf5(path, options=EXACT)

    @given(flags=st.lists(st.sampled_from(["go", "go", "fall", "cut", "both"]), min_size=2))
    def test_equals_the_old_loop_with_timeouts(self, flags):
        rows = numbered(len(flags))
        rows["terminals"] = np.array([flag in ("fall", "both") for flag in flags])
        rows["timeouts"] = np.array([flag in ("cut", "both") for flag in flags])
        assert_same_rows(exact_rows(rows, None), old_loop(rows, None))

    def test_a_fall_at_the_limit_restarts_the_old_counter_at_zero(self):
        rows = numbered(6)
        rows["terminals"] = np.array([False, False, True, False, False, False])
        # Horizon 3: row 2 is at the limit and dropped with the counter at 0, so row 5 is next.
        assert_same_rows(exact_rows(rows, 3), old_loop(rows, 3))

    @given(
        falls=st.lists(st.sampled_from([False, False, False, True]), min_size=2, max_size=40),
        horizon=st.integers(1, 7),
    )
    def test_equals_the_old_loop_without_timeouts(self, falls, horizon):
        rows = numbered(len(falls))
        rows["terminals"] = np.array(falls) & ~at_old_limit(falls, horizon)
        assert_same_rows(exact_rows(rows, horizon), old_loop(rows, horizon))


def numbered(rows):
    count = np.arange(rows, dtype=np.float32)
    return {"observations": count[:, None], "actions": -count[:, None], "rewards": 10 * count}


def old_loop(data, limit):
    """What `d4rl.qlearning_dataset` did, row by row, with terminate_on_end=False."""
    kept = {"observations": [], "next_observations": [], "actions": [], "rewards": []}
    done, step = [], 0
    for i in range(len(data["rewards"]) - 1):
        if "timeouts" in data:
            final = bool(data["timeouts"][i])
        else:
            final = step == limit - 1
        if final:
            step = 0
            continue
        if data["terminals"][i]:
            step = 0
        kept["observations"].append(data["observations"][i])
        kept["next_observations"].append(data["observations"][i + 1])
        kept["actions"].append(data["actions"][i])
        kept["rewards"].append(data["rewards"][i])
        done.append(bool(data["terminals"][i]))
        step += 1
    return {**kept, "terminals": done}


def at_old_limit(falls, limit):
    """Rows that the old counter would put at the limit; a fall there is tested apart."""
    step, marks = 0, []
    for fall in falls:
        marks.append(step == limit - 1)
        step = 0 if marks[-1] else (1 if fall else step + 1)
    return np.array(marks)


def assert_same_rows(got, wanted):
    for key, values in wanted.items():
        expected = np.array(values).reshape(got[key].shape) if len(values) else np.array(values)
        assert got[key].tolist() == expected.tolist(), key


class TestOddFiles:
    def test_flags_and_rewards_of_shape_n_1(self, save, tmp_path):
        odd = {k: v[:, None] if v.ndim == 1 else v for k, v in V2.items()}
        dataset = read(save(tmp_path / "odd.hdf5", odd))
        assert dataset.hash == read(save(tmp_path / "plain.hdf5", V2)).hash

    def test_exact_mode_takes_flags_of_shape_n_1(self, save, tmp_path):
        odd = {k: v[:, None] if v.ndim == 1 else v for k, v in V2.items()}
        path = save(tmp_path / "odd.hdf5", odd)
        assert read(path, options=EXACT).reward.tolist() == [1, 2, 3, 5]

    def test_float64_and_integer_flags(self, save, tmp_path):
        odd = {k: v.astype(np.uint8 if v.dtype == bool else np.float64) for k, v in V2.items()}
        dataset = read(save(tmp_path / "odd.hdf5", odd))
        assert dataset.obs.dtype == np.float32
        assert dataset.hash == read(save(tmp_path / "plain.hdf5", V2)).hash

    def test_other_groups_and_arrays_are_passed_over_and_named(self, save, tmp_path):
        path = save(tmp_path / "log.hdf5", V2)
        with h5py.File(path, "a") as file:
            file["infos/qpos"] = np.zeros((6, 3))
            file["metadata/algorithm"] = "SAC"
            file["metadata/iteration"] = 7
            file["camera"] = np.zeros(6)
        assert read(path).hash == read(save(tmp_path / "plain.hdf5", V2)).hash
        assert read(path).unused == ("camera", "infos/", "metadata/")

    def test_what_is_there_is_named_where_something_is_missing(self, save, tmp_path):
        path = save(tmp_path / "log.hdf5", without(V2, "rewards"))
        with h5py.File(path, "a") as file:
            file["data/demo_0"] = np.zeros(6)
        with pytest.raises(DataError, match=r"no `reward`.*got actions, .*, data/"):
            read_hdf5(path)

    def test_a_link_that_is_not_used_is_only_named(self, save, tmp_path):
        path = save(tmp_path / "log.hdf5", V2)
        with h5py.File(path, "a") as file:
            file["camera"] = h5py.ExternalLink("/etc/hostname", "/x")
        assert read(path).unused == ("camera",)

    def test_d3rlpys_flat_files(self, save, tmp_path):
        flat = without(V0, "timeouts") | {
            "actions": np.array([0, 3, 1, 0, 2, 0]),
            "episode_terminals": np.array([0, 1, 0, 1, 0, 1]),
            "discrete_action": np.array(True),
            "version": np.array(b"1.0"),
        }
        dataset = read(save(tmp_path / "log.h5", flat))
        assert dataset.unused == ()
        assert (dataset.discrete, dataset.action_dim) == (True, 4)
        assert np.flatnonzero(dataset.terminated).tolist() == [1]
        assert np.flatnonzero(dataset.truncated).tolist() == [3, 5]

    def test_a_soft_link_is_refused(self, save, tmp_path):
        path = save(tmp_path / "log.hdf5", without(V2, "rewards"))
        with h5py.File(path, "a") as file:
            file["hidden"] = V2["rewards"]
            file["rewards"] = h5py.SoftLink("/hidden")
        with pytest.raises(DataError, match="links"):
            read_hdf5(path)

    def test_a_virtual_dataset_is_refused(self, save, tmp_path):
        path = save(tmp_path / "log.hdf5", without(V2, "rewards"))
        layout = h5py.VirtualLayout(shape=(6,), dtype="f4")
        layout[:] = h5py.VirtualSource(str(tmp_path / "other.hdf5"), "secret", shape=(6,))
        with h5py.File(path, "a") as file:
            file.create_virtual_dataset("rewards", layout)
        with pytest.raises(DataError, match=r"`rewards`.*another file"):
            read_hdf5(path)


class TestTask:
    def test_by_the_name_of_the_file_and_its_sizes(self, log, save, tmp_path):
        path = save(tmp_path / "hopper_mine.hdf5", log(obs=11, action=3))
        assert read(path).task is TASKS["hopper"]

    def test_not_by_the_name_alone(self, log, save, tmp_path):
        assert read(save(tmp_path / "hopper_mine.hdf5", log())).task is None

    def test_by_the_environment_that_the_file_names(self, log, save, tmp_path):
        path = save(tmp_path / "log.hdf5", log(action=1), env_id="Pendulum-v1")
        task = read(path).task
        assert (task.env_id, task.horizon, task.reference) == ("Pendulum-v1", 200, None)

    def test_an_environment_that_is_not_registered_here_is_kept_by_name(self, log, save, tmp_path):
        task = read(save(tmp_path / "log.hdf5", log(), env_id="Elsewhere-v3")).task
        assert task == Task(name="Elsewhere-v3", env_id="Elsewhere-v3")


class TestWrite:
    def test_reading_gives_the_same_dataset(self, log, tmp_path):
        dataset = load(log(rows=3000, action=1), task="Pendulum-v1")
        write_hdf5(dataset, tmp_path / "log.hdf5")
        again = read(tmp_path / "log.hdf5")
        assert again.hash == dataset.hash
        assert again.task == dataset.task
        assert list(tmp_path.iterdir()) == [tmp_path / "log.hdf5"]

    def test_the_file_is_in_d4rls_layout(self, tmp_path):
        write_hdf5(load(V2), tmp_path / "log.hdf5")
        with h5py.File(tmp_path / "log.hdf5") as file:
            for key, values in V2.items():
                np.testing.assert_array_equal(file[key][()], values, err_msg=key)

    def test_ends_that_neither_flags_nor_jumps_show_are_kept(self, tmp_path):
        still = {"obs": np.ones((6, 2)), "action": np.zeros(6), "reward": np.arange(6)}
        ends = {"next_obs": np.ones((6, 2)), "episode_ends": np.array([1, 3])}
        dataset = load(still | ends)
        assert dataset.episode_ends.tolist() == [1, 3, 5]
        write_hdf5(dataset, tmp_path / "log.hdf5")
        assert read(tmp_path / "log.hdf5").episode_ends.tolist() == [1, 3, 5]

    @given(data=st.data())
    def test_reading_gives_the_same_dataset_whatever_the_flags(self, data):
        rows = data.draw(st.integers(1, 12))
        flag = st.lists(st.booleans(), min_size=rows, max_size=rows).map(np.array)
        values = st.lists(st.integers(-2, 2), min_size=rows, max_size=rows)
        found = {
            "obs": np.array(data.draw(values), np.float32)[:, None],
            "action": np.array(data.draw(values), np.float32)[:, None],
            "reward": np.array(data.draw(values), np.float32),
            "terminated": data.draw(flag),
            "truncated": data.draw(flag),
        }
        if data.draw(st.booleans()):
            found["next_obs"] = np.array(data.draw(values), np.float32)[:, None]
        if data.draw(st.booleans()):
            found["episode_ends"] = np.array([data.draw(st.integers(0, rows - 1))])
        dataset = Dataset.of(Fields.of(found, name="drawn"))
        with tempfile.TemporaryDirectory() as folder:
            write_hdf5(dataset, Path(folder) / "log.hdf5")
            again = read(Path(folder) / "log.hdf5")
        for key, expected in dataset.arrays.items():
            np.testing.assert_array_equal(again.arrays[key], expected, err_msg=key)
        assert again.hash == dataset.hash


class TestOtherNames:
    """Files that call some arrays by our names and some by D4RL's."""

    OURS = MappingProxyType({"observations": "obs", "timeouts": "truncated"})

    def mixed(self, *dropped):
        return {self.OURS.get(key, key): values for key, values in without(V0, *dropped).items()}

    def test_a_known_task_says_where_episodes_were_cut(self, save, tmp_path):
        path = save(tmp_path / "log.hdf5", self.mixed("timeouts"))
        assert read(path, task=SHORT).truncated.tolist() == [False, False, False, True, False, True]

    def test_what_the_file_says_of_cuts_counts_more_than_the_task(self, save, tmp_path):
        path = save(tmp_path / "log.hdf5", self.mixed())
        assert read(path, task=SHORT).truncated.tolist() == TIMEOUTS

    def test_rows_of_the_old_loader(self, save, tmp_path):
        theirs = read(save(tmp_path / "theirs.hdf5", V0), options=EXACT)
        mixed = read(save(tmp_path / "mixed.hdf5", self.mixed()), options=EXACT)
        assert mixed.hash == theirs.hash

    def test_one_array_under_both_names(self, save, tmp_path):
        path = save(tmp_path / "log.hdf5", V0 | {"obs": V0["observations"]})
        with pytest.raises(DataError, match=r"both 'ob.*' and 'ob.*'; give one"):
            read(path, options=EXACT)

    def test_arrays_that_are_one_number(self, save, tmp_path):
        for key in ("observations", "rewards", "terminals"):
            path = save(tmp_path / f"{key}.hdf5", V0 | {key: np.float32(1)})
            with pytest.raises(DataError, match=key):
                read(path, options=EXACT)


@pytest.mark.parametrize("stored", ["Pendulum-v1", np.bytes_("Pendulum-v1")])
def test_the_task_is_known_by_text_of_either_kind(save, tmp_path, stored):
    path = save(tmp_path / "log.hdf5", V0, env_id=stored)
    assert read(path).task.env_id == "Pendulum-v1"
