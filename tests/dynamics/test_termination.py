import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from countmorl import load
from countmorl.dynamics import termination_fit
from countmorl.dynamics.termination import KnownTermination, check_rule, known_rule
from countmorl.errors import ConfigError


def falling_log(rows=6000):
    rng = np.random.default_rng(0)
    obs = rng.uniform(-1, 1, (rows, 2)).astype(np.float32)
    action = rng.uniform(-1, 1, (rows, 1)).astype(np.float32)
    next_obs = obs + 0.5 * action
    ended = next_obs[:, 0] > 1.0
    log = {"obs": obs, "action": action, "reward": ended, "next_obs": next_obs, "terminated": ended}
    return load(log)


def test_a_learned_rule_is_right_and_calibrated():
    dataset = falling_log()
    rows, inputs = termination_fit.split_rows(dataset, seed=0)
    state = termination_fit.start(rows, key=jr.key(0))
    for epoch in range(3):
        state, _ = termination_fit.fit_epoch(rows, state, jr.key(epoch))
    rule = termination_fit.finish(state, rows, inputs)
    facts = termination_fit.quality(rule, rows)
    assert facts["missed_ends"] < 0.1
    assert facts["false_alarms"] < 0.01
    assert facts["calibration_error"] < 0.02
    deep = jnp.array([[1.0, 0.0]])
    ended = rule(deep, jnp.array([[1.0]]), deep + 0.5, key=jr.key(1))
    far = rule(-deep, jnp.array([[0.0]]), -deep, key=jr.key(1))
    assert (bool(ended[0]), bool(far[0])) == (True, False)


def test_holdout_takes_its_share_of_ended_rows():
    rows, _ = termination_fit.split_rows(falling_log(), seed=0)
    share = lambda flags: float(np.mean(np.asarray(flags)))  # noqa: E731
    np.testing.assert_allclose(share(rows.holdout_ended), share(rows.ended), atol=0.005)


def test_users_rules_are_imported_by_name():
    rule = KnownTermination(known_rule("jax.numpy:isnan"))
    rows = jnp.array([1.0, jnp.nan])
    np.testing.assert_array_equal(rule(rows, rows, rows, key=jr.key(0)), [False, True])


@pytest.mark.parametrize("name", ["hoper", "no_such_module:f", "math:no_such_function"])
def test_unknown_rules_are_refused(name):
    with pytest.raises(ConfigError, match=r"termination rule|could not be imported"):
        known_rule(name)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("jax.numpy:isnan", r"one observation of 3 numbers into one boolean.*bool\[3\]"),
        ("jax.numpy:sum", r"it gave .*float32"),
        ("math:sqrt", "it gave TypeError"),
        ("os:getcwd", "it gave TypeError"),
        ("hopper", "for observations of 11 numbers; the data have 3"),
        ("walker2d", "for observations of 17 numbers; the data have 3"),
    ],
)
def test_rules_that_do_not_judge_one_observation_are_refused(name, words):
    with pytest.raises(ConfigError, match=words) as caught:
        check_rule(name, 3)
    assert "\n" not in str(caught.value)


def test_known_rules_pass():
    check_rule("never", 3)
    check_rule("hopper", 11)
    check_rule("jax.numpy:any", 3)
