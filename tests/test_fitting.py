import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from countmorl.fitting import AbstractFit, first_state, run_fit, stream_of, strong
from countmorl.runs.folder import Run
from countmorl.runs.manifest import Manifest
from countmorl.training.stages import Stages


class State(eqx.Module):
    total: jax.Array


class Walk(AbstractFit):
    """Adds a number that the key decides, until it is far enough."""

    name, stream, epochs = "walk", 3, 50

    def init(self, *, key):
        return State(jr.uniform(key))

    def epoch(self, state, *, key):
        return State(state.total + jr.uniform(key)), {"total": state.total}

    def finished(self, state):
        return float(state.total) > 4

    def result(self, state):
        return state.total


def test_in_memory_and_as_a_stage_of_a_run_the_result_is_the_same(tmp_path):
    run = Run.create(tmp_path / "run", Manifest(algorithm="walk"))
    durable = Stages(run, 7, 2, quiet=True).do(Walk())
    np.testing.assert_array_equal(run_fit(Walk(), seed=7), durable)
    assert 4 < float(durable) < 5.1
    assert run_fit(Walk(), seed=8) != durable


def test_a_fit_ends_at_its_last_epoch_where_nothing_ends_it_before():
    class Short(Walk):
        epochs = 2

        def finished(self, state):
            return False

    stream = stream_of(Short(), 0)
    wanted = jr.uniform(jr.fold_in(stream, 0))
    for epoch in (1, 2):
        wanted += jr.uniform(jr.fold_in(stream, epoch))
    np.testing.assert_allclose(run_fit(Short(), seed=0), wanted, rtol=1e-6)


def test_streams_of_two_fits_differ():
    other = Walk()
    other.stream = 4
    assert first_state(Walk(), stream_of(Walk(), 0)) != first_state(other, stream_of(other, 0))


def test_every_leaf_gets_a_definite_type():
    weak = jnp.asarray(1.0) * 2.0
    assert jnp.add(1.0, 2.0).weak_type
    assert not strong({"x": weak, "y": jnp.add(1.0, 2.0)})["y"].weak_type


def test_by_default_a_fit_judges_nothing_keeps_nothing_and_has_no_policy():
    walk = Walk()
    state = State(jnp.zeros(()))
    assert walk.judge(state, 1) == {}
    assert walk.policy(state) is None
    assert not walk.kept(1)
