"""The schema accepts every contract, and refuses what the contract's own reader refuses."""

import json

import jsonschema
import pytest

from bundles import HISTORY, parts_of
from countmorl.configs import to_json
from countmorl.export.json_schema import json_schema
from countmorl.runtime.contract import Contract
from countmorl.runtime.guard import GuardSettings

SCHEMA = json_schema(Contract)


@pytest.mark.parametrize(
    "how", [{}, {"schema": None, "counter": None}, {"schema": HISTORY, "guard": "a guard"}]
)
def test_contracts_are_valid(how):
    if "guard" in how:
        how = how | {"guard": GuardSettings(threshold=2.0)}
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(json.loads(json.dumps(to_json(parts_of(**how)[1]))), SCHEMA)


@pytest.mark.parametrize(
    "change",
    [{"far": "perhaps"}, {"surprise": 1}, {"observation": [{"name": "a"}]}, {"reach": "wide"}],
)
def test_other_tables_are_not(change):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(json.loads(json.dumps(to_json(parts_of()[1]))) | change, SCHEMA)


def test_what_is_missing_is_named():
    with pytest.raises(jsonschema.ValidationError, match="'format' is a required property"):
        jsonschema.validate({}, SCHEMA)
