import jax.numpy as jnp

from countmorl import trees


def test_take_picks_the_same_rows_of_every_leaf():
    tree = {"a": jnp.arange(5), "b": (jnp.arange(10.0).reshape(5, 2),)}
    taken = trees.take(tree, jnp.array([4, 0, 4]))
    assert taken["a"].tolist() == [4, 0, 4]
    assert taken["b"][0].tolist() == [[8, 9], [0, 1], [8, 9]]


def test_mean_is_over_the_first_axis():
    averaged = trees.mean({"a": jnp.array([1.0, 3.0]), "b": jnp.array([[0.0, 4.0], [2.0, 8.0]])})
    assert float(averaged["a"]) == 2
    assert averaged["b"].tolist() == [1, 6]
