"""A schema from a file is checked before a policy trusts it."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from countmorl.configs import to_json
from countmorl.errors import RunError
from countmorl.runtime.checks import schema_problem, stored_schema
from countmorl.schema import Column, Schema

SCHEMA = Schema(obs=(Column(name="x"),), action=(Column(name="dose", fill=0.5),), history=2)
TABLE = to_json(SCHEMA)


def sizes(obs_dim=3, action_dim=1, discrete=False):
    return SimpleNamespace(obs_dim=obs_dim, action_dim=action_dim, discrete=discrete)


def test_what_was_stored():
    assert stored_schema(Path("p"), TABLE) == SCHEMA
    assert stored_schema(Path("p"), None) is None


@pytest.mark.parametrize(
    "stored",
    [
        3,
        "text",
        [],
        {},
        TABLE | {"obs": []},
        TABLE | {"obs": [3]},
        TABLE | {"history": "2"},
        TABLE | {"history": 0},
        TABLE | {"surprise": 1},
        TABLE | {"obs": [TABLE["obs"][0] | {"fill": 10**400}]},
        TABLE | {"obs": [TABLE["obs"][0] | {"kind": "pickle"}]},
        TABLE | {"obs": [TABLE["obs"][0] | {"values": [1]}]},
    ],
    ids=str,
)
def test_what_is_no_schema(stored):
    with pytest.raises(RunError, match="The schema of the policy p cannot be read: "):
        stored_schema(Path("p"), stored)


def test_whether_it_fits():
    assert schema_problem(SCHEMA, sizes()) is None
    assert "names 3 observation and 1 action numbers, but it has 4 and 1" in str(
        schema_problem(SCHEMA, sizes(obs_dim=4))
    )
    assert "but it has 3 and 2" in str(schema_problem(SCHEMA, sizes(action_dim=2)))
    assert "of two kinds" in str(schema_problem(SCHEMA, sizes(discrete=True)))


def test_a_gigantic_history_costs_nothing():
    endless = Schema(obs=SCHEMA.obs, action=SCHEMA.action, history=10**5)
    assert "its schema names 199999" in str(schema_problem(endless, sizes()))
