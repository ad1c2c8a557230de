"""Counting by distance without JAX: as judging counts."""

import numpy as np
import pytest

from countmorl.coverage.density import neighbours_of
from countmorl.errors import DataError, RunError
from countmorl.evaluation.support import Support
from countmorl.files import read_arrays, write_arrays
from countmorl.runtime.neighbours import Neighbours
from worlds import chain_log, linear_log


@pytest.mark.parametrize("data", [linear_log(40), chain_log(30)], ids=["numbers", "choices"])
def test_as_judging_counts(data):
    near, rng = neighbours_of(data, None), np.random.default_rng(0)
    obs = np.concatenate([data.obs, 3 * rng.standard_normal(data.obs.shape).astype(np.float32)])
    action = np.concatenate([data.action, data.action[::-1]])
    found = near.counts(obs, action)
    wanted = Support.of(data, None).counts(obs, data.space.vectors(action))
    np.testing.assert_array_equal(found.count, wanted)
    assert found.members.shape == (1, len(obs))
    assert set(found.level[found.count == 0]) == {"unseen"}
    assert set(found.level[(found.count > 0) & (found.count < 5)]) <= {"thin"}


def test_actions_in_the_logs_own_numbers():
    data = chain_log(30)
    near = neighbours_of(data, None)
    number, vector = (
        near.counts(data.obs[:4], data.action[:4].argmax(axis=1)),
        near.counts(data.obs[:4], data.action[:4]),
    )
    np.testing.assert_array_equal(number.count, vector.count)


def test_saved_and_loaded(tmp_path):
    data = linear_log(40)
    near = neighbours_of(data, None)
    near.save(tmp_path / "near.safetensors")
    back = Neighbours.load(tmp_path / "near.safetensors")
    pairs = data.obs[:50], data.action[:50]
    np.testing.assert_array_equal(near.counts(*pairs).count, back.counts(*pairs).count)


def test_what_does_not_fit_is_a_sentence(tmp_path):
    near = neighbours_of(linear_log(40), None)
    with pytest.raises(DataError, match="Neighbours want observations of 1"):
        near.counts(np.zeros((2, 3)), np.zeros((2, 1)))
    with pytest.raises(DataError, match="finite actions"):
        near.counts(np.zeros((1, 1)), np.full((1, 1), np.nan))
    path = tmp_path / "near.safetensors"
    near.save(path)
    arrays, meta = read_arrays(path)
    for other, about, sentence in (
        (arrays | {"reach": arrays["reach"][:-1]}, meta, "do not fit together"),
        ({k: v for k, v in arrays.items() if k != "kind"}, meta, "incomplete: 'kind'"),
        (arrays, meta | {"format": 7}, "not a file of neighbours"),
    ):
        write_arrays(path, other, about)
        with pytest.raises(RunError, match=sentence):
            Neighbours.load(path)
