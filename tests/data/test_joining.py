import numpy as np
import pytest

from countmorl.data.joining import concatenate
from countmorl.data.sources import load
from countmorl.errors import DataError


def test_rows_and_ends(log):
    first, second = load(log()), load(log(rows=30))
    joined = concatenate({"a": first, "b": second}, "both")
    assert (len(joined), joined.name) == (90, "both")
    assert joined.episode_ends.tolist() == [19, 39, 59, 79, 89]
    np.testing.assert_array_equal(joined.obs[60:], second.obs)


def test_bounds_hold_both(log):
    wide = load(log() | {"action_low": [-3, -2], "action_high": [2, 0.95]})
    joined = concatenate({"a": load(log()), "b": wide}, "both")
    assert joined.space.low.tolist() == [-3, -2]
    assert joined.space.high.tolist() == [2, np.float32(0.95)]


def test_other_sizes_are_refused(log):
    with pytest.raises(DataError, match="'b' has other sizes"):
        concatenate({"a": load(log()), "b": load(log(obs=4))}, "both")
