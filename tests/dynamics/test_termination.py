import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from countmorl.dynamics.termination import KnownTermination, check_rule, known_rule
from countmorl.errors import ConfigError


def test_users_rules_are_imported_by_name():
    rule = KnownTermination(known_rule("jax.numpy:all"))
    rows = jnp.array([[1.0, 0.0], [1.0, 1.0]])
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
