import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from countmorl.envs.terminations import hopper, never, walker2d

UPRIGHT = {hopper: [1.25, 0.0] + [0.0] * 9, walker2d: [1.25, 0.0] + [0.0] * 15}


def ends(rule, **changes):
    """Whether an upright robot's episode ends, with some observation columns changed."""
    obs = np.array(UPRIGHT[rule], np.float32)
    for column, value in changes.items():
        obs[int(column.removeprefix("at"))] = value
    return bool(rule(jnp.asarray(obs)))


class TestHopper:
    def test_stands(self):
        assert not ends(hopper)

    @pytest.mark.parametrize(("height", "over"), [(0.71, False), (0.7, True), (0.69, True)])
    def test_height(self, height, over):
        assert ends(hopper, at0=height) is over

    @pytest.mark.parametrize("sign", [-1, 1])
    @pytest.mark.parametrize(("angle", "over"), [(0.19, False), (0.2, True), (0.21, True)])
    def test_angle(self, angle, over, sign):
        assert ends(hopper, at1=sign * angle) is over

    @pytest.mark.parametrize("value", [150.0, -150.0, 100.0, -100.0])
    @pytest.mark.parametrize("column", ["at2", "at5", "at10"])
    def test_a_state_out_of_range_on_either_side(self, column, value):
        assert ends(hopper, **{column: value})

    @pytest.mark.parametrize("value", [99.0, -99.0])
    def test_a_state_just_within_range(self, value):
        assert not ends(hopper, at7=value)

    def test_any_height_above_is_fine(self):
        assert not ends(hopper, at0=500.0)

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("column", ["at0", "at1", "at10"])
    def test_what_is_not_a_number(self, column, value):
        assert ends(hopper, **{column: value})


class TestWalker:
    def test_stands(self):
        assert not ends(walker2d)

    @pytest.mark.parametrize(
        ("height", "over"),
        [(0.81, False), (0.8, True), (0.79, True), (1.99, False), (2.0, True), (2.01, True)],
    )
    def test_height(self, height, over):
        assert ends(walker2d, at0=height) is over

    @pytest.mark.parametrize("sign", [-1, 1])
    @pytest.mark.parametrize(("angle", "over"), [(0.99, False), (1.0, True), (1.01, True)])
    def test_angle(self, angle, over, sign):
        assert ends(walker2d, at1=sign * angle) is over

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("column", ["at0", "at1", "at16"])
    def test_what_is_not_a_number(self, column, value):
        assert ends(walker2d, **{column: value})


@pytest.mark.parametrize("value", [0.0, -150.0, 1e6, np.nan, np.inf])
def test_never(value):
    over = never(jnp.full(17, value, jnp.float32))
    assert (bool(over), over.shape, over.dtype) == (False, (), bool)


@pytest.mark.parametrize("version", ["v4", "v5"])
@pytest.mark.parametrize(
    ("rule", "name", "heights", "angles"),
    [
        (hopper, "Hopper", (0.5, 0.9), (-0.35, 0.35)),
        (walker2d, "Walker2d", (0.6, 2.2), (-1.4, 1.4)),
    ],
    ids=["hopper", "walker2d"],
)
def test_agrees_with_the_environments_own_rule(rule, name, version, heights, angles):
    gymnasium = pytest.importorskip("gymnasium")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        env = gymnasium.make(f"{name}-{version}").unwrapped
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    observations, unhealthy = [], []
    for _ in range(300):
        qpos = rng.uniform(-1, 1, env.model.nq)
        qpos[1], qpos[2] = rng.uniform(*heights), rng.uniform(*angles)
        if rng.random() < 0.1:
            qpos[3] = rng.choice([-150, 150])  # A joint out of range: only the hopper minds.
        # Observed velocities are clipped to 10, so beyond that the two cannot be compared.
        env.set_state(qpos, rng.uniform(-9, 9, env.model.nv))
        observations.append(env._get_obs())
        unhealthy.append(not env.is_healthy)
    env.close()
    got = jax.vmap(rule)(jnp.asarray(np.array(observations), jnp.float32))
    assert 50 < sum(unhealthy) < 280
    assert np.asarray(got).tolist() == unhealthy


def test_the_half_cheetah_never_falls_in_its_environment_either():
    gymnasium = pytest.importorskip("gymnasium")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        env = gymnasium.make("HalfCheetah-v4")
    env.reset(seed=0)
    upside_down = np.zeros(env.unwrapped.model.nq)
    upside_down[2] = np.pi
    env.unwrapped.set_state(upside_down, np.full(env.unwrapped.model.nv, 8.0))
    _, _, terminated, _, _ = env.step(env.action_space.sample())
    env.close()
    assert terminated is False
