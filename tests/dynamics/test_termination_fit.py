import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from countmorl import load
from countmorl.dynamics.termination_fit import TerminationFit, split_rows


def falling_log(rows=6000):
    rng = np.random.default_rng(0)
    obs = rng.uniform(-1, 1, (rows, 2)).astype(np.float32)
    action = rng.uniform(-1, 1, (rows, 1)).astype(np.float32)
    next_obs = obs + 0.5 * action
    ended = next_obs[:, 0] > 1.0
    log = {"obs": obs, "action": action, "reward": ended, "next_obs": next_obs, "terminated": ended}
    return load(log)


@pytest.mark.slow
def test_a_learned_rule_is_right_and_calibrated():
    dataset = falling_log()
    fit = TerminationFit(dataset, seed=0)
    state = fit.init(key=jr.key(0))
    for epoch in range(3):
        state, _ = fit.epoch(state, key=jr.key(epoch))
    rule, facts = fit.result(state), fit.judge(state, 3)
    assert facts["missed_ends"] < 0.1
    assert facts["false_alarms"] < 0.01
    assert facts["calibration_error"] < 0.02
    deep = jnp.array([[1.0, 0.0]])
    ended = rule(deep, jnp.array([[1.0]]), deep + 0.5, key=jr.key(1))
    far = rule(-deep, jnp.array([[0.0]]), -deep, key=jr.key(1))
    assert (bool(ended[0]), bool(far[0])) == (True, False)


def test_holdout_takes_its_share_of_ended_rows():
    rows, _ = split_rows(falling_log(), seed=0)
    share = lambda flags: float(np.mean(np.asarray(flags)))  # noqa: E731
    np.testing.assert_allclose(share(rows.holdout_ended), share(rows.ended), atol=0.005)
