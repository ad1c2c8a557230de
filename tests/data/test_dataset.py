import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countmorl.data.dataset import Dataset
from countmorl.data.sources import load
from countmorl.envs.tasks import TASKS
from countmorl.errors import DataError


@pytest.fixture
def dataset(log):
    return load(log())


def test_sizes_and_repr(dataset):
    assert (len(dataset), dataset.obs_dim, dataset.action_dim) == (60, 3, 2)
    assert repr(dataset) == "Dataset('arrays', 60 rows, 3 episodes, obs 3, action 2)"


def test_a_dataset_is_refused_where_a_number_is_missing(log):
    arrays = log()
    arrays["rewards"][7] = np.nan
    with pytest.raises(DataError, match=r"`reward`.*row 7"):
        load(arrays)


class TestHash:
    def test_is_of_the_contents_alone(self, log, save, tmp_path):
        dataset = load(log())
        other = load(save(tmp_path / "other.npz", log()))
        assert other.name != dataset.name
        assert other.hash == dataset.hash
        assert len(dataset.hash) == 64

    @pytest.mark.parametrize(
        "key", ["observations", "actions", "rewards", "next_observations", "terminals", "timeouts"]
    )
    def test_changes_with_any_single_value(self, log, key):
        arrays = log()
        before = load(arrays).hash
        values = arrays[key].copy()
        values[5] = ~values[5] if values.dtype == bool else values[5] / 2
        assert load(arrays | {key: values}).hash != before

    def test_changes_with_the_bounds(self, log):
        wide = log() | {"action_low": np.full(2, -2.0), "action_high": np.full(2, 2.0)}
        assert load(wide).hash != load(log()).hash

    @pytest.mark.parametrize("look", ["returns", "lengths", "card"])
    def test_does_not_depend_on_what_was_looked_at_before(self, log, look):
        seen, fresh = load(log()), load(log())
        value = getattr(seen, look)
        if callable(value):
            value = value()
        assert seen.hash == fresh.hash

    def test_the_card_prints_the_hash_that_a_run_records(self, dataset, log):
        assert dataset.card()["hash"] == load(log()).hash


class TestFirst:
    def test_cuts_within_an_episode(self, dataset):
        cut = dataset.first(25)
        assert len(cut) == 25
        assert cut.episode_ends.tolist() == [19, 24]
        np.testing.assert_array_equal(cut.obs, dataset.obs[:25])
        assert cut.truncated.sum() == 0
        assert cut.name == "arrays[:25]"

    def test_cuts_at_an_end(self, dataset):
        assert dataset.first(40).episode_ends.tolist() == [19, 39]

    def test_the_next_observation_at_the_cut_stays_known(self, log):
        v0 = log()
        del v0["next_observations"]
        cut = load(v0).first(25)
        assert cut.next_known[24]
        np.testing.assert_array_equal(cut.next_obs[24], v0["observations"][25])

    def test_more_rows_than_there_are_is_all_of_them(self, dataset):
        assert dataset.first(1000) is dataset

    def test_bounds_stay_those_of_the_whole(self, log):
        arrays = log()
        arrays["actions"][50] = 4
        assert load(arrays).first(10).space.high.tolist() == [4, 4]

    @pytest.mark.parametrize("rows", [0, -3])
    def test_less_than_one_row_is_refused(self, dataset, rows):
        with pytest.raises(DataError, match=f"at least 1, got {rows}"):
            dataset.first(rows)

    def test_works_after_the_returns_were_looked_at(self, dataset):
        assert len(dataset.returns) == 3
        assert len(dataset.first(25)) == 25


class TestActions:
    def test_are_scaled_by_hand(self):
        action = np.array([[0, 10], [5, 20], [2.5, 15], [1.25, 10]], np.float32)
        arrays = {"obs": np.eye(4), "action": action, "reward": np.arange(4)}
        dataset = load(arrays | {"action_low": [0, 10], "action_high": [5, 20]})
        assert dataset.transitions().action.tolist() == [[-1, -1], [1, 1], [0, 0], [-0.5, -1]]
        assert dataset.transitions().action.dtype == np.float32

    def test_within_one_are_not_touched(self, log):
        dataset = load(log() | {"action_low": -1.0, "action_high": 1.0})
        assert dataset.transitions().action is dataset.action

    @given(st.lists(st.floats(-1e4, 1e4, width=32), min_size=2, max_size=20))
    def test_scaled_actions_lie_within_one(self, values):
        count = len(values)
        arrays = {"obs": np.arange(count), "action": values, "reward": np.zeros(count)}
        assert np.abs(load(arrays).transitions().action).max() <= 1 + 1e-6

    def test_actions_that_the_slack_lets_pass_are_scaled_to_one(self, log):
        arrays = log() | {"action_low": np.full(2, -1.0), "action_high": np.ones(2)}
        arrays["actions"][3] = 1.0005
        assert np.abs(load(arrays).transitions().action).max() <= 1

    def test_a_rounding_error_does_not_narrow_the_bounds_of_a_known_task(self, log):
        arrays = log(obs=11, action=3)
        arrays["actions"][3, 0] = np.float32(1.0000001)
        dataset = load(arrays, task="hopper")
        np.testing.assert_allclose(dataset.space.low, -1, atol=1e-3)
        np.testing.assert_allclose(dataset.space.high, 1, atol=1e-3)


def test_without_any_known_next_observation_only_imitation_is_possible():
    arrays = {"obs": np.eye(3), "action": np.zeros(3), "reward": np.zeros(3)}
    dataset = load(arrays | {"truncated": np.ones(3, bool)})
    assert len(dataset.transitions("all").obs) == 3
    for rows in ("critic", "model"):
        with pytest.raises(DataError, match="nothing but imitation"):
            dataset.transitions(rows)


class TestTask:
    def test_is_replaced_where_the_sizes_fit(self, log):
        dataset = load(log(obs=11, action=3)).with_task(TASKS["hopper"])
        assert dataset.task is TASKS["hopper"]
        assert dataset.with_task(None).task is None

    def test_is_refused_where_they_do_not(self, dataset):
        with pytest.raises(DataError, match=r"'hopper' has 11 observation and 3 action.* 3 and 2"):
            dataset.with_task(TASKS["hopper"])


class TestCard:
    @pytest.fixture
    def card(self):
        arrays = {
            "obs": np.array([[0, 0], [2, 4], [4, 8], [6, 0]]),
            "action": np.array([-0.5, 0.5, 0, 1]),
            "reward": np.array([100, 200, 1000, 7]),
            "terminated": np.array([False, True, False, False]),
            "truncated": np.array([False, False, True, False]),
        }
        return load(arrays, task=None).with_task(None).card()

    def test_rows_and_episodes(self, card):
        assert (card["rows"], card["episodes"], card["finished_episodes"]) == (4, 3, 2)
        assert (card["terminated"], card["truncated"], card["next_unknown"]) == (1, 1, 3)
        assert card["length"] == {"mean": 1.5, "min": 1, "max": 2}

    def test_returns_are_of_finished_episodes(self, card):
        assert card["return"] == {"mean": 650, "std": 350, "min": 300, "max": 1000}
        assert card["score"] == {"mean": None, "std": None}

    def test_ranges(self, card):
        assert card["obs_range"]["low"] == [0, 0]
        assert card["obs_range"]["high"] == [6, 8]
        assert card["obs_range"]["mean"] == [3, 3]
        np.testing.assert_allclose(card["obs_range"]["std"], [5**0.5, 11**0.5])
        assert card["action_bounds"] == {
            "low": card["action_range"]["low"],
            "high": card["action_range"]["high"],
        }
        assert card["reward_range"]["high"] == [1000]

    def test_score_by_hand(self, log):
        arrays = log(obs=11, action=3, rows=40)
        arrays["rewards"][:20] = 10
        arrays["rewards"][20:] = 30
        dataset = load(arrays, task="hopper")
        score = dataset.card()["score"]
        # Returns 200 and 600: mean 400, spread 200. References -20.272305 and 3234.3.
        assert score["mean"] == pytest.approx(100 * 420.272305 / 3254.572305)
        assert score["std"] == pytest.approx(100 * 200 / 3254.572305)
        assert dataset.earned == (400.0, pytest.approx(score["mean"]))

    def test_an_unfinished_episode_alone_is_summed_up(self):
        arrays = {"obs": np.eye(3), "action": np.zeros(3), "reward": np.array([1, 2, 4])}
        dataset = load(arrays)
        card = dataset.card()
        assert dataset.earned == (7, None)
        assert (card["finished_episodes"], card["return"]["mean"]) == (1, 7)


def test_a_dataset_cannot_be_changed(dataset):
    with pytest.raises(AttributeError):
        dataset.name = "other"
    assert isinstance(dataset, Dataset)
