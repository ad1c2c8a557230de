import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from countmorl import load
from countmorl.agents.base import AbstractAgent
from countmorl.buffer import RingBuffer
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.gaussian import GaussianNet
from countmorl.dynamics.layout import Layout
from countmorl.dynamics.termination import KnownTermination
from countmorl.pessimism import AbstractPessimism, Lowered
from countmorl.rollouts import PenalizedModel, Sequences, rollout
from countmorl.scaling import Standardizer
from countmorl.schema import Column, Schema, schema_bytes
from countmorl.training.epoch import Frozen, Imagination, PolicyState, imagine
from countmorl.types import Transition
from models import all_predicted
from small_runs import vector_log


class Constant(AbstractPessimism):
    amount: float = eqx.field(static=True)

    def __call__(self, pairs):
        return Lowered.by(jnp.full(len(pairs.x), self.amount))


def counting_model(penalty=0.25):
    """A model whose next observation is obs + 1 and whose reward is 1, almost without noise."""
    net = GaussianNet.make((2, 4, 4, 4, 4, 2), key=jr.key(0))
    nets = jax.tree.map(lambda leaf: jnp.stack([jnp.zeros_like(leaf)] * 2), net)
    bias = jnp.array([1.0, 1.0, -40.0, -40.0])
    nets = eqx.tree_at(lambda n: n.biases[-1], nets, jnp.stack([bias, bias]))
    nets = eqx.tree_at(lambda n: n.log_var_min, nets, jnp.full((2, 2), -40.0))
    plain = Standardizer.identity(2)
    ensemble = Ensemble(nets, plain, plain, jnp.arange(2), jnp.zeros(2))
    ends = KnownTermination(lambda next_obs: next_obs[0] > 2.5)
    return PenalizedModel(ensemble, Constant(penalty), ends, all_predicted(1, 1))


def act(obs, *, key):
    return jnp.zeros((len(obs), 1))


def test_a_branch_ends_at_its_first_terminal_step_which_still_counts():
    start = jnp.array([[0.0], [2.0]])
    steps, alive, facts, _ = rollout(counting_model(), act, start, 5, key=jr.key(0))
    obs = np.asarray(steps.obs[alive, 0]).round(3)
    # From 0: steps at 0, 1, 2 (2 -> 3 ends it). From 2: one step, which ends it.
    assert sorted(obs.tolist()) == [0.0, 1.0, 2.0, 2.0]
    assert int(steps.terminated[alive].sum()) == 2
    np.testing.assert_allclose(facts["alive"], [1.0, 0.5, 0.5, 0.0, 0.0])
    np.testing.assert_allclose(facts["terminated"], [0.5, 0.0, 1.0, 0.0, 0.0], atol=1e-6)


def test_rewards_are_lowered_by_the_penalty():
    start = jnp.zeros((4, 1))
    steps, alive, facts, _ = rollout(counting_model(0.25), act, start, 2, key=jr.key(0))
    np.testing.assert_allclose(steps.reward[alive], 0.75, atol=1e-5)
    np.testing.assert_allclose(steps.next_obs - steps.obs, 1.0, atol=1e-5)
    np.testing.assert_allclose(facts["penalty"], [0.25, 0.25])


class Ending(AbstractPessimism):
    """Ends every rollout at once, worth so much."""

    worth: float = eqx.field(static=True)

    def __call__(self, pairs):
        rows = len(pairs.x)
        return Lowered(jnp.full(rows, 0.25), jnp.ones(rows, bool), {}, self.worth)


@pytest.mark.parametrize(("worth", "paid"), [(-3.0, -3.0), (0.0, 0.0), (5.0, 0.75)])
def test_an_end_in_the_unknown_is_worth_no_more_than_it_may_be(worth, paid):
    # The model promises 1, lowered to 0.75.
    model = eqx.tree_at(lambda m: m.pessimism, counting_model(), Ending(worth))
    steps, alive, _, _ = rollout(model, act, jnp.zeros((2, 1)), 3, key=jr.key(0))
    assert int(alive.sum()) == 2
    assert steps.terminated[alive].all()
    np.testing.assert_allclose(steps.reward[alive], paid, atol=1e-5)


def test_many_branches_are_rolled_out_in_blocks_of_their_own_noise(monkeypatch):
    monkeypatch.setattr("countmorl.trees.BLOCK", 4)
    model = counting_model()
    noisy = jnp.zeros((2, 2))
    model = eqx.tree_at(lambda m: m.ensemble.members.log_var_min, model, noisy)
    start = jnp.linspace(-9.0, -8.0, 10)[:, None]
    steps, alive, facts, _ = rollout(model, act, start, 3, key=jr.key(0))
    obs = np.asarray(steps.obs).reshape(3, 10)
    np.testing.assert_allclose(obs[0], start[:, 0])  # All first steps, then all second ones.
    np.testing.assert_allclose(obs[1], np.asarray(steps.next_obs).reshape(3, 10)[0])
    moved = obs[1] - obs[0]
    assert len(set(moved.round(5))) == 10  # No two blocks share their noise.
    assert alive.all()
    assert facts["alive"].shape == (3,)


def test_an_exploding_model_never_reaches_the_buffer():
    model = counting_model()
    bias = jnp.full((2, 4), jnp.inf)
    model = eqx.tree_at(lambda m: m.ensemble.members.biases[-1], model, bias)
    steps, alive, *_ = rollout(model, act, jnp.zeros((4, 1)), 3, key=jr.key(0))
    assert not alive.any()
    assert jax.tree.all(jax.tree.map(lambda leaf: bool(jnp.isfinite(leaf).all()), steps))


class Still(AbstractAgent):
    def update(self, batch, *, key):
        raise NotImplementedError

    def act(self, obs, *, key):
        return act(obs, key=key)

    def policy(self, space, info):
        raise AssertionError("Nobody asks for its policy.")


def visited(continued, epochs, ends=False):
    """Where the last epoch's eight branches of two steps were; the data hold 0 and 40."""
    rows = jnp.array([[0.0], [40.0]])
    data = Transition(rows, rows, rows[:, 0], rows, jnp.zeros(2, bool))
    model = counting_model()
    if not ends:
        never = KnownTermination(lambda next_obs: next_obs[0] > 1000)
        model = eqx.tree_at(lambda m: m.termination, model, never)
    plan = Imagination(model, horizon=2, branches=8, rows=1, going_on=continued)
    buffer, facts = RingBuffer.empty(1, 16, 1, 1), {}
    for number in range(epochs):
        state = PolicyState(Still(), buffer)
        buffer, facts = imagine(Frozen(data, 1, 2, plan), state, key=jr.key(number))
        assert buffer is not None
    return np.asarray(buffer.data.obs[: int(buffer.size), 0]).round(2).tolist(), facts


def test_rollouts_go_on_from_where_the_last_ones_ended():
    obs, facts = visited(6, epochs=1)
    assert set(obs) == {0.0, 1.0, 40.0, 41.0}  # There is nothing to go on from yet.
    assert float(facts["rollout_continued"]) == 0
    obs, facts = visited(6, epochs=2)
    assert sum(value in (2.0, 3.0, 42.0, 43.0) for value in obs) == 2 * 6
    assert sum(value in (0.0, 1.0, 40.0, 41.0) for value in obs) == 2 * 2
    assert float(facts["rollout_continued"]) == 0.75
    assert set(visited(0, epochs=2)[0]) == {0.0, 1.0, 40.0, 41.0}


def test_nothing_goes_on_from_an_end():
    assert set(visited(6, epochs=3, ends=True)[0]) <= {0.0, 1.0, 2.0, 40.0}


def test_nothing_goes_on_far_from_the_data():
    """44 is a tenth of the range above 40: a rollout still begins there, and none further."""
    assert max(max(visited(6, epochs)[0]) for epochs in range(1, 6)) == 45.0


def weather_log():
    """Two episodes of four steps; rain is what the log says, x is the action's."""
    x, rain = np.zeros(8, np.float32), np.array([1, 2, 3, 4, 10, 20, 30, 40], np.float32)
    schema = Schema(
        obs=(Column(name="x"), Column(name="rain")),
        action=(Column(name="dose"),),
        exogenous=("rain",),
    )
    return load(
        {
            "obs": np.stack([x, rain], axis=1),
            "action": np.linspace(-1, 1, 8)[:, None],
            "reward": np.arange(8.0),
            "truncated": np.arange(8) % 4 == 3,
            "schema": schema_bytes(schema),
        }
    )


def weather_model(data):
    """x goes up by 1; rain is not predicted."""
    net = GaussianNet.make((3, 4, 4, 4, 4, 2), key=jr.key(0))
    nets = jax.tree.map(lambda leaf: jnp.zeros((1, *leaf.shape)), net)
    nets = eqx.tree_at(lambda n: n.biases[-1], nets, jnp.array([[1.0, 0.0, -40.0, -40.0]]))
    nets = eqx.tree_at(lambda n: n.log_var_min, nets, jnp.full((1, 2), -40.0))
    scales = (Standardizer.identity(3), Standardizer.identity(2))
    ensemble = Ensemble(nets, *scales, jnp.arange(1), jnp.zeros(1))
    never = KnownTermination(lambda next_obs: next_obs[0] > 1e9)
    return PenalizedModel(ensemble, Constant(0.0), never, Layout.of(data))


def test_exogenous_numbers_follow_the_log_and_a_branch_ends_with_it():
    data = weather_log()
    sequences = Sequences.of(data, "critic")
    kept = data.transitions("critic")
    assert kept.obs[:, 1].tolist() == [1, 2, 3, 10, 20, 30]  # Cut rows have no successor.
    still = lambda obs, *, key: jnp.zeros((len(obs), 1))  # noqa: E731
    rows = jnp.array([0, 3, 2])
    start = jnp.asarray(kept.obs)[rows]
    model = weather_model(data)
    rolled = rollout(model, still, start, 4, sequences=sequences, rows=rows, key=jr.key(0))
    after = np.asarray(rolled.steps.next_obs).reshape(4, 3, 2)
    live = np.asarray(rolled.live).reshape(4, 3)
    assert live.sum(axis=0).tolist() == [3, 3, 1]
    assert after[:3, 0].tolist() == [[1, 2], [2, 3], [3, 4]]
    assert after[:3, 1].tolist() == [[1, 20], [2, 30], [3, 40]]
    assert after[0, 2].tolist() == [1, 4]
    assert not np.asarray(rolled.steps.terminated).any()
    assert np.asarray(rolled.rows).reshape(4, 3)[:3].tolist() == [
        [1, 4, -1],
        [2, 5, -1],
        [-1, -1, -1],
    ]


def test_without_exogenous_columns_there_are_no_sequences():
    assert Sequences.of(load(vector_log()), "critic") is None
