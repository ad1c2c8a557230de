import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countmorl.data.tables.episodes import Rows, gap_length, put_in_order
from countmorl.errors import ConfigError

WHERE = Rows(lambda row: f"row {row + 1}")


def order(ids=None, time=None, flag=None, gap=None, count=None):
    arrays = [None if a is None else np.array(a) for a in (ids, time, flag)]
    count = count or len(next(a for a in arrays if a is not None))
    return put_in_order(*arrays, gap, count, WHERE)


def test_what_is_in_order_stays_so():
    found = order(ids=[7, 7, 3, 3], time=[0, 1, 0, 5])
    assert found.rows is None
    assert found.starts.tolist() == [True, False, True, False]
    assert found.findings == ()


def test_one_endless_stream():
    assert order(count=3).starts.tolist() == [True, False, False]


def test_rows_of_an_id_are_brought_together_by_first_appearance():
    found = order(ids=[9, 2, 9, 2])
    assert found.rows.tolist() == [0, 2, 1, 3]
    assert found.starts.tolist() == [True, False, True, False]
    (finding,) = found.findings
    assert (finding.kind, finding.rows, finding.count) == ("overlapping-ids", (3, 4), 2)
    assert "first in row 3" in finding.message


def test_rows_are_sorted_by_time_and_equal_ones_stay():
    found = order(ids=[1, 1, 1, 1, 2], time=[3, 1, 3, 2, 0])
    assert found.rows.tolist() == [1, 3, 0, 2, 4]
    kinds = {finding.kind: finding.rows for finding in found.findings}
    assert kinds == {"time-backwards": (2, 4), "duplicate-times": (3,)}


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=40))
def test_order_is_by_first_appearance_then_time_then_row(pairs):
    ids, time = map(list, zip(*pairs, strict=True))
    found = order(ids=ids, time=time)
    wanted = sorted(range(len(ids)), key=lambda row: (ids.index(ids[row]), time[row], row))
    rows = range(len(ids)) if found.rows is None else found.rows
    assert list(rows) == wanted
    again = [
        row for row in range(1, len(ids)) if ids[row] != ids[row - 1] and ids[row] in ids[:row]
    ]
    counts = {finding.kind: finding.count for finding in found.findings}
    assert counts.get("overlapping-ids", 0) == len(again)


def test_more_ids_than_sixteen_bits_can_number():
    ids = np.tile(np.arange(70_000)[::-1], 2)
    found = order(ids=ids, time=np.repeat([2, 1], 70_000))
    assert found.rows[:4].tolist() == [70_000, 0, 70_001, 1]
    assert found.starts.sum() == 70_000


def test_time_that_begins_again_with_the_next_id_does_not_run_backwards():
    assert order(ids=[1, 1, 2], time=[8, 9, 0]).findings == ()


def test_gaps_and_flags_cut():
    found = order(time=[0.0, 1.0, 3.0, 5.1], gap=2.0)
    assert found.starts.tolist() == [True, False, False, True]
    found = order(ids=[1, 1, 1, 2], flag=[False, False, True, False])
    assert found.starts.tolist() == [True, False, True, True]
    assert found.group_starts.tolist() == [True, False, False, True]


def test_rows_that_are_only_some_of_the_table():
    rows = Rows(lambda row: f"row {row + 1}", np.array([4, 6, 9]))
    assert rows.finding("odd", np.array([2, 1]), "so").rows == (7, 10)


@pytest.mark.parametrize(
    ("gap", "dated", "length"),
    [
        ("2h", True, 7.2e9),
        ("30 s", True, 3e7),
        ("1.5d", True, 1.296e11),
        ("5", False, 5),
        (2, False, 2),
    ],
)
def test_lengths_of_gaps(gap, dated, length):
    assert gap_length(gap, dated=dated, has_time=True) == length


@pytest.mark.parametrize(
    ("gap", "dated", "has_time", "words"),
    [
        ("2h", True, False, "--time"),
        ("2 parsecs", True, True, "30s, 10m"),
        ("h", True, True, "30s, 10m"),
        ("3", True, True, "needs a unit"),
        ("2h", False, True, "plain number"),
    ],
)
def test_gaps_that_mean_nothing(gap, dated, has_time, words):
    with pytest.raises(ConfigError, match=words):
        gap_length(gap, dated=dated, has_time=has_time)
    assert gap_length(None, dated=dated, has_time=has_time) is None
