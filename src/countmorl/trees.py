"""Operations on whole pytrees of arrays, and pytrees as named arrays."""

import re
from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from countmorl.errors import RunError
from countmorl.files import Arrays

T = TypeVar("T")
U = TypeVar("U")

BLOCK = 2_000
"""Rows of a block: what the networks make of so many stays in the processor's cache."""


def take(tree: T, rows: Int[jax.Array, "..."]) -> T:
    """Pick the same rows of every leaf."""
    return jax.tree.map(lambda leaf: leaf[rows], tree)


def mean(tree: T) -> T:
    """Average every leaf over its first axis."""
    return jax.tree.map(lambda leaf: jnp.mean(leaf, axis=0), tree)


def in_blocks(function: Callable[[T, Int[jax.Array, ""]], U], tree: T, *, axis: int = 0) -> U:
    """Apply a function of many rows to blocks of them, one after the other.

    Faster than all rows at once, and in little memory. The function is given a block and its
    number; its results have their rows along `axis`. A last block that is not full is filled up
    with the first rows.
    """
    rows = len(jax.tree.leaves(tree)[0])
    if rows <= BLOCK:
        return function(tree, jnp.zeros((), jnp.int32))
    blocks = -(-rows // BLOCK)
    filled = blocks * BLOCK
    if filled > rows:
        tree = take(tree, jnp.arange(filled) % rows)
    cut = jax.tree.map(lambda leaf: leaf.reshape(blocks, BLOCK, *leaf.shape[1:]), tree)
    results = jax.lax.map(lambda at: function(*at), (cut, jnp.arange(blocks)))

    def join(leaf: jax.Array) -> jax.Array:
        leaf = jnp.moveaxis(leaf, 0, axis)
        shape = (*leaf.shape[:axis], filled, *leaf.shape[axis + 2 :])
        return jax.lax.slice_in_dim(leaf.reshape(shape), 0, rows, axis=axis)

    return jax.tree.map(join, results)


def polyak(old: T, new: T, share: float | Float[jax.Array, ""]) -> T:
    """Move every leaf of `old` by `share` towards `new`: (1 - share) old + share new."""
    return jax.tree.map(lambda a, b: a + share * (b - a), old, new)


def lengthening_average(old: T, new: T, share: float, updates: Int[jax.Array, ""]) -> T:
    """The average of a path after one more point, over about the latest `share` of its points.

    After n points a new one weighs 1 / (1 + share n), so that point i weighs about as
    i^(1/share - 1) (polynomial-decay averaging, Shamir and Zhang, 2013). 0 takes the new point.
    """
    return polyak(old, new, 1 / (1 + share * updates.astype(jnp.float32)))


def concat(first: T, second: T) -> T:
    """Join every leaf along its first axis."""
    return jax.tree.map(lambda a, b: jnp.concatenate([a, b]), first, second)


def to_arrays(tree: object) -> Arrays:
    """Name every leaf by its path in the tree."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}


def from_arrays(template: T, arrays: Arrays, file: str = "The checkpoint") -> T:
    """Fill the leaves of `template` (arrays or shapes) with the arrays of the same names."""
    leaves, structure = jax.tree_util.tree_flatten_with_path(template)
    names = [jax.tree_util.keystr(path) for path, _ in leaves]
    if set(names) != set(arrays):
        odd = sorted(set(names) ^ set(arrays))
        raise RunError(f"{file} does not fit this run: it differs in {', '.join(odd[:3])}.")
    for name, (_, leaf) in zip(names, leaves, strict=True):
        if (arrays[name].shape, arrays[name].dtype) != (leaf.shape, leaf.dtype):
            raise RunError(
                f"{file} does not fit this run: {name} is {arrays[name].dtype}"
                f"{list(arrays[name].shape)}, wanted {leaf.dtype}{list(leaf.shape)}."
            )
    return jax.tree_util.tree_unflatten(structure, [jnp.asarray(arrays[name]) for name in names])


def nest(arrays: Arrays) -> dict[str, Any]:
    """Undo the names of `to_arrays`: `.net.weights[0]` is `nest(arrays)["net"]["weights"][0]`.

    For what is brought back without a template; its class puts the pieces together.
    """
    nested: dict[str, Any] = {}
    for name, array in arrays.items():
        *path, last = re.findall(r"\.(\w+)|\[(\d+)\]", name)
        here = nested
        for step in path:
            here = here.setdefault("".join(step), {})
        # Not jnp.asarray, which compiles a program for every shape.
        here["".join(last)] = jax.device_put(array)
    return _listed(nested)


def _listed(node: Any) -> Any:
    """Turn tables whose keys are 0, 1, 2, ... into lists."""
    if not isinstance(node, dict):
        return node
    inner = {key: _listed(value) for key, value in node.items()}
    numbered = sorted(inner, key=lambda key: (len(key), key))
    if numbered == [str(index) for index in range(len(inner))]:
        return [inner[key] for key in numbered]
    return inner
