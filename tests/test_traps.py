"""Traps that public code fell into: each check passes here and fails with the trap built in."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from countmorl import RunOptions, load, train
from countmorl.agents.conservative import Conservative, ConservativeConfig
from countmorl.agents.sac import SAC
from countmorl.agents.sac_config import SACConfig
from countmorl.algorithms.combo import COMBO
from countmorl.algorithms.count_morl import CountMORL
from countmorl.buffer import RingBuffer
from countmorl.counting.exact import ExactCounter
from countmorl.counting.query import counts as load_query
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.fit import EnsembleConfig, EnsembleFit, split_rows
from countmorl.dynamics.gaussian import GaussianNet
from countmorl.dynamics.termination import KnownTermination, known_rule
from countmorl.pessimism import AbstractPessimism, Lowered, NoPessimism, Pairs, StdPenalty
from countmorl.rollouts import PenalizedModel, rollout
from countmorl.scaling import Standardizer
from countmorl.training.epoch import (
    Frozen,
    Imagination,
    PolicyState,
    imagine,
    mixed_batch,
    on_device,
)
from countmorl.types import Transition
from models import all_predicted, policy_of


def springs(trap):
    """The check fails where the trap is built in."""
    return pytest.raises(AssertionError, match=trap)


def model(ends="never", elites=(0, 1), members=2):
    """Member k takes every observation up by k + 1, with reward k, almost without noise."""
    net = GaussianNet.make((2, 4, 4, 4, 4, 2), key=jr.key(0))
    nets = jax.tree.map(lambda leaf: jnp.stack([jnp.zeros_like(leaf)] * members), net)
    steps = jnp.arange(members, dtype=jnp.float32)
    quiet = jnp.full(members, -40.0)
    bias = jnp.stack([steps + 1, steps, quiet, quiet], axis=1)
    nets = eqx.tree_at(lambda n: n.biases[-1], nets, bias)
    nets = eqx.tree_at(lambda n: n.log_var_min, nets, jnp.full((members, 2), -40.0))
    ensemble = Ensemble(
        nets, *[Standardizer.identity(2)] * 2, jnp.array(elites), jnp.zeros(members)
    )
    rule = known_rule("never") if ends == "never" else (lambda next_obs: next_obs[0] > 2.5)
    return PenalizedModel(ensemble, NoPessimism(), KnownTermination(rule), all_predicted(1, 1))


def act(obs, *, key):
    return jnp.zeros((len(obs), 1))


def roll(model, rows=40, horizon=4):
    return rollout(model, act, jnp.zeros((rows, 1)), horizon, key=jr.key(0))[:3]


# A rollout past a terminal state


def nothing_after_the_end(steps, alive):
    assert (np.asarray(steps.obs[alive]) <= 2.5).all(), "past a terminal state"


def test_no_rollout_goes_past_a_terminal_state():
    nothing_after_the_end(*roll(model(ends="fall"))[:2])
    with springs("past a terminal"):
        nothing_after_the_end(*roll(model(ends="never"))[:2])


# A time limit taken as the end of the task


def log(**more):
    rng = np.random.default_rng(0)
    walk = np.cumsum(rng.standard_normal((60, 1)), axis=0)
    obs = (walk + 100 * (np.arange(60) // 15)[:, None]).astype(np.float32)
    ends = {"terminated": np.arange(60) % 30 == 29, "truncated": np.arange(60) % 30 == 14}
    next_obs = np.append(obs[1:], obs[-1:], axis=0)
    edge = ends["terminated"] | ends["truncated"]
    next_obs[edge] = obs[edge] + 0.1
    arrays = {"obs": obs, "action": np.zeros((60, 1), np.float32), "next_obs": next_obs}
    return arrays | ends | {"reward": np.ones(60)} | more


def cut_rows_have_a_future(dataset):
    sac = SAC.make(SACConfig(hidden=(4,)), 1, 1, updates=1, key=jr.key(0))
    bias = jnp.full((2, 1), 50.0)  # Any state is worth about 50.
    sac = eqx.tree_at(lambda a: a.state.targets.biases[-1], sac, bias)
    sac = eqx.tree_at(lambda a: a.state.log_weight, sac, jnp.asarray(-30.0))
    steps = on_device(dataset.transitions("critic"))
    value = sac.backup(sac.seen(steps._replace(next_obs=jnp.zeros((60, 1)))), key=jr.key(0))
    cut = np.asarray(dataset.truncated)
    assert (np.asarray(value)[cut] > 10).all(), "a time limit ended the task"
    assert (np.asarray(value)[np.asarray(dataset.terminated) & ~cut] == 1).all()


def test_a_time_limit_does_not_end_the_task():
    dataset = load(log())
    cut_rows_have_a_future(dataset)
    with springs("a time limit"):
        cut_rows_have_a_future(replace(dataset, terminated=dataset.terminated | dataset.truncated))


# A jump to the next episode's start as if the task moved so


def no_jumps(arrays):
    rows, scales = split_rows(load(arrays), EnsembleConfig(holdout=5), seed=0)
    change = np.abs(scales.targets.invert(jnp.concatenate([rows.y, rows.holdout_y]))[:, 0])
    assert (change < 50).all(), "jump to the next episode"


def test_no_model_sees_a_jump_to_the_next_episode():
    arrays = log()
    no_jumps(arrays)
    without = {k: v for k, v in arrays.items() if k != "next_obs"}
    no_jumps(without)  # The last row of an episode then has no next observation at all.
    with springs("jump"):
        no_jumps(arrays | {"next_obs": np.append(arrays["obs"][1:], arrays["obs"][:1], axis=0)})


# The wrong members


def only_elites_speak(model, elites):
    steps, alive, _ = roll(model)
    member = np.asarray(steps.next_obs - steps.obs)[:, 0].round().astype(int) - 1
    assert set(member[np.asarray(alive)]) == set(elites), "not the elites"
    paths = member.reshape(4, 40)
    assert (paths != paths[0]).any(), "one elite for a whole rollout"


def test_only_elites_are_rolled_out_and_anew_at_every_step():
    only_elites_speak(model(elites=(2, 0), members=4), (0, 2))
    with springs("not the elites"):
        only_elites_speak(model(elites=(0, 1, 2, 3), members=4), (0, 2))
    with springs("not the elites"):
        only_elites_speak(model(elites=(0, 1), members=4), (0, 2))
    with springs("one elite for a whole"):
        only_elites_speak(model(elites=(2,), members=4), (2,))


# MOPO's penalty over the elites alone, or without the reward


def uncertainty_is_everyones(ensemble):
    x = jnp.zeros((3, 2))
    lowered = StdPenalty(1.0, "max_std")(Pairs(ensemble, x, ensemble.trunks(x)))
    assert np.allclose(lowered.penalty, 5.0, atol=1e-4), "not over all members and targets"


def with_deviations(log_var, elites):
    ensemble = model(elites=elites, members=3).ensemble
    bias = ensemble.members.biases[-1].at[:, 2:].set(log_var)
    ensemble = eqx.tree_at(lambda e: e.members.biases[-1], ensemble, bias)
    return eqx.tree_at(lambda e: e.members.log_var_max, ensemble, jnp.full((3, 2), 40.0))


def test_mopo_looks_at_all_members_and_at_the_reward():
    # Member 2 has deviations 3 (observation) and 4 (reward): the norm is 5.
    log_var = 2 * jnp.log(jnp.array([[1.0, 1.0], [1.0, 1.0], [3.0, 4.0]]))
    uncertainty_is_everyones(with_deviations(log_var, (0, 1)))
    with springs("not over all"):
        uncertainty_is_everyones(with_deviations(log_var.at[2].set(log_var[0]), (0, 1)))
    with springs("not over all"):
        uncertainty_is_everyones(with_deviations(log_var.at[2, 1].set(-80.0), (0, 1)))


# Values raised on imagined rows


def raises_only_real_rows(term, real):
    sac = SAC.make(SACConfig(hidden=(4,)), 1, 1, updates=1, key=jr.key(0))
    steps = on_device(load(log()).transitions())
    steps = jax.tree.map(lambda leaf: leaf[:10], steps)

    def value(moved):
        return term(sac.state.critics, sac, steps._replace(action=moved), key=jr.key(0))[0]

    # Only the raised part looks at the batch's own actions.
    pull = np.abs(np.asarray(jax.grad(value)(steps.action)))[:, 0]
    assert (pull[:real] > 0).any()
    assert (pull[real:] == 0).all(), "an imagined row was raised"


def test_combo_raises_only_real_rows():
    term = COMBO(batch=10).critic_term(load(log()))
    raises_only_real_rows(term, 5)
    with springs("an imagined row"):
        raises_only_real_rows(Conservative.make(ConservativeConfig()), 5)


# Old rollouts, or none, in the buffer


def holds_the_latest(buffer, wanted):
    drawn = buffer.sample(200, key=jr.key(0))
    assert set(np.asarray(drawn.reward).tolist()) == wanted, "not the last rollouts"


def rollouts(numbers, buffer):
    for number in numbers:
        row = jnp.full((4, 1), float(number))
        steps = Transition(row, row, row[:, 0], row, jnp.zeros(4, bool))
        buffer = buffer.add(steps, jnp.ones(4, bool))
    return buffer


def test_the_buffer_forgets_the_oldest_rollout():
    holds_the_latest(rollouts(range(1, 6), RingBuffer.empty(3, 4, 1, 1)), {3.0, 4.0, 5.0})
    holds_the_latest(rollouts([1], RingBuffer.empty(3, 4, 1, 1)), {1.0})  # And no empty rows.
    with springs("not the last"):
        holds_the_latest(rollouts(range(1, 6), RingBuffer.empty(5, 4, 1, 1)), {3.0, 4.0, 5.0})


# Real rewards lowered as well


class Costly(AbstractPessimism):
    """Every pair costs 5."""

    def __call__(self, pairs):
        return Lowered.by(jnp.full(len(pairs.x), 5.0))


def only_imagined_rewards_are_lowered(data):
    careful = eqx.tree_at(lambda m: m.pessimism, model(), Costly())
    plan = Imagination(careful, horizon=1, branches=4, rows=12)
    frozen = Frozen(data, updates=1, batch=20, imagination=plan)
    sac = SAC.make(SACConfig(hidden=(4,)), 1, 1, updates=1, key=jr.key(0))
    state = PolicyState(sac, RingBuffer.empty(1, 4, 1, 1))
    buffer, _ = imagine(frozen, state, key=jr.key(1))
    batch = mixed_batch(frozen, buffer, key=jr.key(0))
    assert set(np.asarray(batch.reward[8:]).round().tolist()) <= {-5.0, -4.0}
    assert (batch.reward[:8] == 1.0).all(), "a logged reward was lowered"


def test_real_rewards_stay_as_they_were_logged():
    data = on_device(load(log()).transitions())
    only_imagined_rewards_are_lowered(data)
    with springs("a logged reward"):
        only_imagined_rewards_are_lowered(data._replace(reward=data.reward - 0.1))


# Rows that were held out counted as known


def only_training_rows_are_counted(counted, rows):
    counts = lambda x: ExactCounter.of(counted).counts(x, jnp.zeros((1, len(x), 1)))  # noqa: E731
    assert (counts(rows.x) == 1).all()
    assert (counts(rows.holdout_x) == 0).all(), "held-out rows were counted"


@pytest.mark.slow
def test_held_out_rows_are_not_counted(tmp_path):
    config = CountMORL(
        epochs=1,
        updates=1,
        batch=8,
        branches=4,
        horizon=1,
        counter="exact",
        model=EnsembleConfig(members=2, elites=1, width=4, holdout=5, max_epochs=1),
    )
    quiet = {"options": RunOptions(eval_every=0), "quiet": True}
    run = train(replace(config, termination="never"), log(), out=tmp_path / "run", **quiet)
    rows, scales = split_rows(load(log()), config.model, seed=0)
    held = np.asarray(scales.inputs.invert(rows.holdout_x))
    query = load_query(run)
    assert (query(held[:, :1], held[:, 1:]).members == 0).all()
    only_training_rows_are_counted(rows.x, rows)
    with springs("held-out"):
        only_training_rows_are_counted(jnp.concatenate([rows.x, rows.holdout_x]), rows)


# An entropy of -3 whatever the actions, or a policy as narrow as e^-20


def entropy_is_minus_the_actions(sac):
    assert sac.target_entropy == -6, "the same entropy for every task"


def test_the_entropy_aimed_at_counts_the_actions():
    make = lambda **more: SAC.make(SACConfig(hidden=(4,), **more), 1, 6, updates=1, key=jr.key(0))  # noqa: E731
    entropy_is_minus_the_actions(make())
    with springs("the same entropy"):
        entropy_is_minus_the_actions(make(target_entropy=-3.0))


def policy_keeps_its_width(sac):
    narrow = sac.state.actor.biases[-1].at[1].set(-50.0)  # The log deviation of its one action.
    sac = eqx.tree_at(lambda a: a.state.actor.biases[-1], sac, narrow)
    obs = jnp.zeros((2000, 1))
    width = float(jnp.arctanh(sac.act(obs, key=jr.key(1))).std())
    assert abs(np.log(width) + 5) < 0.1, "narrower than e^-5"
    assert policy_of(sac, 1).log_std_range[0] == -5


def test_no_policy_is_narrower_than_its_floor():
    make = lambda **more: SAC.make(SACConfig(hidden=(4,), **more), 1, 1, updates=1, key=jr.key(0))  # noqa: E731
    policy_keeps_its_width(make())
    with springs("narrower"):
        policy_keeps_its_width(make(log_std_min=-7.0))


# Best weights of the model not restored


def best_weights_are_restored(members, state):
    for kept, best in zip(*map(jax.tree.leaves, (members, state.best)), strict=True):
        assert (kept == best).all(), "not the best weights"


def test_the_models_best_weights_are_restored():
    config = EnsembleConfig(members=2, elites=1, width=4, holdout=5, max_epochs=1)
    fit = EnsembleFit.of(load(log()), config, seed=0)
    state = fit.init(key=jr.key(0))
    state = eqx.tree_at(lambda s: s.members, state, jax.tree.map(lambda leaf: leaf + 1, state.best))
    best_weights_are_restored(fit.result(state).members, state)
    with springs("not the best"):
        best_weights_are_restored(state.members, state)


# A termination rule asked about standardised observations


def the_rule_sees_raw_observations(scale, given):
    """Observations around 1000; the rule ends whatever is above 500, raw."""
    ensemble = eqx.tree_at(lambda e: e.standardizer, model().ensemble, scale)
    rule = KnownTermination(lambda next_obs: next_obs[0] > 500)
    careful = PenalizedModel(ensemble, NoPessimism(), rule, model().layout)
    step, _ = careful.step(given, jnp.zeros((4, 1)), key=jr.key(0))
    assert step.terminated.all(), "judged in standardised units"


def test_ends_are_judged_in_the_tasks_own_units():
    scale = Standardizer(jnp.array([1000.0, 0.0]), jnp.array([50.0, 1.0]))
    obs = jnp.full((4, 1), 1000.0)
    the_rule_sees_raw_observations(scale, obs)
    with springs("standardised units"):
        the_rule_sees_raw_observations(scale, (obs - 1000) / 50)
