import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from countmorl import trees
from countmorl.errors import RunError
from countmorl.trees import from_arrays, to_arrays


def test_take_picks_the_same_rows_of_every_leaf():
    tree = {"a": jnp.arange(5), "b": (jnp.arange(10.0).reshape(5, 2),)}
    taken = trees.take(tree, jnp.array([4, 0, 4]))
    assert taken["a"].tolist() == [4, 0, 4]
    assert taken["b"][0].tolist() == [[8, 9], [0, 1], [8, 9]]


def test_mean_is_over_the_first_axis():
    averaged = trees.mean({"a": jnp.array([1.0, 3.0]), "b": jnp.array([[0.0, 4.0], [2.0, 8.0]])})
    assert float(averaged["a"]) == 2
    assert averaged["b"].tolist() == [1, 6]


@pytest.mark.parametrize("rows", [0, 1, 3, 4, 8, 11])
def test_blocks_give_what_all_rows_at_once_give(rows, monkeypatch):
    monkeypatch.setattr("countmorl.trees.BLOCK", 4)
    tree = (jnp.arange(rows), jnp.arange(2.0 * rows).reshape(rows, 2))
    sizes = []

    def function(block, index):
        sizes.append(len(block[0]))
        return {"first": 2 * block[0], "second": jnp.stack([block[1], -block[1]])}

    whole = function(tree, jnp.zeros(()))
    first = trees.in_blocks(lambda *at: function(*at)["first"], tree)
    second = trees.in_blocks(lambda *at: function(*at)["second"], tree, axis=1)
    assert first.tolist() == whole["first"].tolist()
    assert second.tolist() == whole["second"].tolist()
    assert max(sizes[1:]) <= 4


def test_blocks_know_their_number(monkeypatch):
    monkeypatch.setattr("countmorl.trees.BLOCK", 2)
    told = trees.in_blocks(lambda block, index: 0 * block + index, jnp.arange(5))
    assert told.tolist() == [0, 0, 1, 1, 2]


def test_a_lengthening_average_weighs_the_latest_share():
    average = jnp.zeros(())
    for i in range(1000):
        average = trees.lengthening_average(average, jnp.array(float(i)), 0.1, jnp.array(i))
    # Point i weighs about as i^9, whose mean is at ten elevenths.
    assert abs(float(average) - 1000 * 10 / 11) < 5


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
