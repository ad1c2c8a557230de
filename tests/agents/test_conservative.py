"""The conservative term against NumPy, and its traps."""

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from scipy.special import logsumexp

from countmorl import load
from countmorl.agents.conservative import Conservative, ConservativeConfig
from countmorl.agents.heads import q_values
from countmorl.agents.sac import SAC
from countmorl.agents.sac_config import SACConfig
from countmorl.algorithms.combo import COMBO
from countmorl.errors import ConfigError
from countmorl.types import Transition

ROWS, REAL = 6, 4


@eqx.filter_jit
def agent(term=None):
    config = SACConfig(hidden=(8, 8))
    return SAC.make(config, 3, 2, updates=100, term=term, key=jr.key(0))


@eqx.filter_jit
def batch():
    k = jr.split(jr.key(1), 4)
    return Transition(
        jr.normal(k[0], (ROWS, 3)),
        jnp.tanh(jr.normal(k[1], (ROWS, 2))),
        jr.normal(k[2], (ROWS,)),
        jr.normal(k[3], (ROWS, 3)),
        jnp.zeros(ROWS, bool),
    )


def by_hand(sac, steps, *, actions, temperature, weight, first=0, real=ROWS):
    """The term as facts give it: 30 values a state, importance weights, all judged at s."""
    uniform_key, here_key, next_key = jr.split(jr.key(5), 3)
    low = jax.tree.map(lambda leaf: leaf[first:], steps)
    shape = (actions, *low.action.shape)
    pairs = [(jr.uniform(uniform_key, shape, minval=-1.0, maxval=1.0), None)]
    for obs, key in ((low.obs, here_key), (low.next_obs, next_key)):
        policy = sac.distribution(sac.state.actor, obs)
        draws = [policy.sample(key=k) for k in jr.split(key, actions)]
        pairs.append(tuple(jnp.stack(part) for part in zip(*draws, strict=True)))
    total = 0.0
    for critic in range(2):
        values = []
        for action, log_prob in pairs:
            for j in range(actions):
                q = np.asarray(q_values(sac.state.critics, low.obs, action[j]))[critic]
                density = np.log(0.25) if log_prob is None else np.asarray(log_prob[j])
                values.append(q - density)
        soft = temperature * logsumexp(np.array(values) / temperature, axis=0).mean()
        data = np.asarray(q_values(sac.state.critics, steps.obs[:real], steps.action[:real]))
        total += weight * (soft - data[critic].mean())
    return total


@pytest.mark.parametrize("temperature", [1.0, 2.0])
@pytest.mark.parametrize(("first", "real"), [(0, ROWS), (0, REAL), (REAL, REAL)])
def test_against_numpy(temperature, first, real):
    config = ConservativeConfig(weight=3.0, temperature=temperature, actions=4, every=1)
    term = Conservative.make(config, pushed_up=real, pushed_down_from=first)
    sac, steps = agent(), batch()
    value, _ = term(sac.state.critics, sac, steps, key=jr.key(5))
    wanted = by_hand(
        sac, steps, actions=4, temperature=temperature, weight=3.0, first=first, real=real
    )
    np.testing.assert_allclose(value, wanted, rtol=1e-4)


def slopes(term, steps):
    """How the term changes with each row's logged action value: raised rows have a slope."""
    sac = agent()

    def loss(action):
        return term(sac.state.critics, sac, steps._replace(action=action), key=jr.key(5))[0]

    return np.abs(np.asarray(jax.jit(jax.grad(loss))(steps.action))).sum(axis=1)


def test_only_real_rows_are_raised():
    # The trap: raising imagined rows too would reward the model's own mistakes.
    moved = slopes(
        Conservative.make(ConservativeConfig(actions=2, every=1), pushed_up=REAL), batch()
    )
    assert (moved[:REAL] > 0).all()
    assert (moved[REAL:] == 0).all()
    trapped = slopes(Conservative.make(ConservativeConfig(actions=2, every=1)), batch())
    assert (trapped[REAL:] > 0).all()


def test_combo_raises_the_real_share_of_a_batch_and_lowers_where_it_is_told(log):
    data = load(log())
    mixed = COMBO(batch=20, real_share=0.5).critic_term(data)
    assert (mixed.pushed_up, mixed.pushed_down_from) == (10, 0)
    model = COMBO(batch=20, real_share=0.2, states="model").critic_term(data)
    assert (model.pushed_up, model.pushed_down_from) == (4, 4)


def test_the_term_moves_the_critics_and_not_the_actor():
    term = Conservative.make(ConservativeConfig(actions=2, every=1))
    sac, steps = agent(), batch()

    def loss(parts):
        actor, critics = parts
        other = eqx.tree_at(lambda a: a.state.actor, sac, jax.lax.stop_gradient(actor))
        return term(critics, other, steps, key=jr.key(5))[0]

    _, critics = jax.jit(jax.grad(loss))((sac.state.actor, sac.state.critics))
    assert all(jnp.abs(leaf).max() > 0 for leaf in critics.weights)
    before = sac.state.actor
    after, _ = eqx.filter_jit(lambda a, b: a.update(b, key=jr.key(0)))(agent(term), steps)
    plain, _ = eqx.filter_jit(lambda a, b: a.update(b, key=jr.key(0)))(agent(), steps)
    # Both actors moved by one step of Adam; none was driven by the term itself.
    for old, new, other in zip(
        before.weights, after.state.actor.weights, plain.state.actor.weights, strict=True
    ):
        assert jnp.abs(new - old).max() <= 3.01e-4
        assert jnp.abs(other - old).max() <= 3.01e-4


def test_a_backup_without_entropy():
    # It comes with the term: no config can take it away from CQL or COMBO.
    term = Conservative.make(ConservativeConfig())
    sac, steps = eqx.tree_at(lambda a: a.term, agent(), term), batch()
    y = np.asarray(eqx.filter_jit(lambda a, b: a.backup(b, key=jr.key(2)))(sac, steps))
    action, _ = sac.distribution(sac.state.actor, steps.next_obs).sample(key=jr.key(2))
    q = np.asarray(q_values(sac.state.targets, steps.next_obs, action)).min(axis=0)
    np.testing.assert_allclose(y, np.asarray(steps.reward) + 0.995 * q, rtol=1e-4, atol=1e-5)


def test_the_multiplier_rises_while_the_gap_is_too_large():
    config = ConservativeConfig(actions=2, threshold=-100.0, threshold_rate=0.01)
    term = Conservative.make(config)
    sac, steps = agent(), batch()
    value, facts = term(sac.state.critics, sac, steps, key=jr.key(5))
    gap = float(facts["conservative_gap"])
    np.testing.assert_allclose(value, 2 * (gap + 100), rtol=1e-5)  # Two critics, multiplier 1.
    # Adam's first step has the size of its rate, however large the gap.
    np.testing.assert_allclose(term.learned(facts).log_multiplier, 0.01, rtol=1e-5)
    low = facts | {"conservative_gap": jnp.asarray(-101.0)}
    np.testing.assert_allclose(term.learned(low).log_multiplier, -0.01, rtol=1e-5)
    fixed = Conservative.make(ConservativeConfig(actions=2, every=1))
    assert fixed.learned(facts) is fixed


def test_an_update_learns_the_multiplier_and_it_never_exceeds_a_million():
    config = ConservativeConfig(actions=2, threshold=-100.0, threshold_rate=0.01)
    sac = eqx.tree_at(lambda a: a.term, agent(), Conservative.make(config))
    update = eqx.filter_jit(lambda a: a.update(batch(), key=jr.key(6)))
    after, facts = update(sac)
    assert facts["multiplier"] == 1
    np.testing.assert_allclose(after.term.log_multiplier, 0.01, rtol=1e-5)
    np.testing.assert_allclose(update(after)[1]["multiplier"], np.exp(0.01), rtol=1e-5)
    high = eqx.tree_at(lambda a: a.term.log_multiplier, sac, jnp.asarray(50.0))
    capped, facts = update(high)
    assert facts["multiplier"] == 1e6
    assert capped.term.log_multiplier <= 50


@pytest.mark.parametrize(
    "wrong",
    [
        {"weight": -1.0},
        {"actions": 0},
        {"temperature": 0.0},
        {"every": 0},
        {"threshold": float("nan")},
    ],
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        ConservativeConfig(**wrong)


def test_the_sampled_gradient_is_the_full_one_on_average():
    sac, steps, keys = agent(), batch(), jr.split(jr.key(7), 3000)

    def mean_gradient(sampled):
        term = Conservative.make(
            ConservativeConfig(actions=3, temperature=0.5, sampled=sampled, every=1)
        )

        def value(critics, key):
            return term(critics, sac, steps, key=key)[0]

        both = jax.jit(jax.vmap(jax.value_and_grad(value), (None, 0)))
        values, gradients = both(sac.state.critics, keys)
        return values, np.concatenate(
            [np.asarray(leaf.mean(axis=0)).ravel() for leaf in jax.tree.leaves(gradients)]
        )

    (values, drawn), (wanted_values, wanted) = mean_gradient(True), mean_gradient(False)
    np.testing.assert_allclose(values, wanted_values, rtol=1e-5)
    assert np.linalg.norm(drawn - wanted) < 0.03 * np.linalg.norm(wanted)


@pytest.mark.parametrize(("first", "real"), [(0, ROWS), (0, REAL), (REAL, REAL), (3, 3)])
def test_every_other_row_gives_the_term_of_those_rows(first, real):
    thin = ConservativeConfig(weight=3.0, actions=4, every=2)
    sac, steps = agent(), batch()
    some = Conservative.make(thin, pushed_up=real, pushed_down_from=first)
    value, _ = some(sac.state.critics, sac, steps, key=jr.key(5))
    half = jax.tree.map(lambda leaf: leaf[::2], steps)
    sizes = {"first": -(-first // 2), "real": -(-real // 2)}
    wanted = by_hand(sac, half, actions=4, temperature=1.0, weight=3.0, **sizes)
    np.testing.assert_allclose(value, wanted, rtol=1e-4)


def test_a_batch_too_small_for_every_such_row_is_refused():
    with pytest.raises(ConfigError, match="no imagined row"):
        COMBO(batch=4, real_share=0.5)
