import numpy as np
import pytest

from countmorl.errors import DataError, RunError
from countmorl.files import write_arrays
from countmorl.runtime.tabular import TabularPolicy

CHANCES = np.array([[0.2, 0.8], [1.0, 0.0], [0.5, 0.5]])


def make(chances=CHANCES, **changes):
    parts = {"probabilities": chances, "counts": np.ones((3, 2)), "info": {"task": "x"}}
    return TabularPolicy(**(parts | changes))


class TestAct:
    @pytest.mark.parametrize(
        ("obs", "action"), [(0, 1), (np.int64(1), 0), (np.array([0]), 1), (np.float32([1.0]), 0)]
    )
    def test_one_state_is_a_number_or_an_observation(self, obs, action):
        assert make().act(obs) == action
        assert isinstance(make().act(obs), int)

    def test_a_batch(self):
        actions = make().act(np.array([[1.0], [0.0], [0.0]], np.float32))
        assert actions.tolist() == [0, 1, 1]
        assert make().act(np.zeros((0, 1))).shape == (0,)

    def test_samples_are_as_likely_as_the_table_says(self):
        actions = make().act(np.zeros((20_000, 1)), rng=np.random.default_rng(0))
        assert actions.mean() == pytest.approx(0.8, abs=0.01)
        assert not make().act(np.ones((1000, 1)), rng=np.random.default_rng(0)).any()
        assert make().act(2, rng=np.random.default_rng(1)) in (0, 1)

    @pytest.mark.parametrize("state", [3, -1, 0.5, np.nan])
    def test_another_state_is_refused(self, state):
        with pytest.raises(DataError, match="is not one of the policy's 3 states"):
            make().act(np.array([state]))

    @pytest.mark.parametrize("shape", [(2,), (4, 2), (0,)])
    def test_another_shape_is_refused(self, shape):
        with pytest.raises(DataError, match=r"\[1\] or a batch \[n, 1\]; got an array of shape"):
            make().act(np.zeros(shape))


def test_its_sizes_are_those_of_other_policies():
    policy = make()
    assert (policy.obs_dim, policy.action_dim, policy.discrete) == (1, 2, True)


class TestFile:
    def test_loading_gives_the_same_policy(self, tmp_path):
        make().save(tmp_path / "policy.safetensors")
        for place in (tmp_path, tmp_path / "policy.safetensors"):
            again = TabularPolicy.load(place)
            np.testing.assert_array_equal(again.probabilities, CHANCES)
            np.testing.assert_array_equal(again.counts, np.ones((3, 2)))
            assert again.info == {"task": "x"}

    def test_another_kind_of_file(self, tmp_path):
        write_arrays(tmp_path / "p", {"x": np.zeros(1)}, {"kind": "policy"})
        with pytest.raises(RunError, match="is not a tabular-policy; it is a policy file"):
            TabularPolicy.load(tmp_path / "p")

    @pytest.mark.parametrize("lost", ["probabilities", "counts", "info"])
    def test_a_missing_part(self, tmp_path, lost):
        arrays = {"probabilities": CHANCES, "counts": np.ones((3, 2))}
        arrays.pop(lost, None)
        meta = {"kind": "tabular-policy"} | ({} if lost == "info" else {"info": {}})
        write_arrays(tmp_path / "p", arrays, meta)
        with pytest.raises(RunError, match=f"not a complete policy: '{lost}'"):
            TabularPolicy.load(tmp_path / "p")

    @pytest.mark.parametrize(
        "chances",
        [np.full((3, 2), np.nan), np.ones(3), np.ones((2, 2)), np.ones((3, 0))],
        ids=["NaN", "one column", "other states", "no actions"],
    )
    def test_what_could_not_act(self, chances):
        counts = np.ones((3, 0)) if chances.size == 0 else np.ones((3, 2))
        with pytest.raises(RunError, match="cannot be used: it wants finite probabilities"):
            make(chances, counts=counts)

    @pytest.mark.usefixtures("unchecked")
    def test_a_description_that_is_no_table(self):
        with pytest.raises(RunError, match="a table that says where it comes from"):
            make(info=["a list"])
