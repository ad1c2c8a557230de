"""What every pair is worth before anything is learned."""

from dataclasses import replace

import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from countmorl import load
from countmorl.agents.sac import SAC
from countmorl.agents.sac_config import SACConfig
from countmorl.agents.td3 import TD3Config
from countmorl.algorithms import ALGORITHMS
from countmorl.algorithms.td3_bc import TD3PlusBC

REWARDS = np.array([1.0, 2.0, 3.0, 6.0])  # Their mean is 3; one step in four is terminal.


def log(**more):
    rng = np.random.default_rng(0)
    arrays = {name: rng.standard_normal((4, 3)) for name in ("obs", "next_obs")}
    steps = {"reward": REWARDS, "terminated": np.array([False, False, False, True])}
    return load(arrays | {"action": rng.uniform(-1, 1, (4, 2))} | steps | more)


def test_the_first_value_is_the_mean_reward_for_as_long_as_the_data_go_on():
    # V = 3 + 0.8 * 0.75 V = 3 / 0.4.
    for config in (SACConfig(discount=0.8, mean_start=True), TD3Config(discount=0.8)):
        assert config.first_value(log()) == pytest.approx(7.5)
        assert replace(config, mean_start=False).first_value(log()) == 0
        endless = log(terminated=np.zeros(4, bool))
        assert config.first_value(endless) == pytest.approx(15)


@pytest.mark.parametrize(("mean_start", "wanted"), [(True, 300.0), (False, 0.0)])
def test_critics_and_their_targets_begin_there(mean_start, wanted):
    dataset = log(terminated=np.zeros(4, bool))
    obs, action = jnp.asarray(dataset.obs), jnp.asarray(dataset.action)
    config = SACConfig(hidden=(8, 8), discount=0.99, mean_start=mean_start)
    sac = SAC.of(config, dataset, updates=1, key=jr.key(0))
    for critics in (sac.state.critics, sac.state.targets):
        values = sac.unit * sac.head.q(critics, obs, action)
        np.testing.assert_allclose(values, wanted, atol=3)
    td3 = TD3Config(hidden=(8, 8), discount=0.99, mean_start=mean_start)
    other = TD3PlusBC(td3=td3).agent(dataset, key=jr.key(0))
    for critics in (other.state.critics, other.state.critic_targets):
        values = sac.unit * sac.head.q(critics, obs, action)
        np.testing.assert_allclose(values, wanted, atol=3)


def test_critics_of_numbered_actions_begin_there():
    dataset = log(action=np.array([0, 1, 2, 1]), terminated=np.zeros(4, bool))
    config = SACConfig(hidden=(8, 8), discount=0.99, mean_start=True)
    sac = SAC.of(config, dataset, updates=1, key=jr.key(0))
    values = sac.head.all_values(sac.state.critics, jnp.asarray(dataset.obs))
    assert values is not None
    assert values.shape == (3, 2, 4)
    np.testing.assert_allclose(sac.unit * values, 300, atol=3)


def test_by_default_only_critics_that_see_nothing_but_data_begin_there():
    # A critic of imagined steps would promise the data's mean wherever no rollout has been.
    starts = {
        name: getattr(config, "sac", None) or getattr(config, "td3", None)
        for name, config in ((name, algorithm()) for name, algorithm in ALGORITHMS.items())
    }
    at_mean = {name for name, learner in starts.items() if learner and learner.mean_start}
    assert at_mean == {"td3-bc", "cql"}
