"""Policies of any kind are asked in one way."""

import numpy as np
import pytest

from countmorl.errors import DataError
from countmorl.evaluation.acting import Actor
from countmorl.runtime.tabular import TabularPolicy
from worlds import chain_log, linear_log


def test_a_function_gives_vectors_within_bounds():
    actor = Actor.of(lambda obs: 3 * np.ones((len(obs), 1)), linear_log(5, 5))
    np.testing.assert_array_equal(actor(np.zeros((4, 1), np.float32)), np.ones((4, 1)))


def test_a_discrete_action_is_one_hot():
    actor = Actor.of(lambda obs: np.ones(len(obs), int), chain_log(6))
    np.testing.assert_array_equal(actor(np.zeros((2, 4), np.float32)), [[0, 1], [0, 1]])
    assert actor(np.zeros((0, 4), np.float32)).shape == (0, 2)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (lambda obs: np.ones((len(obs), 2)), r"gave actions of shape \[3, 2\] for 3 observations"),
        (lambda obs: np.full((len(obs), 1), np.nan), "not finite"),
        (lambda obs: "left", "gave no actions for observations of shape"),
    ],
)
def test_what_is_no_action_is_said(given, words):
    with pytest.raises(DataError, match=words):
        Actor.of(given, linear_log(5, 5))(np.zeros((3, 1), np.float32))


def test_an_action_that_is_not_there_is_said():
    actor = Actor.of(lambda obs: np.full(len(obs), 2), chain_log(6), "mine")
    with pytest.raises(DataError, match="mine cannot act on this log: Actions must be numbers"):
        actor(np.zeros((3, 4), np.float32))


def test_a_policy_of_other_sizes_is_refused(unchecked):
    policy = TabularPolicy(probabilities=np.full((2, 3), 1 / 3), counts=np.ones((2, 3)), info={})
    wanted = "takes 1 observation numbers and 3 discrete actions; .* has 4 .* and 2 discrete"
    with pytest.raises(DataError, match=wanted):
        Actor.of(policy, chain_log(6))
    with pytest.raises(DataError, match="is a int; wanted a run, a policy, or a function"):
        Actor.of(3, chain_log(6))
