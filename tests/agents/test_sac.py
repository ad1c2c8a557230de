import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from scipy import stats

from countmorl.agents.heads import q_values
from countmorl.agents.likeness import likeness
from countmorl.agents.sac import SAC
from countmorl.agents.sac_config import Pull, SACConfig
from countmorl.errors import ConfigError
from countmorl.nets import TanhNormal
from countmorl.scaling import Standardizer
from countmorl.types import Transition
from models import agent as small_agent
from models import policy_of, steps
from oracles import mlp

CONFIG = SACConfig(hidden=(16, 16))


@eqx.filter_jit
def agent(config=CONFIG):
    return SAC.make(config, 3, 2, updates=100, key=jr.key(0))


@eqx.filter_jit
def update(sac, steps):
    return sac.update(steps, key=jr.key(3))


@eqx.filter_jit
def backup(sac, steps, key):
    return sac.backup(steps, key=key)


@eqx.filter_jit
def batch(rows=8, terminated=False):
    k = jr.split(jr.key(1), 4)
    return Transition(
        jr.normal(k[0], (rows, 3)),
        jnp.tanh(jr.normal(k[1], (rows, 2))),
        jr.normal(k[2], (rows,)),
        jr.normal(k[3], (rows, 3)),
        jnp.full(rows, terminated),
    )


def test_log_density_of_a_squashed_normal_against_scipy():
    dist = TanhNormal(jnp.array([0.3, -1.0]), jnp.array([-0.5, 0.2]))
    action, log_prob = dist.sample(key=jr.key(0))
    z = np.arctanh(np.asarray(action, np.float64))
    normal = stats.norm(np.array([0.3, -1.0]), np.exp([-0.5, 0.2])).logpdf(z).sum()
    np.testing.assert_allclose(log_prob, normal - np.log(1 - np.tanh(z) ** 2).sum(), rtol=1e-4)


def test_backup_against_numpy():
    sac, steps = agent(), batch()
    y = np.asarray(backup(sac, steps, jr.key(2)))
    action, log_prob = sac.distribution(sac.state.actor, steps.next_obs).sample(key=jr.key(2))
    x = np.concatenate([steps.next_obs, action], axis=1)
    q = np.minimum(*(mlp(sac.state.targets, x, i)[:, 0] for i in range(2)))
    wanted = np.asarray(steps.reward) + 0.995 * (q - 1.0 * np.asarray(log_prob))
    np.testing.assert_allclose(y, wanted, rtol=1e-4, atol=1e-5)


def test_a_terminal_step_has_no_future():
    steps = batch(terminated=True)
    np.testing.assert_allclose(backup(agent(), steps, jr.key(2)), steps.reward)


def test_update_descends_both_losses_and_moves_targets_by_polyak():
    sac, steps = agent(), batch()
    new, metrics = update(sac, steps)
    q = q_values(sac.state.critics, steps.obs, steps.action)
    y = backup(sac, steps, jr.split(jr.key(3))[0])
    np.testing.assert_allclose(
        metrics["critic_loss"], np.square(q - y).mean(axis=1).sum(), rtol=1e-4
    )
    for old, target, critic in zip(
        *(jax.tree.leaves(t) for t in (sac.state.targets, new.state.targets, new.state.critics)),
        strict=True,
    ):
        np.testing.assert_allclose(target, 0.995 * old + 0.005 * critic, atol=1e-6)


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_the_judged_policy_averages_the_latest_share_of_all_actors(share):
    sac, mean = agent(SACConfig(hidden=(16, 16), average_share=share, actor_rate=0.1)), None
    for n in range(4):
        sac, _ = update(sac, batch())
        actor = np.asarray(sac.state.actor.weights[0])
        mean = actor if mean is None else mean + (actor - mean) / (1 + share * n)
        np.testing.assert_allclose(policy_of(sac).weights[0], mean, rtol=1e-5, atol=1e-7)
    plain = np.asarray(sac.state.actor.weights[0])
    assert np.allclose(mean, plain) == (share == 0)


def test_actor_and_entropy_losses_against_numpy():
    sac, steps = agent(), batch()
    sac = eqx.tree_at(lambda a: a.state.log_weight, sac, jnp.asarray(-0.7))
    new, metrics = update(sac, steps)
    key = jr.split(jr.key(3))[1]
    action, log_prob = sac.distribution(sac.state.actor, steps.obs).sample(key=key)
    x = np.concatenate([steps.obs, action], axis=1)
    # The actor follows the critics as they are after their step.
    q = np.minimum(*(mlp(new.state.critics, x, i)[:, 0] for i in range(2)))
    wanted = np.mean(np.exp(-0.7) * np.asarray(log_prob) - q)
    np.testing.assert_allclose(metrics["actor_loss"], wanted, rtol=1e-3)
    # Adam's first step has the size of its rate, against the sign of the slope.
    slope = -(np.asarray(log_prob).mean() + sac.target_entropy)
    np.testing.assert_allclose(new.state.log_weight, -0.7 - 1e-3 * np.sign(slope), rtol=1e-4)


def test_an_update_sees_standardised_observations():
    scale = Standardizer(jnp.array([1.0, -2.0, 0.5]), jnp.array([2.0, 0.5, 3.0]))
    scaled = eqx.tree_at(lambda a: a.standardizer, agent(), scale)
    steps = batch()
    seen = steps._replace(obs=scale(steps.obs), next_obs=scale(steps.next_obs))
    for a, b in zip(
        *(jax.tree.leaves(s.state) for s in (update(scaled, steps)[0], update(agent(), seen)[0])),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-6)
    acted = scaled.act(steps.obs, key=jr.key(5))
    np.testing.assert_allclose(acted, agent().act(seen.obs, key=jr.key(5)), rtol=1e-4, atol=1e-6)
    policy = policy_of(scaled)
    np.testing.assert_array_equal(policy.obs_mean, scale.mean)
    np.testing.assert_array_equal(policy.obs_std, scale.std)


def test_entropy_weight_rises_when_the_policy_is_too_certain():
    sac = eqx.tree_at(
        lambda a: a.state.actor.biases[-1], agent(), jnp.array([0.0, 0.0, -5.0, -5.0])
    )
    new, metrics = update(sac, batch())
    assert metrics["entropy"] < sac.target_entropy
    assert new.state.log_weight > sac.state.log_weight


def test_it_learns_a_one_step_task():
    # Reward -(a - 0.5 s)^2 and an immediate end: the best action is half the observation.
    config = SACConfig(hidden=(32, 32), actor_rate=3e-3, critic_rate=3e-3, average_share=0.0)
    sac = SAC.make(config, 1, 1, updates=1000, key=jr.key(0))

    @eqx.filter_jit
    def learn(sac):
        def step(sac, key):
            a_key, s_key, u_key = jr.split(key, 3)
            obs = jr.uniform(s_key, (64, 1), minval=-1.0)
            action = jr.uniform(a_key, (64, 1), minval=-1.0)
            reward = -10 * jnp.square(action - 0.5 * obs)[:, 0]
            steps = Transition(obs, action, reward, obs, jnp.ones(64, bool))
            return sac.update(steps, key=u_key)[0], None

        return jax.lax.scan(step, sac, jr.split(jr.key(1), 1500))[0]

    sac = learn(sac)
    obs = jnp.linspace(-1, 1, 9)[:, None]
    mode = sac.distribution(sac.state.averaged, obs).mode()
    assert float(jnp.abs(mode - 0.5 * obs).max()) < 0.12


def test_the_advantage_against_numpy_without_a_future_after_the_end():
    sac, lived = small_agent(), steps()
    action = sac.distribution(sac.state.actor, lived.next_obs).mode()
    after = np.asarray(q_values(sac.state.critics, lived.next_obs, action)).min(axis=0)
    here = np.asarray(q_values(sac.state.critics, lived.obs, lived.action)).min(axis=0)
    gain = np.asarray(lived.reward) + 0.995 * np.where(lived.terminated, 0, after) - here
    wanted = (gain - gain.mean()) / (gain.std() + 1e-6)
    np.testing.assert_allclose(sac.advantage(lived), wanted, rtol=1e-3, atol=1e-4)


def test_what_observations_are_worth_a_step_before_in_the_logs_rewards():
    sac, obs = eqx.tree_at(lambda a: a.unit, small_agent(), jnp.asarray(4.0)), steps().obs
    scale = Standardizer(jnp.array([1.0, -2.0]), jnp.array([2.0, 0.5]))
    sac = eqx.tree_at(lambda a: a.standardizer, sac, scale)
    moved = jax.tree.map(lambda leaf: leaf + 0.1, sac.state.targets)
    sac = eqx.tree_at(lambda a: a.state.targets, sac, moved)
    action, _ = sac.distribution(sac.state.actor, scale(obs)).sample(key=jr.key(7))
    q = np.asarray(q_values(moved, scale(obs), action)).min(axis=0)
    np.testing.assert_allclose(sac.worth_before(obs, key=jr.key(7)), 0.995 * 4 * q, rtol=1e-5)


def test_the_advantage_is_of_standardised_observations():
    scale = Standardizer(jnp.array([1.0, -2.0]), jnp.array([2.0, 0.5]))
    lived = steps()
    seen = lived._replace(obs=scale(lived.obs), next_obs=scale(lived.next_obs))
    scaled = eqx.tree_at(lambda a: a.standardizer, small_agent(), scale)
    np.testing.assert_allclose(scaled.advantage(lived), small_agent().advantage(seen), rtol=1e-3)


def test_imitation_raises_the_likelihood_of_the_data_and_moves_the_actor_alone():
    sac, data = small_agent(), steps(20)
    imitate = eqx.filter_jit(lambda a: a.imitate(data))
    after, facts = imitate(sac)
    scaled = sac.seen(data)
    before = np.asarray(sac.likelihood(sac.state.actor, scaled)).mean()
    np.testing.assert_allclose(facts["loss"], -before, rtol=1e-4)
    assert np.asarray(after.likelihood(after.state.actor, scaled)).mean() > before
    assert eqx.tree_equal(after.state.critics, sac.state.critics)
    assert after.state.log_weight == sac.state.log_weight


@eqx.filter_jit
def pulled_agent(weight, rows):
    return SAC.make(CONFIG, 3, 2, updates=100, pull=Pull(weight, rows), key=jr.key(0))


def test_the_loss_of_a_pulled_actor_by_hand():
    sac, data = pulled_agent(0.5, 2), batch()
    policy = TanhNormal(jnp.zeros((8, 2)).at[0, 0].set(1.0), jnp.zeros((8, 2)))
    action = jnp.ones((8, 2))  # Of rows that are not real, too: they must not count.
    good = jnp.array([4.0, -4.0, 2.0, 2.0, -2.0, -2.0, 0.0, 0.0])  # Of mean size 2.
    loss, facts = sac.pulled(jnp.asarray(3.0), good, policy, action.at[2:].set(9.0))
    far = ((np.tanh(1.0) - 1) ** 2 + 1 + 1 + 1) / 2
    np.testing.assert_allclose(facts["imitation"], far, rtol=1e-5)
    np.testing.assert_allclose(loss, 3 / 2 + 0.5 * far, rtol=1e-5)
    assert facts["actor_loss"] == 3.0
    none, _ = sac.pulled(jnp.asarray(0.0), jnp.zeros(8), policy, action)
    np.testing.assert_allclose(none, 0.5 * far, rtol=1e-5)  # Values of 0 divide nothing by 0.
    # The size of values is a constant: the loss divides their gradient, and has none of its own.
    slope = jax.grad(lambda q: sac.pulled(-q.mean(), q, policy, action)[0])(good)
    np.testing.assert_allclose(slope, np.full(8, -1 / 8 / 2), rtol=1e-5)
    assert update(sac, data)[1]["imitation"] > 0


def test_without_weight_the_update_is_bit_for_bit_what_it_was():
    plain, metrics = update(agent(), batch())
    none, same = update(pulled_agent(0.0, 8), batch())
    assert eqx.tree_equal(plain.state, none.state)
    assert metrics.keys() == same.keys()
    assert "imitation" not in metrics


def test_a_pull_draws_the_policy_to_the_data():
    rng = np.random.default_rng(0)
    action = jnp.full((32, 1), 0.6)
    obs = jnp.asarray(rng.standard_normal((32, 1)), jnp.float32)
    # Half of the rows pay for the other end: values alone lead away from the data's 0.6.
    tried = jnp.asarray(rng.uniform(-1, 1, (32, 1)), jnp.float32)
    rows = Transition(
        jnp.tile(obs, (2, 1)),
        jnp.concatenate([action, tried]),
        jnp.concatenate([-action, -tried])[:, 0],
        jnp.tile(obs, (2, 1)),
        jnp.ones(64, bool),
    )
    config = SACConfig(hidden=(16, 16), actor_rate=3e-3, critic_rate=3e-3, actor_decay=False)
    real = jax.tree.map(lambda leaf: leaf[:32], rows)

    def far(weight):
        sac = SAC.make(config, 1, 1, updates=300, pull=Pull(weight, 32), key=jr.key(0))

        @eqx.filter_jit
        def learn(sac):
            step = lambda agent, key: (agent.update(rows, key=key)[0], None)  # noqa: E731
            return jax.lax.scan(step, sac, jr.split(jr.key(5), 300))[0]

        sac = learn(sac)
        policy = sac.distribution(sac.state.actor, real.obs)
        return float(sac.head.apart(policy, real.action).mean())

    assert far(20.0) < 0.02 < 0.5 < far(0.0)


def test_a_pull_raises_the_likelihood_of_numbered_actions():
    sac = SAC.make(
        SACConfig(hidden=(8,), actor_rate=0.03, actor_decay=False),
        1,
        3,
        updates=100,
        discrete=True,
        pull=Pull(10.0, 8),
        key=jr.key(0),
    )
    obs, action = jnp.ones((8, 1)), jnp.tile(jnp.array([0.0, 1.0, 0.0]), (8, 1))
    data = Transition(obs, action, jnp.zeros(8), obs, jnp.ones(8, bool))
    step = eqx.filter_jit(lambda agent, key: agent.update(data, key=key))
    first = None
    for n in range(50):
        sac, facts = step(sac, jr.key(n))
        first = facts["imitation"] if first is None else first
    assert facts["imitation"] < 0.2 < 0.8 < first


def test_many_critics_and_their_diversity():
    steps, config = batch(), SACConfig(hidden=(16, 16), critics=5, critic_rate=0.01)
    assert SACConfig().critics == 2
    diverse = SACConfig(hidden=(16, 16), critics=5, critic_rate=0.01, diversity=100.0)
    found = []
    for each in (config, diverse):
        sac = agent(each)
        assert q_values(sac.state.critics, steps.obs, steps.action).shape == (5, 8)
        for _ in range(20):
            sac, _ = update(sac, steps)
        found.append(float(likeness(sac.state.critics, steps.obs, steps.action)))
    assert found[1] < found[0] - 0.2


def test_numbered_actions_have_no_gradients_to_compare():
    with pytest.raises(ConfigError, match="`diversity` compares gradients"):
        SAC.make(SACConfig(diversity=1.0), 1, 3, updates=1, discrete=True, key=jr.key(0))
