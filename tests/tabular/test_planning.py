import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from countmorl.errors import ConfigError
from countmorl.tabular import planning
from countmorl.tabular.mdp import TabularMDP

seeds = given(st.integers(0, 2**32 - 1))
quick = settings(max_examples=25, deadline=None)


def chain():
    """0 -> 1 -> 1 with reward 1 at 0 and 2 at 1; a second action stays and pays nothing."""
    return TabularMDP(
        transition=np.array([[0, 1], [1, 0], [0, 1], [0, 1]], float),
        reward=np.array([[1, 0], [2, 0]], float),
        start=np.array([1.0, 0.0]),
        gamma=0.5,
        terminal=np.zeros(2, bool),
    )


def test_value_visits_and_plan_by_hand():
    mdp, policy = chain(), np.array([[1, 0], [1, 0]], float)
    assert planning.evaluate(mdp, policy).tolist() == [3, 4]  # 1 + 0.5 * 4, and 2 / (1 - 0.5)
    assert planning.start_value(mdp, policy) == 3
    assert planning.action_values(mdp, np.array([3.0, 4.0])).tolist() == [[3, 1.5], [4, 2]]
    assert planning.visitation(mdp, policy).tolist() == [[0.5, 0], [0.5, 0]]
    assert planning.policy_iteration(mdp).policy.tolist() == policy.tolist()
    assert planning.after(mdp, np.full((2, 2), 0.5), 2).tolist() == [0.25, 0.75]


@quick
@seeds
def test_plan_beats_every_policy_there_is(random_mdp, seed):
    mdp = random_mdp(np.random.default_rng(seed))
    plan = planning.policy_iteration(mdp)
    every = [
        planning.evaluate(mdp, planning.greedy(np.array(actions), 2))
        for actions in itertools.product(range(2), repeat=3)
    ]
    assert np.allclose(plan.value, np.max(every, axis=0))


@quick
@seeds
def test_plan_equals_value_iteration(random_mdp, seed):
    mdp = random_mdp(np.random.default_rng(seed), states=6, actions=3, gamma=0.7)
    value = np.zeros(6)
    for _ in range(100):
        value = planning.action_values(mdp, value).max(axis=1)
    assert np.allclose(planning.policy_iteration(mdp).value, value)


@quick
@seeds
def test_value_is_reward_over_visits(random_mdp, seed):
    rng = np.random.default_rng(seed)
    mdp = random_mdp(rng)
    policy = rng.dirichlet(np.ones(2), 3)
    visits = planning.visitation(mdp, policy)
    assert visits.sum() == pytest.approx(1)
    over_visits = (visits * mdp.reward).sum() / (1 - mdp.gamma)
    assert planning.start_value(mdp, policy) == pytest.approx(over_visits)


@quick
@seeds
def test_sparse_equals_dense(random_mdp, seed):
    rng = np.random.default_rng(seed)
    mdp = random_mdp(rng, states=8, gamma=0.95)
    thin = replace(mdp, transition=sparse.csr_array(mdp.transition))
    policy = rng.dirichlet(np.ones(2), 8)
    for function in (planning.evaluate, planning.visitation):
        assert np.allclose(function(mdp, policy), function(thin, policy), atol=1e-9)
    assert np.allclose(planning.after(mdp, policy, 7), planning.after(thin, policy, 7))
    a, b = planning.policy_iteration(mdp), planning.policy_iteration(thin)
    assert np.allclose(a.value, b.value, atol=1e-8)


def test_ten_thousand_states_are_planned_exactly():
    rng = np.random.default_rng(0)
    states, actions = 10_000, 4
    pairs = states * actions
    rows, columns = np.repeat(np.arange(pairs), 3), rng.integers(0, states, 3 * pairs)
    chances = rng.dirichlet(np.ones(3), pairs).reshape(-1)
    mdp = TabularMDP(
        transition=sparse.csr_array((chances, (rows, columns)), shape=(pairs, states)),
        reward=rng.normal(size=(states, actions)),
        start=np.full(states, 1 / states),
        gamma=0.99,
        terminal=np.zeros(states, bool),
    )
    value = planning.policy_iteration(mdp).value
    # The Bellman residual over 1 - gamma bounds the distance to the optimal value.
    residual = np.abs(planning.action_values(mdp, value).max(axis=1) - value).max()
    assert residual / (1 - mdp.gamma) < 1e-6


def test_floored_value_by_hand():
    mdp = replace(chain(), reward=np.array([[-1, 0], [-8, 0]], float))
    policy = np.array([[1, 0], [1, 0]], float)
    # At 1: -8 / (1 - 0.5) = -16, floored to -3; at 0: -1 + 0.5 * -3 = -2.5 stays.
    assert planning.evaluate_floored(mdp, policy, -3.0) == pytest.approx([-2.5, -3])


@quick
@seeds
def test_floored_is_above_both_and_equal_where_the_floor_is_low(random_mdp, seed):
    rng = np.random.default_rng(seed)
    mdp, policy = random_mdp(rng), rng.dirichlet(np.ones(2), 3)
    exact = planning.evaluate(mdp, policy)
    assert np.allclose(planning.evaluate_floored(mdp, policy, -100.0), exact, atol=1e-8)
    floored = planning.evaluate_floored(mdp, policy, 0.0)
    assert (floored >= np.maximum(exact, 0) - 1e-9).all()
    best = planning.plan_floored(mdp, 0.0)
    assert (best.value >= floored - 1e-9).all()


def test_a_policy_of_wrong_shape_is_refused():
    with pytest.raises(ConfigError, match="a probability for each action"):
        planning.evaluate(chain(), np.ones((2, 3)))
