import numpy as np
import pytest

from countmorl.data.ends import BLOCK, breaks
from countmorl.data.fields import Fields
from countmorl.data.sources import load
from countmorl.errors import DataError
from countmorl.runs.options import DataOptions


def make(done=None, rows=6, **arrays):
    found = {
        "obs": np.arange(rows, dtype=np.float32),
        "action": np.linspace(-1, 1, rows),
        "reward": np.zeros(rows),
        **{key: np.array(values) for key, values in arrays.items()},
    }
    return Fields.of(found, name="log", options=DataOptions(done=done))


def at(flag):
    return np.flatnonzero(flag).tolist()


def rows(*true):
    return [row in true for row in range(6)]


class TestDone:
    def test_beside_truncated_it_is_told_by_it(self):
        fields = make(done=None, **{"truncated": rows(3)}, dones=rows(1, 3, 5))
        assert (at(fields.terminated), at(fields.truncated)) == ([1, 5], [3])
        assert "rows that are done and not truncated are terminated" in fields.notes[0]

    def test_beside_terminated_it_is_an_end_of_any_kind(self):
        found = {"obs": np.arange(6), "action": np.linspace(-1, 1, 6), "reward": np.zeros(6)}
        flags = {"done": np.array(rows(1, 3)), "terminated": np.array(rows(1))}
        fields = Fields.of(found | flags, name="log")
        assert (at(fields.terminated), at(fields.truncated)) == ([1], [3])

    @pytest.mark.parametrize("name", ["done", "dones"])
    def test_alone_it_asks(self, name):
        found = {"obs": np.arange(6), "action": np.linspace(-1, 1, 6), "reward": np.zeros(6)}
        with pytest.raises(
            DataError, match=r"2 rows as `done`, first row 1.*--done terminated.*--done ended"
        ):
            Fields.of(found | {name: np.array(rows(1, 3))}, name="log")

    def test_what_the_user_says_counts(self):
        fields = make("terminated", dones=rows(1, 3))
        assert (at(fields.terminated), at(fields.truncated)) == ([1, 3], [])
        fields = make("ended", dones=rows(1, 3))
        assert (at(fields.terminated), at(fields.truncated)) == ([], [1, 3])

    def test_where_nothing_is_done_nothing_is_asked(self):
        assert make(dones=rows()).episode_ends.tolist() == [5]

    def test_there_must_be_something_to_say_it_of(self):
        with pytest.raises(DataError, match="has no `done`"):
            make("ended", terminals=rows(1))


class TestCuts:
    @pytest.mark.parametrize(
        "ids",
        [
            [4, 4, 1, 1, 1, 7],
            ["a", "a", "b", "b", "b", "c"],
            [0.5, 0.5, 2, 2, 2, 3],
            [b"x", b"x", b"y", b"y", b"y", b"z"],
        ],
    )
    @pytest.mark.parametrize("name", ["episode_id", "episode", "trajectory_id"])
    def test_an_episode_ends_where_its_id_changes(self, ids, name):
        fields = make(**{name: ids}, terminated=rows(1))
        assert fields.episode_ends.tolist() == [1, 4, 5]
        assert (at(fields.terminated), at(fields.truncated)) == ([1], [4, 5])
        assert "episodes end where their id changes (3 of them)" in fields.notes

    def test_patients_are_not_glued_together(self):
        fields = make(episode_id=[0, 0, 1, 1, 2, 2], terminated=rows(1, 5))
        next_known = load_known(fields)
        assert next_known == [True, False, True, False, True, False]

    def test_an_id_that_comes_back_is_known(self):
        assert make(episode_id=[0, 0, 1, 1, 0, 1]).returning.tolist() == [4, 5]
        assert not len(make(episode_id=[0, 0, 1, 1, 2, 2]).returning)

    def test_rows_without_an_id(self):
        with pytest.raises(DataError, match="Row 2 has no episode id"):
            make(episode_id=[0.0, 0, np.nan, 1, 1, 1])

    def test_ids_of_another_length(self):
        with pytest.raises(DataError, match="`episode` has 2 rows but `obs` has 6"):
            make(episode_id=[0, 1])

    def test_last_and_terminal_rows_as_in_rlds(self):
        fields = make(is_last=rows(1, 3), is_terminal=rows(3))
        assert (at(fields.terminated), at(fields.truncated)) == ([3], [1])

    def test_before_a_first_row_an_episode_ends(self):
        fields = make(is_first=rows(0, 2, 4))
        assert (at(fields.truncated), fields.episode_ends.tolist()) == ([1, 3], [1, 3, 5])

    def test_both_names_of_a_time_limit(self):
        assert at(make(timeout=rows(2)).truncated) == [2]
        assert at(make(terminal=rows(2)).terminated) == [2]


def load_known(fields):
    return fields.next_or_shifted()[1].tolist()


@pytest.mark.parametrize("ending", ["npz", "hdf5"])
def test_a_public_benchmarks_file_keeps_its_terminal_rows(log, save, tmp_path, ending):
    """Arrays obs, action, next_obs, reward, done, truncated, as they lie in the wild."""
    arrays = log()
    path = save(
        tmp_path / f"log.{ending}",
        {
            "obs": arrays["observations"],
            "action": arrays["actions"],
            "next_obs": arrays["next_observations"],
            "reward": arrays["rewards"],
            "done": arrays["terminals"] | arrays["timeouts"],
            "truncated": arrays["timeouts"],
        },
    )
    dataset = load(path)
    assert dataset.hash == load(arrays).hash
    assert dataset.unused == ()


@pytest.mark.parametrize("ending", ["npz", "hdf5"])
def test_ids_that_are_text_in_a_file(log, save, tmp_path, ending):
    arrays = log(rows=40)
    del arrays["timeouts"], arrays["next_observations"]
    ids = np.array([f"patient {row // 10}" for row in range(40)])
    stored = ids.astype("S") if ending == "hdf5" else ids
    path = save(tmp_path / f"log.{ending}", arrays | {"episode_id": stored})
    assert load(path).episode_ends.tolist() == [9, 19, 29, 39]


def test_breaks_by_hand():
    obs = np.array([[0.0], [1.0], [5.0], [6.0]])
    after = np.array([[1.0], [2.0], [6.0], [7.0]])
    assert breaks(obs, after).tolist() == [False, True, False, False]
    assert breaks(obs, None).tolist() == [False] * 4


def test_breaks_are_found_across_blocks():
    obs = np.zeros((BLOCK + 3, 2), np.float32)
    after = obs.copy()
    rows = [0, BLOCK - 1, BLOCK, BLOCK + 1]
    after[rows, 1] = 1
    after[-1] = 9  # The last row has no successor to differ from.
    assert np.flatnonzero(breaks(obs, after)).tolist() == rows
