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
from countmorl.algorithms.adversary import (
    Adversary,
    AdversaryConfig,
    advantage,
    mixture_log_prob,
    without_explosions,
)
from countmorl.algorithms.balance import Balance
from countmorl.algorithms.combo import COMBO
from countmorl.algorithms.morel import MOReL, _largest
from countmorl.algorithms.rambo import RAMBO
from countmorl.algorithms.repb_sde import RepBSDE
from countmorl.buffer import RingBuffer
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.gaussian import GaussianNet
from countmorl.dynamics.termination import KnownTermination, known_rule
from countmorl.errors import ConfigError
from countmorl.pessimism import NoPessimism, Pairs, disagreement
from countmorl.rollouts import PenalizedModel
from countmorl.scaling import Standardizer
from countmorl.training.epoch import Frozen, Imagination, PolicyState, imagine
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


def adversary(weight, step_count=30, decays=(0.0,) * 5):
    x, y = jr.normal(jr.key(5), (50, 3)), jr.normal(jr.key(6), (50, 3))
    config = AdversaryConfig(weight=weight, steps=step_count, batch=16, rate=1e-2)
    return Adversary(x, y, config, decays, 2)


def test_the_adversarys_loss_is_the_fit_of_the_data_and_the_gain_on_what_was_drawn():
    opponent = adversary(0.5, decays=(0.0, 0.1, 0.0, 0.0, 0.2))
    elites = members(2)
    rows = jnp.array([[0, 1, 2], [7, 8, 9]])
    pair, drawn = jr.normal(jr.key(3), (4, 3)), jr.normal(jr.key(4), (4, 3))
    gain = jnp.array([1.0, -2.0, 0.0, 0.5])
    loss, facts = opponent.loss(elites, rows, pair, drawn, gain)
    fit, density = 0.0, np.zeros(4)
    for k in range(2):
        one = jax.tree.map(lambda leaf: leaf[k], elites)  # noqa: B023
        mean, log_var = map(np.asarray, one.head(one.trunk(opponent.x[rows[k]])))
        error = np.square(mean - np.asarray(opponent.y)[rows[k]])
        fit += np.mean(error * np.exp(-log_var)) + log_var.mean()
        fit += sum(
            0.5 * decay * np.square(one.weights[layer]).sum()
            for layer, decay in ((1, 0.1), (4, 0.2))
        )
        fit += 0.01 * np.mean(one.log_var_max - one.log_var_min)
        mean, log_var = map(np.asarray, one.head(one.trunk(pair)))
        density += stats.norm(mean, np.exp(log_var / 2)).pdf(drawn).prod(axis=1) / 2
    against = np.mean(np.asarray(gain) * np.log(density))
    np.testing.assert_allclose(loss, fit + 0.5 * against, rtol=1e-4)
    np.testing.assert_allclose(facts["adversary"], against, rtol=1e-4)


def test_the_advantage_is_of_standardised_observations():
    scale = Standardizer(jnp.array([1.0, -2.0]), jnp.array([2.0, 0.5]))
    lived = steps()
    seen = lived._replace(obs=scale(lived.obs), next_obs=scale(lived.next_obs))
    scaled = eqx.tree_at(lambda a: a.scale, agent(), scale)
    np.testing.assert_allclose(advantage(scaled, lived), advantage(agent(), seen), rtol=1e-3)


def test_one_exploded_step_does_not_spoil_the_model():
    lived = steps()._replace(next_obs=steps().next_obs.at[1, 0].set(jnp.inf))
    mended, fine = without_explosions(lived)
    assert fine.tolist() == [True, False, True, True, True, True]
    assert jnp.isfinite(mended.next_obs).all()
    assert mended.reward[1] == 0
    # Members that take every observation to infinity: the adversary's step stays a number.
    wild = eqx.tree_at(lambda m: m.ensemble.members.biases[-1], model(), jnp.full((3, 6), 1e38))
    opponent = adversary(1.0, 4)
    update = eqx.filter_jit(lambda a, w: a.update(w, wild, agent(), steps(20).obs, key=jr.key(7)))
    world = eqx.tree_at(lambda w: w.elites, opponent.start(model()), members(2))
    assert all(jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(update(opponent, world)[0]))


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
    assert RAMBO(adversary=AdversaryConfig(weight=0.0)).opponent(build) is None  # type: ignore[arg-type]
    assert isinstance(RAMBO().opponent(build), Adversary)  # type: ignore[arg-type]


def test_only_elites_change_and_take_the_place_of_the_elites():
    base, opponent = model(), adversary(1.0, 1)
    world = opponent.start(base)
    x = jr.normal(jr.key(3), (5, 3))
    hidden = jax.jit(lambda m: m.ensemble.trunks(x))
    np.testing.assert_array_equal(hidden(world.inside(base)), hidden(base))
    weights = np.asarray(base.ensemble.members.weights[0])
    np.testing.assert_array_equal(world.elites.weights[0], weights[[2, 0]])
    update = eqx.filter_jit(lambda a, w: a.update(w, base, agent(), steps(20).obs, key=jr.key(7)))
    after, _ = update(opponent, world)
    changed = after.inside(base).ensemble
    assert len(changed.elites) == len(changed.holdout_error) == 2
    for k in range(2):
        assert (np.asarray(changed.members.weights[0])[k] != weights[[2, 0]][k]).any()


def test_rollouts_happen_in_the_world_as_the_adversary_left_it():
    base, opponent, sac = model(), adversary(1.0, 1), agent()
    plan = Imagination(base, horizon=2, branches=8, rows=4, adversary=opponent)
    frozen = Frozen(steps(20), updates=1, batch=8, imagination=plan)
    buffer, world = RingBuffer.empty(1, 16, OBS, ACTION), opponent.start(base)
    far = world.elites.biases[-1].at[:, :OBS].add(100.0)
    world = eqx.tree_at(lambda w: w.elites.biases[-1], world, far)
    dreamt, _ = imagine(frozen, PolicyState(sac, buffer, world), key=jr.key(0))
    assert (dreamt.data.next_obs - dreamt.data.obs > 50).all()
    calm, _ = imagine(frozen, PolicyState(sac, buffer, None), key=jr.key(0))
    assert (calm.data.next_obs - calm.data.obs < 50).all()


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


def test_the_balance_at_every_other_step_weighs_twice():
    terms = {
        n: Balance(steps(6), Standardizer.identity(3), agent(), 0.5, 0.9, 4, every=n)
        for n in (1, 2)
    }
    at = eqx.filter_jit(lambda term, step: term.at(step, members(), key=jr.key(8)))
    plain = [float(at(terms[1], jnp.asarray(step))) for step in range(4)]
    assert len(set(plain)) == 4  # Each step has rows of its own.
    wanted = [2 * plain[0], 0, 2 * plain[2], 0]
    np.testing.assert_allclose([at(terms[2], jnp.asarray(i)) for i in range(4)], wanted, rtol=1e-5)
    slope = jax.grad(lambda m: terms[2].at(jnp.asarray(0), m, key=jr.key(8)))(members())
    assert any(jnp.abs(leaf).max() > 0 for leaf in slope.weights)


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


def build(rows=30):
    targets = 3.0 * jr.normal(jr.key(6), (rows, 3)) * jnp.array([1.0, 10.0, 0.1])
    pairs = jr.normal(jr.key(9), (rows, 3))
    return SimpleNamespace(ensemble=ensemble(), pairs=pairs, targets=targets)


def test_an_unknown_pair_ends_the_rollout_at_a_cost():
    given = build()
    rule = MOReL(coefficient=2.0, penalty=7.0).pessimism(given)  # type: ignore[arg-type]
    largest = float(disagreement(given.ensemble, given.pairs).max())
    np.testing.assert_allclose(rule.threshold, largest / 2, rtol=1e-4)
    assert rule.penalty == 7.0
    obs, action = given.pairs[:, :OBS], given.pairs[:, OBS:]
    plain = model().step(obs, action, key=jr.key(0))[0]
    careful = eqx.tree_at(lambda m: m.pessimism, model(), rule)
    halted = careful.step(obs, action, key=jr.key(0))[0]
    unknown = np.asarray(disagreement(given.ensemble, given.pairs)) > largest / 2
    assert 0 < unknown.sum() < len(unknown)
    assert (np.asarray(halted.terminated) == unknown).all()
    np.testing.assert_allclose(halted.reward, plain.reward - 7.0 * unknown, rtol=1e-4, atol=1e-4)


def test_repb_sdes_penalty_is_in_units_of_the_targets():
    given = build()
    rule = RepBSDE(weight=2.0).pessimism(given)  # type: ignore[arg-type]
    mean = np.asarray(given.ensemble.predict(given.pairs)[0])
    spread = mean.std(axis=0) / np.asarray(given.targets).std(axis=0)
    lowered = rule(Pairs(given.ensemble, given.pairs, jnp.zeros(())))
    np.testing.assert_allclose(lowered.penalty, 2 * np.linalg.norm(spread, axis=1), rtol=1e-3)


def test_imitation_raises_the_likelihood_of_the_data_and_moves_the_actor_alone():
    sac, data = agent(), steps(20)
    imitate = eqx.filter_jit(lambda a: a.imitate(data))
    after, facts = imitate(sac)
    scaled = sac.seen(data)
    before = np.asarray(sac.likelihood(sac.state.actor, scaled)).mean()
    np.testing.assert_allclose(facts["loss"], -before, rtol=1e-4)
    assert np.asarray(after.likelihood(after.state.actor, scaled)).mean() > before
    assert eqx.tree_equal(after.state.critics, sac.state.critics)
    assert after.state.log_alpha == sac.state.log_alpha


@pytest.mark.parametrize("rows", [3, 10_000, 10_003])
def test_morels_threshold_sees_every_row(rows):
    pairs = jr.normal(jr.key(9), (rows, 3)).at[-1].set(50.0)
    largest = float(_largest(ensemble(), pairs))
    np.testing.assert_allclose(largest, float(disagreement(ensemble(), pairs[-1:])[0]), rtol=1e-4)
