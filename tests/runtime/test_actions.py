"""Actions by name, both ways."""

import numpy as np
import pytest

from countmorl.errors import DataError
from countmorl.runtime.actions import action_vector, first_action, name_action
from countmorl.schema import Column, Schema

X = (Column(name="x"),)
CHOICE = Schema(obs=X, action=(Column(name="offer", kind="category", values=("none", "mail")),))
DOSES = Schema(obs=X, action=(Column(name="salt", fill=0.5), Column(name="water")))


def test_names():
    assert CHOICE.action_names == ("none", "mail")
    assert DOSES.action_names == ("salt", "water")


def test_what_a_policy_answers():
    assert name_action(CHOICE, np.int64(1)) == "mail"
    named = name_action(DOSES, np.array([0.5, 2], np.float32))
    assert named == {"salt": 0.5, "water": 2.0}
    assert {type(value) for value in named.values()} == {float}


def test_what_a_user_says():
    for action in ("mail", 1, np.int64(1), np.array(1)):
        np.testing.assert_array_equal(action_vector(CHOICE, action), [0, 1])
    for action in ({"water": 2, "salt": "0.5"}, [0.5, 2], np.array([0.5, 2])):
        np.testing.assert_array_equal(action_vector(DOSES, action), [0.5, 2])


def test_a_name_of_digits_is_a_name_and_a_number_a_number():
    doses = Schema(obs=X, action=(Column(name="mg", kind="category", values=("1", "0")),))
    np.testing.assert_array_equal(action_vector(doses, "0"), [0, 1])
    np.testing.assert_array_equal(action_vector(doses, 0), [1, 0])


def test_before_the_first():
    np.testing.assert_array_equal(first_action(CHOICE), [0, 0])
    np.testing.assert_array_equal(first_action(DOSES), [0.5, 0])


@pytest.mark.parametrize(
    ("schema", "action", "words"),
    [
        (CHOICE, "male", r"Did you mean 'mail'\? It knows: none, mail"),
        (CHOICE, 2, "one of none, mail, or its number from 0 to 1; got 2"),
        (CHOICE, -1, "got -1"),
        (CHOICE, 0.5, r"got 0\.5"),
        (CHOICE, None, "got None"),
        (DOSES, {"salt": 1, "watter": 2}, r"has no 'water'. Did you mean 'watter'"),
        (DOSES, {"salt": 1, "water": "much"}, "'water' must be a number"),
        (DOSES, [1], r"2 finite numbers \(salt, water\), got"),
        (DOSES, [1, np.nan], "2 finite numbers"),
        (DOSES, "salt", "2 finite numbers"),
    ],
)
def test_slips(schema, action, words):
    with pytest.raises(DataError, match=words):
        action_vector(schema, action)
