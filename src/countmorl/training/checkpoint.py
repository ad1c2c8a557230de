"""Pytrees to named arrays and back, checked leaf by leaf."""

from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from countmorl.errors import RunError
from countmorl.files import Arrays

T = TypeVar("T")


def to_arrays(tree: object) -> Arrays:
    """Name every leaf by its path in the tree."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}


def from_arrays(template: T, arrays: Arrays) -> T:
    """Fill the leaves of `template` (arrays or shapes) with the arrays of the same names."""
    leaves, structure = jax.tree_util.tree_flatten_with_path(template)
    names = [jax.tree_util.keystr(path) for path, _ in leaves]
    if set(names) != set(arrays):
        odd = sorted(set(names) ^ set(arrays))
        raise RunError(f"The checkpoint does not fit this run: it differs in {', '.join(odd[:3])}.")
    for name, (_, leaf) in zip(names, leaves, strict=True):
        if (arrays[name].shape, arrays[name].dtype) != (leaf.shape, leaf.dtype):
            raise RunError(
                f"The checkpoint does not fit this run: {name} is {arrays[name].dtype}"
                f"{list(arrays[name].shape)}, wanted {leaf.dtype}{list(leaf.shape)}."
            )
    return jax.tree_util.tree_unflatten(structure, [jnp.asarray(arrays[name]) for name in names])
