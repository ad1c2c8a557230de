"""Functions that a user has named."""

import sys
from types import ModuleType

import jax
import jax.numpy as jnp
import pytest

from countmorl.dynamics.rules import find_function, try_function
from countmorl.errors import ConfigError

ONE = jax.ShapeDtypeStruct((3,), jnp.float32)


def test_a_function_is_found_by_its_name(monkeypatch):
    module = ModuleType("mine")
    module.low = lambda obs: obs[0] < 0
    monkeypatch.setitem(sys.modules, "mine", module)
    assert find_function("mine:low", "rule") is module.low


@pytest.mark.parametrize("name", ["nowhere_at_all:low", "math:absent", "low", ":low", "..up:low"])
def test_what_cannot_be_imported_is_a_sentence(name):
    with pytest.raises(ConfigError, match=r"The rule '.*' could not be imported"):
        find_function(name, "rule")


def test_what_gives_one_number_of_the_kind_passes():
    try_function(lambda obs: obs[0] < 0, ONE, kind=bool, wanted="one boolean")
    try_function(lambda a, b: a[0] + b[0], ONE, ONE, kind=jnp.float32, wanted="one float")


@pytest.mark.parametrize("wrong", [lambda obs: obs < 0, lambda obs: obs[0], lambda: True])
def test_anything_else_is_refused(wrong):
    with pytest.raises(ConfigError, match=r"one boolean, in jax.numpy; it gave"):
        try_function(wrong, ONE, kind=bool, wanted="one boolean")
