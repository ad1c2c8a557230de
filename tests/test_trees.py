import jax.numpy as jnp
import pytest

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
