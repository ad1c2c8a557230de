import numpy as np
import pytest

from countmorl.data.tables.importing import import_arrays
from countmorl.data.tables.output import write_rest
from countmorl.data.tables.request import request_of
from countmorl.data.tables.steps import Steps
from countmorl.errors import DataError
from countmorl.schema import Column, Schema, schema_of

ASKED = {"obs": "x", "action": "a", "reward": "r"}


def imported(columns, **how):
    return import_arrays(columns, request_of(ASKED | how), name="log")


def test_bounds_and_where_they_are_broken():
    log = {"x": [1, 2, 3, 4, 5], "a": [0.0, 1.0, 2.0, 2.0, 5.0], "r": [0] * 5}
    dataset, found = imported(log, action_low=-1, action_high=[5])
    assert (dataset.space.low.tolist(), dataset.space.high.tolist()) == ([-1], [5])
    assert (found.bounds[0].on_low, found.bounds[0].on_high) == (0, 0.2)
    with pytest.raises(DataError, match="is 5 in row 5, outside"):
        imported(log, action_high=3, frame_skip=2)
    with pytest.raises(DataError, match="is one of a list and has no bounds"):
        imported(log, action_high=3, actions="discrete")


def test_discrete_actions_and_their_shares():
    log = {"x": [1, 2, 3, 4], "a": ["up", "down", "up", "up"], "r": [0] * 4}
    dataset, found = imported(log)
    assert dataset.action.tolist() == [[0, 1], [1, 0], [0, 1], [0, 1]]
    assert found.shares == {"down": 0.25, "up": 0.75}
    with pytest.raises(DataError, match="'stay' in every row"):
        imported(log | {"a": ["stay"] * 4})


def test_small_arrays_are_written():
    made: dict[str, np.ndarray] = {}

    def make(name, shape, dtype):
        made[name] = np.empty(shape, dtype)
        return made[name]

    column = Column(name="a", kind="category", values=("l", "r"))
    schema = Schema(obs=(Column(name="x"),), action=(column,))
    ends = np.array([False, True])
    steps = Steps(
        rows=None,
        starts=~ends,
        taken=None,
        reward=np.array([1.0, 2.0]),
        terminated=ends,
        truncated=~ends & False,
        dropped=0,
        findings=(),
    )
    write_rest(schema, np.array([1, 0]), [], steps, make)
    assert (made["action_count"], made["episode_ends"].tolist()) == (2, [1])
    assert made["rewards"].dtype == np.float32
    assert schema_of(made["schema"]) == schema
