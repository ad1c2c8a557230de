import numpy as np
import pytest

from countmorl.data.tables.steps import known_flags, make_steps, position
from countmorl.errors import DataError

LOG = {
    "id": [1, 1, 1, 1, 2, 2],
    "x": [1.0, 2.0, None, 4.0, 5.0, 6.0],
    "a": [0.0, 1.0, 0.0, 1.0, 0.0, 1.0],
    "r": [1.0, 2.0, 4.0, 8.0, 16.0, 32.0],
    "d": [False, False, False, True, False, False],
    "c": [None, False, False, False, False, True],
}


def steps(read, skip=1, **how):
    found, order, reward, flags, _ = read(LOG, **({"missing": ["x=0", "c=false"]} | how))
    return make_steps(found, order, reward, known_flags(found, flags), skip)


def test_ends_and_cuts(read):
    made = steps(read, terminated="d")
    assert made.terminated.tolist() == [False, False, False, True, False, False]
    assert made.truncated.tolist() == [False, False, False, False, False, True]
    assert (made.ends.tolist(), made.dropped, made.findings) == ([3, 5], 0, ())


def test_a_dropped_row_breaks_the_episode(read):
    made = steps(read, missing=["x=drop"], terminated="d")
    assert made.rows.tolist() == [0, 1, 3, 4, 5]
    assert made.starts.tolist() == [True, False, True, True, False]
    assert made.truncated.tolist() == [False, True, False, False, True]
    assert (made.reward.tolist(), made.dropped) == ([1, 2, 8, 16, 32], 1)


def test_rows_of_one_step_are_added_up(read):
    made = steps(read, skip=3, terminated="d", truncated="c")
    assert made.taken.tolist() == [True, False, False, True, True, False]
    assert made.reward.tolist() == [7, 8, 48]
    assert made.terminated.tolist() == [False, True, False]
    assert made.truncated.tolist() == [False, False, True]


def test_an_end_after_which_the_id_goes_on_is_a_finding(read):
    made = steps(read, terminated="r = 2", truncated="r = 2")
    kinds = {finding.kind: finding.rows for finding in made.findings}
    assert kinds == {"ends-within": (2,), "both-flags": (2,)}
    assert made.starts.tolist() == [True, False, True, False, True, False]
    assert made.terminated[1]
    assert not made.truncated[1]


def test_dropping_everything_is_refused(read):
    empty = LOG | {"x": [1.0, *[None] * 5], "a": [None, *[1.0] * 5]}
    found, order, reward, flags, _ = read(empty, missing=["drop"])
    with pytest.raises(DataError, match="all would be dropped"):
        make_steps(found, order, reward, flags, 1)


def test_position_goes_on_from_the_block_before():
    starts = np.array([False, False, True, False])
    assert position(starts, 5).tolist() == [5, 6, 0, 1]
