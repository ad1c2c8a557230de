"""Where the numbers of the next observation come from."""

import jax.numpy as jnp
import numpy as np

from countmorl import load
from countmorl.dynamics.layout import Layout
from countmorl.schema import Column, Schema, schema_bytes


def stream(schema, rows=12, **more):
    """A log whose observations count up, as the schema sees them."""
    width = len(schema.obs_names)
    return load(
        {
            "obs": np.arange(rows * width, dtype=np.float32).reshape(rows, width),
            "action": np.linspace(0, 4, rows)[:, None],
            "reward": np.arange(rows, dtype=np.float32),
            "action_low": np.zeros(1),
            "action_high": np.full(1, 4.0),
            "schema": schema_bytes(schema),
            **more,
        }
    )


DOSE = (Column(name="dose"),)


def test_without_a_schema_every_number_is_predicted(log):
    layout = Layout.of(load(log()))
    assert layout.plain
    obs, change = jnp.ones((2, 3)), jnp.full((2, 3), 0.5)
    following = layout.following(obs, jnp.zeros((2, 2)), change)
    np.testing.assert_array_equal(following, np.full((2, 3), 1.5))
    np.testing.assert_array_equal(layout.changes(obs, following), change)


def test_history_moves_on_by_hand():
    schema = Schema(obs=(Column(name="x"),), action=DOSE, history=3)
    layout = Layout.of(stream(schema))
    assert layout.predicted == (0,)
    # x, x@-1, dose@-1, x@-2, dose@-2; an action of 0.5 is a dose of 3.
    obs = jnp.array([[10.0, 9.0, 1.0, 8.0, 2.0]])
    following = layout.following(obs, jnp.array([[0.5]]), jnp.array([[0.25]]))
    np.testing.assert_allclose(following, [[10.25, 10.0, 3.0, 9.0, 1.0]])
    np.testing.assert_allclose(layout.changes(obs, following), [[0.25]])


def test_exogenous_numbers_come_from_outside():
    obs = (Column(name="x"), Column(name="rain"), Column(name="y"))
    layout = Layout.of(stream(Schema(obs=obs, action=DOSE, exogenous=("rain",))))
    assert layout.predicted == (0, 2)
    before, change = jnp.array([[1.0, 2.0, 3.0]]), jnp.array([[10.0, 20.0]])
    following = layout.following(before, jnp.zeros((1, 1)), change, jnp.array([[7.0]]))
    np.testing.assert_allclose(following, [[11.0, 7.0, 23.0]])


def test_a_discrete_action_in_the_history_is_its_vector():
    kind = (Column(name="offer", kind="category", values=("mail", "call")),)
    schema = Schema(obs=(Column(name="x"),), action=kind, history=2)
    data = load(
        {
            "obs": np.zeros((6, 4), np.float32),
            "action": np.array([0, 1, 0, 1, 0, 1]),
            "reward": np.zeros(6),
            "action_count": np.array(2),
            "schema": schema_bytes(schema),
        }
    )
    following = Layout.of(data).following(
        jnp.zeros((1, 4)), jnp.array([[0.0, 1.0]]), jnp.ones((1, 1))
    )
    np.testing.assert_allclose(following, [[1.0, 0.0, 0.0, 1.0]])
