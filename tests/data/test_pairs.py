import numpy as np
import pytest

from countmorl.data.pairs import load_pairs
from countmorl.errors import DataError
from countmorl.spaces import ActionSpace

BOX = ActionSpace(low=-np.ones(2, np.float32), high=np.ones(2, np.float32))


@pytest.mark.parametrize("ending", ["npz", "hdf5"])
def test_observations_and_actions_are_enough(log, save, tmp_path, ending):
    arrays = {key: values for key, values in log().items() if key in ("observations", "actions")}
    pairs = load_pairs(save(tmp_path / f"log.{ending}", arrays), BOX)
    np.testing.assert_array_equal(pairs.obs, arrays["observations"])
    np.testing.assert_array_equal(pairs.action, arrays["actions"])
    assert pairs.name == "log"


@pytest.mark.parametrize("ending", ["npz", "hdf5"])
def test_nothing_else_is_read(log, save, tmp_path, ending):
    spoilt = log() | {"rewards": np.array([b"text"] * 60), "terminals": np.full(60, 7)}
    spoilt |= {"dones": np.ones(60, bool)}
    assert len(load_pairs(save(tmp_path / f"log.{ending}", spoilt), BOX).obs) == 60


@pytest.mark.parametrize("action", [[3], [0.0], [[1.0]]])
def test_the_run_says_what_a_single_number_is(save, tmp_path, action):
    path = save(tmp_path / "log.npz", {"obs": np.zeros((1, 3)), "action": np.array(action)})
    assert load_pairs(path, ActionSpace.numbered(5)).action.shape == (1, 5)
    one = ActionSpace(low=-np.ones(1, np.float32), high=np.ones(1, np.float32))
    assert load_pairs(path, one).action.tolist() == np.reshape(action, (1, 1)).tolist()


def test_a_choice_that_the_run_does_not_know(save, tmp_path):
    path = save(tmp_path / "log.npz", {"obs": np.zeros((2, 3)), "action": np.array([1, 7])})
    with pytest.raises(DataError, match="row 1 holds 7"):
        load_pairs(path, ActionSpace.numbered(5))


def test_what_the_log_says_itself_counts(save, tmp_path):
    arrays = {"obs": np.zeros((2, 3)), "action": np.array([1, 0]), "action_count": np.array(2)}
    with pytest.raises(DataError, match="has discrete actions, but the run was trained on"):
        load_pairs(save(tmp_path / "log.npz", arrays), BOX)


def test_bad_numbers_are_refused(log, save, tmp_path):
    arrays = log()
    arrays["actions"][4] = np.nan
    with pytest.raises(DataError, match="`action` of 'log' is NaN or infinite"):
        load_pairs(save(tmp_path / "log.npz", arrays), BOX)


def test_what_has_another_reader_is_read_by_it(log, save, tmp_path):
    with pytest.raises(DataError, match="No dataset named 'nowhere'"):
        load_pairs("nowhere", BOX)
    with pytest.raises(DataError, match="There is no file"):
        load_pairs(tmp_path / "none.npz", BOX)
    with pytest.raises(DataError, match="has no `action`"):
        load_pairs(save(tmp_path / "log.npz", {"obs": np.zeros((2, 3))}), BOX)
