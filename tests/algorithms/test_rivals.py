"""The parts that only one rival has, against numbers worked out independently."""

from types import SimpleNamespace

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from scipy import stats

from countmorl.agents.heads import q_values
from countmorl.agents.sac import SAC, SACConfig
from countmorl.algorithms.adversary import Adversary, AdversaryConfig, advantage, mixture_log_prob
from countmorl.algorithms.balance import Balance
from countmorl.algorithms.combo import COMBO
from countmorl.algorithms.morel import _largest
from countmorl.algorithms.rambo import RAMBO
from countmorl.algorithms.repb_sde import RepBSDE
from countmorl.data.standardizer import Standardizer
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.gaussian import GaussianNet
from countmorl.dynamics.termination import KnownTermination, known_rule
from countmorl.errors import ConfigError
from countmorl.pessimism import NoPessimism, disagreement
from countmorl.rollouts import PenalizedModel
from countmorl.types import Transition

OBS, ACTION = 2, 1


@eqx.filter_jit
def members(count=3):
    make = lambda key: GaussianNet.make((OBS + ACTION, 8, 8, 8, 8, OBS + 1), key=key)  # noqa: E731
    return jax.vmap(make)(jr.split(jr.key(0), count))


@eqx.filter_jit
def agent():
    return SAC.make(SACConfig(hidden=(8, 8)), OBS, ACTION, updates=10, key=jr.key(1))


@eqx.filter_jit
def steps(rows=6):
    k = jr.split(jr.key(2), 4)
    return Transition(
        jr.normal(k[0], (rows, OBS)),
        jnp.tanh(jr.normal(k[1], (rows, ACTION))),
        jr.normal(k[2], (rows,)),
        jr.normal(k[3], (rows, OBS)),
        jnp.arange(rows) % 3 == 0,
    )


def ensemble():
    return Ensemble(members(), Standardizer.identity(3), jnp.array([2, 0]), jnp.zeros(3))


def model():
    return PenalizedModel(ensemble(), NoPessimism(), KnownTermination(known_rule("never")))


def test_the_mixture_of_elites_against_scipy():
    pair, drawn = jr.normal(jr.key(3), (5, 3)), jr.normal(jr.key(4), (5, 3))
    chosen = jax.tree.map(lambda leaf: leaf[jnp.array([2, 0])], members())
    density = np.zeros(5)
    for k in range(2):
        one = jax.tree.map(lambda leaf: leaf[k], chosen)  # noqa: B023
        mean, log_var = map(np.asarray, one.head(one.trunk(pair)))
        density += stats.norm(mean, np.exp(log_var / 2)).pdf(drawn).prod(axis=1) / 2
    np.testing.assert_allclose(mixture_log_prob(chosen, pair, drawn), np.log(density), rtol=1e-4)


def test_the_advantage_against_numpy_without_a_future_after_the_end():
    sac, lived = agent(), steps()
    action = sac.distribution(sac.state.actor, lived.next_obs).mode()
    after = np.asarray(q_values(sac.state.critics, lived.next_obs, action)).min(axis=0)
    here = np.asarray(q_values(sac.state.critics, lived.obs, lived.action)).min(axis=0)
    gain = np.asarray(lived.reward) + 0.995 * np.where(lived.terminated, 0, after) - here
    wanted = (gain - gain.mean()) / (gain.std() + 1e-6)
    np.testing.assert_allclose(advantage(sac, lived), wanted, rtol=1e-3, atol=1e-4)


def adversary(weight, step_count=30):
    x, y = jr.normal(jr.key(5), (50, 3)), jr.normal(jr.key(6), (50, 3))
    config = AdversaryConfig(weight=weight, steps=step_count, batch=16, rate=1e-2)
    return Adversary(x, y, config, (0.0,) * 5, 2)


def test_the_adversary_makes_the_policy_worth_less_in_the_model():
    obs, base, sac = steps(20).obs, model(), agent()
    update = eqx.filter_jit(lambda a, w: a.update(w, base, sac, obs, key=jr.key(7)))
    starts = jr.normal(jr.key(8), (1000, OBS))

    @eqx.filter_jit
    def worth(world):
        lived, _ = world.inside(base).step(starts, sac.act(starts, key=jr.key(9)), key=jr.key(10))
        action = sac.distribution(sac.state.actor, lived.next_obs).mode()
        after = q_values(sac.state.critics, lived.next_obs, action).min(axis=0)
        return jnp.mean(lived.reward + 0.99 * after)

    values = {}
    for weight in (0.0, 1.0):
        opponent = adversary(weight, 100)
        values[weight] = float(worth(update(opponent, opponent.start(base))[0]))
    assert values[1.0] < values[0.0] - 0.1


def test_without_weight_the_model_makes_no_step():
    build = SimpleNamespace(pairs=jnp.zeros((1, 3)), targets=jnp.zeros((1, 3)))
    assert RAMBO(adversary_config=AdversaryConfig(weight=0.0)).adversary(build) is None  # type: ignore[arg-type]
    assert isinstance(RAMBO().adversary(build), Adversary)  # type: ignore[arg-type]


def test_only_elites_change_and_take_the_place_of_the_elites():
    base, opponent = model(), adversary(1.0, 1)
    world = opponent.start(base)
    x = jr.normal(jr.key(3), (5, 3))
    hidden = jax.jit(lambda m: m.ensemble.trunks(x))
    np.testing.assert_array_equal(hidden(world.inside(base)), hidden(base))
    weights = np.asarray(base.ensemble.members.weights[0])
    np.testing.assert_array_equal(world.elites.weights[0], weights[[2, 0]])


def test_the_balance_is_the_distance_of_mean_features():
    data, sac = steps(6), agent()
    term = Balance(data, Standardizer.identity(3), sac, 0.5, 0.9, 4)
    value = float(term(members(), key=jr.key(8)))
    row_key, first_key, next_key = jr.split(jr.key(8), 3)
    rows = np.asarray(jr.randint(row_key, (2, 4), 0, 6))
    step = jax.tree.map(lambda leaf: np.asarray(leaf)[rows[0]], data)
    first = np.asarray(data.obs)[rows[1]]
    after = sac.act(jnp.asarray(step.next_obs), key=next_key)
    start = sac.act(jnp.asarray(first), key=first_key)
    mask = 1.0 - step.terminated[:, None]
    total = 0.0
    for i in range(3):
        one = jax.tree.map(lambda leaf: leaf[i], members())  # noqa: B023

        def phi(obs, action, one=one):
            return np.asarray(one.representation(jnp.concatenate([obs, action], axis=1)))

        gap = (
            phi(step.obs, step.action).mean(axis=0)
            - 0.9 * (mask * phi(step.next_obs, after)).mean(axis=0)
            - 0.1 * phi(first, start).mean(axis=0)
        )
        total += 0.5 * np.square(gap).sum()
    np.testing.assert_allclose(value, total, rtol=1e-3)


def test_combo_needs_a_real_row_to_raise():
    with pytest.raises(ConfigError, match="no real row"):
        COMBO(real_share=0.001)


def test_a_warm_start_needs_a_real_row_to_imitate():
    with pytest.raises(ConfigError, match="leaves none in a batch for the warm start"):
        RepBSDE(real_share=0.0, sac=SACConfig(warm_start=10))


def test_the_two_rounds_of_repb_sde():
    config = RepBSDE(epochs=7, first_epochs=3)
    assert [config.policy_epochs(i) for i in range(config.rounds)] == [3, 7]
    assert [RepBSDE(epochs=7).policy_epochs(i) for i in range(2)] == [3, 7]
    assert [RepBSDE(epochs=1).policy_epochs(i) for i in range(2)] == [1, 1]


@pytest.mark.parametrize("rows", [3, 10_000, 10_003])
def test_morels_threshold_sees_every_row(rows):
    pairs = jr.normal(jr.key(9), (rows, 3)).at[-1].set(50.0)
    largest = float(_largest(ensemble(), pairs))
    np.testing.assert_allclose(largest, float(disagreement(ensemble(), pairs[-1:])[0]), rtol=1e-4)
