"""What a policy's file says, checked before anything trusts it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from countmorl.configs import from_json
from countmorl.errors import ConfigError, RunError
from countmorl.runtime.base import Sized
from countmorl.schema import Schema

if TYPE_CHECKING:
    from countmorl.runtime.policy import Policy

Head = Literal["tanh", "tanh_normal", "categorical"]
HEADS: tuple[Head, ...] = ("tanh", "tanh_normal", "categorical")
MOST_LOG = 80.0
"""Logarithm of a deviation that can still be told from infinity."""


def stored_schema(path: Path, stored: Any) -> Schema | None:
    """The schema that a policy's file holds; None where its log had no names."""
    if stored is None:
        return None
    try:
        return from_json(Schema, stored)
    except (ConfigError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise RunError(f"The schema of the policy {path} cannot be read: {error}") from error


def schema_problem(schema: Schema, policy: Sized) -> str | None:
    """Why a schema cannot be the one of a policy; None where it can."""
    obs, action = schema.sizes
    if (obs, action) != (policy.obs_dim, policy.action_dim):
        return (
            f"its schema names {obs} observation and {action} action numbers, but it has "
            f"{policy.obs_dim} and {policy.action_dim}"
        )
    if schema.discrete != policy.discrete:
        return "its schema's actions and its own are of two kinds"
    return None


def policy_problem(policy: Policy) -> str | None:
    """Why a policy of a network cannot act; None where it can."""
    problems = (_head_problem, _layer_problem, _scale_problem, _bounds_problem, _range_problem)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        found = next((said for problem in problems if (said := problem(policy))), None)
        if found is None and not np.isfinite(policy.outputs(policy.obs_mean)).all():
            found = "its numbers overflow in the very middle of its data"
    if found is None and policy.schema:
        found = schema_problem(policy.schema, policy)
    return found


def _head_problem(policy: Policy) -> str | None:
    if policy.head not in HEADS:
        return f"`head` must be one of {', '.join(HEADS)}, got {policy.head!r}"
    if policy.space.discrete != (policy.head == "categorical"):
        return "its head and its actions are of two kinds"
    if not isinstance(policy.info, Mapping):
        return "its description is not of the known form"
    return None


def _layer_problem(policy: Policy) -> str | None:
    vectors = (*policy.biases, policy.obs_mean, policy.obs_std, policy.space.low, policy.space.high)
    if any(each.ndim != 1 for each in vectors) or any(each.ndim != 2 for each in policy.weights):
        return "its parts are not vectors, and matrices of weights"
    sizes = [policy.obs_dim, *(len(bias) for bias in policy.biases)]
    outputs = policy.action_dim * (2 if policy.head == "tanh_normal" else 1)
    if not policy.weights or sizes[-1] != outputs:
        return f"its last layer has {sizes[-1]} outputs, wanted {outputs}"
    shapes = [weight.shape for weight in policy.weights]
    if shapes != list(itertools.pairwise(sizes)) or not all(sizes):
        return f"its layers do not fit together: weights {shapes}, sizes {sizes}"
    parts = (*policy.weights, *vectors)
    if not all(each.dtype.kind == "f" and np.isfinite(each).all() for each in parts):
        return "it holds numbers that are not finite; the training has diverged"
    return None


def _scale_problem(policy: Policy) -> str | None:
    scale = policy.obs_std
    if scale.shape == policy.obs_mean.shape and (scale > 0).all() and np.isfinite(1 / scale).all():
        return None
    return "the scale of its observations must be positive, one number per column"


def _bounds_problem(policy: Policy) -> str | None:
    low, high = policy.space.low, policy.space.high
    if low.shape != high.shape or not (low < high).all():
        return "its action bounds are empty or of two sizes"
    if not (np.isfinite(high - low) & np.isfinite(high + low)).all():
        return "its action bounds are too far apart"
    return None


def _range_problem(policy: Policy) -> str | None:
    """Deviations must be numbers, and such that a sample is one."""
    numbers = policy.log_std_range
    fit = len(numbers) == 2 and all(type(each) in (int, float) for each in numbers)
    if fit and -MOST_LOG <= numbers[0] <= numbers[1] <= MOST_LOG:
        return None
    return "its description is not of the known form"
