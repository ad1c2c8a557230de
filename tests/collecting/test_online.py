import jax.random as jr
import numpy as np
import pytest

from countmorl.agents.sac_config import SACConfig
from countmorl.collecting.online import OnlineConfig, OnlineFit
from countmorl.envs.tasks import find_task
from countmorl.errors import ConfigError
from countmorl.fitting import run_fit

SAC = SACConfig(hidden=(8, 8), average_share=0.0)
SMALL = {"steps": 30, "random_steps": 30, "batch": 8, "episodes": 1, "max_epochs": 3, "sac": SAC}
"""The shapes of test_recipe.py, so that they are compiled once."""


def fit(env="Pendulum-v1", until=1e9, **changes):
    return OnlineFit(find_task(env), OnlineConfig(until=until, **(SMALL | changes)), seed=0)


@pytest.fixture(scope="module")
def lived():
    online = fit()
    return online, run_fit(online, seed=0)


def test_every_step_is_kept_in_order(lived):
    online, state = lived
    dataset = online.replay(state, "mine")
    assert (len(dataset), dataset.name, dataset.task) == (90, "mine", online.task)
    inside = np.setdiff1d(np.arange(90), [29, 59, 89])
    np.testing.assert_array_equal(dataset.next_obs[inside], dataset.obs[inside + 1])


def test_an_epochs_end_is_a_cut_and_no_termination(lived):
    dataset = lived[0].replay(lived[1], "mine")
    assert np.flatnonzero(dataset.truncated).tolist() == [29, 59, 89]
    assert not dataset.terminated.any()


def test_the_buffer_holds_scaled_actions_and_the_log_true_ones(lived):
    online, state = lived
    assert np.abs(state.replay.data.action).max() <= 1
    assert 1 < np.abs(online.replay(state, "mine").action).max() <= 2


def test_first_steps_are_random_and_then_the_policy_acts(lived):
    online, state = lived
    action = online.replay(state, "mine").action
    drawn = []
    for first in (0, 30):
        rng = np.random.default_rng([0, first])
        rng.integers(2**31)  # The seed of the environment.
        drawn.append(online.space.draw(rng))
    np.testing.assert_allclose(action[0], drawn[0], rtol=1e-5)
    assert abs(action[30] - drawn[1]) > 1e-3


def test_its_policy_says_where_it_comes_from(lived):
    policy = lived[0].policy(lived[1])
    assert policy.info == {"algorithm": "online sac", "task": "Pendulum-v1", "dataset": None}
    assert policy.space.high.tolist() == [2]


def test_the_same_seed_gives_the_same_life(lived):
    again = run_fit(fit(), seed=0)
    np.testing.assert_array_equal(again.replay.data.obs, lived[1].replay.data.obs)


def test_it_stops_when_the_policy_is_good_enough():
    online = fit(until=-1e9)
    state = online.init(key=jr.key(0))
    assert not online.finished(state)
    facts = online.judge(state, 1)
    assert set(facts) == {"return", "return_std"}  # Pendulum has no references for a score.
    assert online.finished(state)


def test_numbered_actions_are_numbers_in_the_log():
    online = fit("CartPole-v1", max_epochs=1)
    state = run_fit(online, seed=0)
    dataset = online.replay(state, "mine")
    assert (dataset.discrete, dataset.action_dim) == (True, 2)
    assert state.replay.data.action.shape[1] == 2  # One-hot.
    assert set(dataset.stored["action"].tolist()) == {0, 1}
    ends = dataset.terminated | dataset.truncated
    assert ends[-1]
    assert dataset.terminated.any()  # A pole under random pushes falls within thirty steps.


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"steps": 0}, "`steps` must be at least 1"),
        ({"random_steps": -1}, "`random_steps` must be at least 0"),
        ({"until": "high"}, "`until` must be float"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_bad_settings_are_refused(changes, words):
    with pytest.raises(ConfigError, match=words):
        OnlineConfig(**({"until": 0.0} | changes))
