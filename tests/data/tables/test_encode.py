import numpy as np
import pytest

from countmorl.data.tables.encode import Encoder, settle, spread
from countmorl.data.tables.importing import _schema
from countmorl.data.tables.steps import known_flags, make_steps
from countmorl.errors import DataError
from countmorl.schema import Column


def encoded(read, log, /, *, blocks=100, **how):
    found, order, reward, flags, request = read(log, **how)
    steps = make_steps(found, order, reward, known_flags(found, flags), request.frame_skip)
    readers = settle(found, history=request.history)
    schema = _schema(found.layout, [reader.column for reader in readers], request)
    encoder, count = Encoder(found, steps, readers, schema), len(steps.starts)
    parts = [encoder.block(a, min(a + blocks, count)) for a in range(0, count, blocks)]
    obs, action = (np.concatenate(part) for part in zip(*parts, strict=True))
    return schema, obs, action


LOG = {
    "id": [1, 1, 1, 2, 2],
    "x": [1.0, None, 3.0, 4.0, None],
    "w": ["u", "v", None, "v", "w"],
    "t": ["2024-01-01 06:00", "2024-01-01 18:00", None, "2024-01-07 00:00", "2024-01-08 12:00"],
    "a": [0.1, 0.2, 0.3, 0.4, 0.5],
    "r": [0.0] * 5,
}


@pytest.mark.parametrize("blocks", [1, 2, 100])
def test_missing_values_by_hand(read, blocks):
    for rule, wanted in (
        ("carry", [[1], [1], [3], [4], [4]]),
        ("7", [[1], [7], [3], [4], [7]]),
        ("median", [[1, 0], [3, 1], [3, 0], [4, 0], [3, 1]]),
    ):
        schema, obs, _ = encoded(read, LOG, blocks=blocks, missing=[f"x={rule}"])
        assert obs.tolist() == wanted
    assert schema.obs[0].fill == 3
    _, obs, _ = encoded(read, LOG, blocks=blocks, missing=["x=drop"])
    assert obs.tolist() == [[1], [3], [4]]


def test_a_median_that_nobody_needs_is_none(read):
    schema, obs, _ = encoded(read, LOG | {"x": [1.0, 2.0, 3.0, 4.0, 5.0]}, missing=["x=median"])
    assert schema.now == ("x",)
    assert schema.obs[0].missing == "refuse"
    assert obs.shape == (5, 1)


def test_words(read):
    schema, obs, _ = encoded(read, LOG, obs=["w"], missing=["w=carry"])
    assert schema.now == ("w=u", "w=v", "w=w")
    assert obs.argmax(axis=1).tolist() == [0, 1, 1, 1, 2]
    schema, obs, _ = encoded(read, LOG, obs=["w"], missing=["w=none"])
    assert schema.now == ("w=none", "w=u", "w=v", "w=w")
    assert (schema.obs[0].fill, obs.argmax(axis=1).tolist()) == (0.0, [1, 2, 0, 2, 3])
    columns = {"w": {"kind": "scale", "values": ["w", "v", "u"]}}
    _, obs, _ = encoded(read, LOG, obs=["w"], columns=columns, missing=["w=median"])
    assert obs.tolist() == [[2, 0], [1, 0], [1, 1], [1, 0], [0, 0]]
    columns = {"w": {"values": ["v"], "unknown": "other"}}
    schema, obs, _ = encoded(read, LOG, obs=["w"], columns=columns, missing=["w=v"])
    assert schema.now == ("w=v", "w=other")
    assert obs[:, 0].tolist() == [0, 1, 1, 1, 0]


@pytest.mark.parametrize("blocks", [1, 2, 100])
def test_times(read, blocks):
    _, obs, _ = encoded(read, LOG, obs=["t"], missing=["t=carry"], blocks=blocks)
    assert obs[:, 0].tolist() == [0, 12, 12, 0, 36]
    columns = {"t": {"kind": "hour"}}
    _, obs, _ = encoded(read, LOG, obs=["t"], columns=columns, missing=["t=drop"], blocks=blocks)
    np.testing.assert_allclose(obs, [[1, 0], [-1, 0], [0, 1], [0, -1]], atol=1e-6)
    columns = {"t": {"kind": "weekday"}}  # Monday, Sunday and Monday.
    _, obs, _ = encoded(read, LOG, obs=["t"], columns=columns, missing=["t=drop"], blocks=blocks)
    sunday = 2 * np.pi * 6 / 7
    np.testing.assert_allclose(obs[:, 0], [0, 0, np.sin(sunday), 0], atol=1e-6)
    np.testing.assert_allclose(obs[:, 1], [1, 1, np.cos(sunday), 1], atol=1e-6)


def test_numbers_that_are_times(read):
    log = LOG | {"t": [100.0, 101.5, 103.0, 7.0, 9.0]}
    _, obs, _ = encoded(read, log, obs=["t"], columns={"t": {"kind": "elapsed"}})
    assert obs[:, 0].tolist() == [0, 1.5, 3, 0, 2]


def test_a_value_that_is_missing_from_the_start(read):
    late = LOG | {"x": [1.0, 2.0, 3.0, None, 5.0]}
    with pytest.raises(DataError, match=r"'x' is missing from the start of an episode.*row 4"):
        encoded(read, late, missing=["x=carry"], blocks=2)


@pytest.mark.parametrize("blocks", [1, 2, 3, 100])
def test_history_repeats_the_first_and_takes_the_usual_action(read, blocks):
    log = LOG | {"x": [1.0, 2.0, 3.0, 10.0, 20.0]}
    schema, obs, action = encoded(read, log, history=3, blocks=blocks)
    assert schema.obs_names == ("x", "x@-1", "a@-1", "x@-2", "a@-2")
    np.testing.assert_allclose(
        obs,
        [
            [1, 1, 0.3, 1, 0.3],
            [2, 1, 0.1, 1, 0.3],
            [3, 2, 0.2, 1, 0.1],
            [10, 10, 0.3, 10, 0.3],
            [20, 10, 0.4, 10, 0.3],
        ],
    )
    np.testing.assert_allclose(action[:, 0], log["a"])
    np.testing.assert_allclose(schema.action[0].fill, 0.3)


@pytest.mark.parametrize("blocks", [1, 2, 100])
def test_history_of_steps_that_skip_rows_and_discrete_actions(read, blocks):
    log = {
        "x": [0.0, 1.0, 2.0, 3.0, 4.0],
        "a": ["l", "l", "r", "l", "l"],
        "r": [1.0] * 5,
    }
    schema, obs, action = encoded(read, log, history=2, frame_skip=2, blocks=blocks)
    assert schema.obs_names == ("x", "x@-1", "a=l@-1", "a=r@-1")
    assert obs.tolist() == [[0, 0, 0, 0], [2, 0, 1, 0], [4, 2, 0, 1]]
    assert action.tolist() == [[1, 0], [0, 1], [1, 0]]


def test_spread_by_hand():
    number = Column(name="x", missing="median", fill=1.0)
    missing = np.array([False, True])
    assert spread(number, np.array([5.0, 1.0]), missing).tolist() == [[5, 0], [1, 1]]
    assert spread(number, np.array([5.0]), None).tolist() == [[5, 0]]
