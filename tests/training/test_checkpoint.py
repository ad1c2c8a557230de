import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from countmorl.errors import RunError
from countmorl.training.checkpoint import from_arrays, to_arrays


class Pair(eqx.Module):
    left: jnp.ndarray
    right: tuple
    note: str = eqx.field(static=True, default="x")


TREE = Pair(jnp.arange(3.0), (jnp.zeros((2, 2), bool), {"count": jnp.array(7)}))


def test_leaves_are_named_by_their_path():
    assert set(to_arrays(TREE)) == {".left", ".right[0]", ".right[1]['count']"}


def test_a_tree_comes_back_leaf_by_leaf():
    again = from_arrays(TREE, to_arrays(TREE))
    assert eqx.tree_equal(again, TREE)


def test_shapes_alone_will_do_as_a_template():
    template = eqx.filter_eval_shape(lambda: TREE)
    assert eqx.tree_equal(from_arrays(template, to_arrays(TREE)), TREE)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({".extra": np.zeros(1)}, "differs in .extra"),
        ({".left": None}, "differs in .left"),
        ({".left": np.zeros(4, np.float32)}, r".left is float32\[4\], wanted float32\[3\]"),
        ({".left": np.zeros(3, np.float64)}, r".left is float64\[3\], wanted float32\[3\]"),
    ],
)
def test_what_does_not_fit_is_named(changes, words):
    arrays = {k: v for k, v in (to_arrays(TREE) | changes).items() if v is not None}
    with pytest.raises(RunError, match=f"does not fit this run.*{words}"):
        from_arrays(TREE, arrays)
