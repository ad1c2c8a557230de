import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from countmorl import trees
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.gaussian import GaussianNet
from countmorl.scaling import Standardizer


def make(members=4, elites=(2, 0, 3), norm=False):
    nets = jax.vmap(lambda k: GaussianNet.make((5, 16, 16, 16, 16, 3), norm=norm, key=k))
    stacked = nets(jr.split(jr.key(0), members))
    scale = Standardizer(jnp.arange(5.0), jnp.full(5, 2.0))
    targets = Standardizer.identity(3)
    return Ensemble(stacked, scale, targets, jnp.array(elites), jnp.zeros(members))


@pytest.mark.parametrize(
    ("rows", "each"), [(30, [10, 10, 10]), (31, [11, 11, 9]), (2, [1, 1, 0]), (1, [1, 0, 0])]
)
def test_routed_rows_equal_the_unrouted_computation_of_their_elite(rows, each):
    ensemble, x = make(), jr.normal(jr.key(1), (rows, 5))
    routed, routed_var = ensemble.routed_head(ensemble.trunks(x), key=jr.key(2))
    mean, log_var = ensemble.predict(x)
    mean, log_var = mean[ensemble.elites], log_var[ensemble.elites]
    match = np.isclose(mean, routed[None], atol=1e-5).all(axis=2)
    assert (match.sum(axis=0) == 1).all()  # Each row is one elite's prediction,
    assert match.sum(axis=1).tolist() == each  # and each elite predicts equally many rows.
    drawn = match.argmax(axis=0)
    np.testing.assert_allclose(routed_var, np.asarray(log_var)[drawn, np.arange(rows)], atol=1e-5)


def test_every_row_meets_every_elite_equally_often():
    ensemble, x = make(), jr.normal(jr.key(1), (3, 5))
    hidden, mean = ensemble.trunks(x), ensemble.predict(x)[0][ensemble.elites]
    route = jax.jit(jax.vmap(lambda key: ensemble.routed_head(hidden, key=key)[0]))
    routed = route(jr.split(jr.key(3), 600))
    match = np.isclose(mean[None], routed[:, None], atol=1e-5).all(axis=3)
    np.testing.assert_allclose(match.mean(axis=0), 1 / 3, atol=0.07)


def test_inputs_are_joined_and_scaled():
    x = make().standardize(jnp.array([[2.0, 3.0, 4.0]]), jnp.array([[5.0, 6.0]]))
    np.testing.assert_allclose(x, [[1.0, 1.0, 1.0, 1.0, 1.0]])


@pytest.mark.parametrize("norm", [False, True])
def test_a_file_tells_whether_layers_are_normalised(norm):
    arrays = trees.to_arrays(make(norm=norm))
    assert (".members.gains[3]" in arrays) == norm
    again = Ensemble.from_arrays(arrays)
    assert eqx.tree_equal(again, make(norm=norm))


@pytest.mark.usefixtures("unchecked")
class TestFiles:
    """Arrays of a file make an ensemble, or a sentence: whoever made the file."""

    def test_what_is_written_comes_back(self):
        again = Ensemble.from_arrays(trees.to_arrays(make()))
        assert eqx.tree_equal(again, make())

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            (".elites", np.array([0, 4])),
            (".elites", np.array([-1])),
            (".elites", np.array([0.0], np.float32)),
            (".elites", np.zeros(0, np.int32)),
            (".members.biases[0]", np.full((4, 16), np.nan, np.float32)),
            (".members.biases[0]", np.zeros((4, 16), np.float16)),
            (".members.biases[1]", np.zeros((4, 3), np.float32)),
            (".targets.std", np.ones(4, np.float32)),
            (".standardizer.mean", np.zeros(4, np.float32)),
            (".holdout_error", np.zeros(3, np.float32)),
        ],
    )
    def test_what_is_none_is_refused(self, name, value):
        arrays = trees.to_arrays(make())
        assert name in arrays
        with pytest.raises((ValueError, TypeError)):
            Ensemble.from_arrays(arrays | {name: value})
