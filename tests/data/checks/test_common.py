import numpy as np

from countmorl.data.checks.common import Timeline, named, of_columns, of_rows, own_columns
from countmorl.data.fields import Fields
from countmorl.schema import Column, Schema, schema_bytes


def fields(**more):
    arrays = {
        "obs": np.array([[0.0, 5], [1, 5], [2, 5], [3, 5], [4, 5]]),
        "action": np.linspace(-1, 1, 5),
        "reward": np.zeros(5),
        "truncated": np.array([0, 1, 0, 0, 1]),
    }
    return Fields.of(arrays | more, name="log")


def test_a_timeline_by_hand():
    timeline = Timeline.of(fields())
    assert timeline.starts.tolist() == [0, 2]
    assert timeline.lengths.tolist() == [2, 3]
    assert timeline.within.tolist() == [True, False, True, True]
    assert timeline.steps().tolist() == [0, 1, 0, 1, 2]


def test_columns_that_vary_are_given_in_one_piece():
    ((index, column),) = own_columns(fields(), "obs")
    assert (index, column.tolist(), column.flags.c_contiguous) == (0, [0, 1, 2, 3, 4], True)
    assert list(own_columns(fields(reward=np.array([np.nan, 1, 2, 3, 4])), "reward")) == []


def test_rows_and_columns_are_named(with_names, walk):
    assert of_rows("error", "x", np.arange(7), "odd").message == "odd (7 rows: 0, 1, 2, 3, 4, ...)"
    assert of_rows("error", "x", np.array([1234]), "odd").message == "odd (1 row: 1,234)"
    assert named(fields(), "obs", [0, 1]) == "columns [0, 1]"
    schemed = Fields.of(with_names(walk(), "age", "lab", "pulse"), name="log")
    assert named(schemed, "obs", [0, 2]) == "columns age, pulse"
    assert named(schemed, "action", [1]) == "columns flow"
    found = of_columns("warning", "x", schemed, "obs", [1], "are odd")
    assert (found.message, found.count) == ("`obs` columns lab are odd", 1)


def test_what_history_copies_is_seen_once(walk):
    arrays = walk()
    schema = Schema(
        obs=(Column(name="x"),), action=(Column(name="a"),), history=2
    )  # x, then x and a of the row before.
    arrays |= {"action": arrays["action"][:, :1], "schema": schema_bytes(schema)}
    assert [i for i, _ in own_columns(Fields.of(arrays, name="log"), "obs")] == [0]
