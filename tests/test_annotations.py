"""The suite checks the package's annotations (conftest, checker); here is what checks that."""

import ast
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import jaxtyping
import pytest

import countmorl
from countmorl.scaling import Standardizer
from countmorl.types import Transition

FILES = sorted(Path(countmorl.__file__).parent.rglob("*.py"))


def test_a_wrong_shape_is_caught():
    scale = Standardizer(jnp.zeros(3), jnp.ones(3))
    with pytest.raises(jaxtyping.TypeCheckError, match="'x'"):
        scale(jnp.zeros((4, 3), int))
    with pytest.raises(jaxtyping.TypeCheckError, match="'std'"):
        Standardizer(jnp.zeros(3), jnp.ones(2))


def test_a_batch_of_two_sizes_is_caught():
    obs, reward = jnp.zeros((4, 3)), jnp.zeros(4)
    Transition(obs, obs, reward, obs, reward > 0)
    with pytest.raises(jaxtyping.TypeCheckError, match="'reward'"):
        Transition(obs, obs, jnp.zeros(5), obs, reward > 0)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_shape_can_be_read(path):
    # A shape that cannot is not checked, and nobody is told.
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Subscript(
                value=ast.Name(id=kind), slice=ast.Tuple(elts=[_, ast.Constant(value=str(shape))])
            ) if hasattr(jaxtyping, kind):
                getattr(jaxtyping, kind)[Any, shape]
