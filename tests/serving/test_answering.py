import numpy as np
import pytest

from countmorl.errors import DataError
from countmorl.runtime.policy import Policy
from countmorl.schema import Column, Schema
from countmorl.serving.answering import NOBODY, Answering
from countmorl.spaces import ActionSpace


def policy(schema: Schema | None = None, discrete: bool = False) -> Policy:
    """x0 - x1, squashed; or the first of two choices where it is positive."""
    weight = np.array([[1.0, -1.0], [-1.0, 1.0]] if discrete else [[1.0], [-1.0]], np.float32)
    ones = np.ones(1, np.float32)
    return Policy(
        weights=(weight,),
        biases=(np.zeros(weight.shape[1], np.float32),),
        head="categorical" if discrete else "tanh",
        obs_mean=np.zeros(2, np.float32),
        obs_std=np.ones(2, np.float32),
        space=ActionSpace.numbered(2) if discrete else ActionSpace(low=-ones, high=ones),
        schema=schema,
    )


NAMES = Schema(
    obs=(Column(name="glucose"), Column(name="meal")), action=(Column(name="dose"),), reward="r"
)


class Counting:
    def counts(self, obs, action):
        return type("C", (), {"count": np.full(len(obs), 3.0), "level": np.full(len(obs), "thin")})


def test_numbers_with_counts():
    (found,) = Answering(policy=policy(), counts=Counting()).numbers([[1.0, 1.0]])
    assert (found.action, found.count, found.level, found.fell_back) == ([0.0], 3.0, "thin", False)
    (bare,) = Answering(policy=policy()).numbers([[1.0, 1.0]])
    assert (bare.count, bare.level) == (None, None)


def test_rows_by_name():
    answers = Answering(policy=policy(NAMES)).rows([{"glucose": "2", "meal": 2}])
    assert answers[0].action == {"dose": 0.0}


def test_choices_are_numbers_or_names():
    answers = Answering(policy=policy(discrete=True)).numbers([[1, 0], [0, 1]])
    assert [each.action for each in answers] == [0, 1]


@pytest.mark.parametrize("discrete", [False, True])
def test_a_guard_acts_or_leaves_it_to_a_person(discrete):
    class Guard:
        def act(self, obs):
            action = np.array([-1, 1]) if discrete else np.array([[np.nan], [0.5]], np.float32)
            levels = np.array(["unseen", "covered"])
            why = {"count": np.array([0.0, 9.0]), "level": levels, "fell_back": levels == "unseen"}
            return action, type("Why", (), why)

    found = Answering(policy=policy(discrete=discrete), guard=Guard()).numbers([[0, 0], [0, 1]])
    assert (found[0].action, found[0].why, found[0].fell_back) == (None, NOBODY, True)
    assert (found[1].action, found[1].why) == (1 if discrete else [0.5], None)


class TestBadInput:
    def test_another_number_of_numbers(self):
        with pytest.raises(DataError, match="observations of 2 numbers, got one of 3"):
            Answering(policy=policy()).numbers([[1, 2], [1, 2, 3]])

    def test_numbers_beyond_single_precision(self):
        with pytest.raises(DataError, match="must be finite"):
            Answering(policy=policy()).numbers([[1e300, 0]])

    def test_rows_where_the_log_had_no_names(self):
        with pytest.raises(DataError, match="had no names of columns"):
            Answering(policy=policy()).rows([{"a": 1}])

    def test_a_column_that_is_missing(self):
        with pytest.raises(DataError, match="The row has no 'meal'"):
            Answering(policy=policy(NAMES)).rows([{"glucose": 1}])

    def test_a_row_alone_that_says_too_little(self):
        columns = (Column(name="day", kind="elapsed"), Column(name="meal"))
        schema = Schema(obs=columns, action=(Column(name="dose"),), reward="r")
        with pytest.raises(DataError, match="cannot act on a row alone: 'day' is the time since"):
            Answering(policy=policy(schema)).rows([{"day": 1, "meal": 1}])
