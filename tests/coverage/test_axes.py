"""Columns cut into ranges that are said as they are counted."""

import numpy as np
import pytest

from countmorl import load
from countmorl.coverage.axes import Axis, Table
from countmorl.schema import Column, Schema, schema_bytes

CUT = Axis(name="dose", cuts=(1.0, 2.0), unit="mg")
NAMED = Axis(name="ward", values=(0.0, 1.0), labels=("not B", "B"), ordered=False)


def test_a_number_on_a_cut_is_below_it():
    assert CUT.places(np.array([0.0, 1.0, 1.5, 2.0, 2.1])).tolist() == [0, 0, 1, 1, 2]


def test_ranges_in_words():
    said = {CUT.ranges[n]: CUT.said(n) for n in range(len(CUT.ranges))}
    assert said == {
        (0, 0): "dose up to 1 mg",
        (0, 1): "dose up to 2 mg",
        (1, 1): "dose from 1 to 2 mg",
        (1, 2): "dose above 1 mg",
        (2, 2): "dose above 2 mg",
        (0, 2): "",
    }
    assert [NAMED.said(n) for n in range(3)] == ["ward is not B", "ward is B", ""]


def test_what_is_said_is_what_is_counted():
    x = np.array([0.5, 1.0, 1.7, 2.0, 9.0])
    place = {CUT.said(n): CUT.holds(n, x).tolist() for n in range(len(CUT.ranges))}
    assert place["dose above 1 mg"] == (x > 1).tolist()
    assert place["dose from 1 to 2 mg"] == ((x > 1) & (x <= 2)).tolist()
    assert place["dose up to 2 mg"] == (x <= 2).tolist()


def test_members_are_the_places_of_each_range():
    for (first, last), row in zip(CUT.ranges, CUT.members, strict=True):
        assert row.tolist() == [float(first <= place <= last) for place in range(3)]


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    schema = Schema(
        obs=(
            Column(name="glucose", unit="mg/dL"),
            Column(name="ward", kind="category", values=("A", "B")),
            Column(name="fever", kind="boolean"),
            Column(name="pain", kind="scale", values=("none", "some", "much")),
        ),
        action=(Column(name="drug", kind="category", values=("none", "aspirin")),),
    )
    ward = rng.integers(0, 2, 200)
    obs = np.stack(
        [rng.uniform(60, 400, 200), ward == 0, ward == 1, ward == 1, rng.integers(0, 3, 200)], 1
    )
    return Table.of(
        load(
            {
                "obs": obs.astype(np.float32),
                "action": rng.integers(0, 2, 200),
                "action_count": 2,
                "reward": rng.standard_normal(200).astype(np.float32),
                "truncated": np.ones(200, bool),
                "next_obs": obs.astype(np.float32),
                "schema": schema_bytes(schema),
            }
        )
    )


def test_the_words_are_the_schemas_own(table):
    last = [axis.said(len(axis.ranges) - 2) for axis in table.axes]
    assert last[0].startswith("glucose above 3")
    assert last[0].endswith(" mg/dL")
    assert last[1:] == [
        "ward is A",
        "ward is B",
        "fever is true",
        "pain is much",
        "drug is aspirin",
    ]
    assert table.axes[4].said(1) == "pain from none to some"
    assert table.pairs(actions=True) == [(i, 5) for i in range(5)]
    assert (1, 2) not in table.pairs(actions=False)  # Both are wards.
    assert len(table.pairs(actions=False)) == 9


def test_discrete_actions_are_one_column(table):
    numbers = table.numbers(np.zeros((2, 5)), np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert numbers[:, -1].tolist() == [0, 1]
    assert numbers.shape == (2, 6)


def test_cuts_are_rounded_to_what_the_column_shows():
    data = load({"obs": np.linspace(1000, 1001, 101).reshape(-1, 1), **rest(101)})
    cuts = Table.of(data).axes[0].cuts
    assert cuts == (1000.05, 1000.1, 1000.25, 1000.5, 1000.75, 1000.9, 1000.95)


def rest(rows):
    return {
        "action": np.zeros((rows, 1), np.float32),
        "action_low": -np.ones(1),
        "action_high": np.ones(1),
        "reward": np.arange(rows, dtype=np.float32),
        "next_obs": np.zeros((rows, 1), np.float32),
        "truncated": np.ones(rows, bool),
    }
