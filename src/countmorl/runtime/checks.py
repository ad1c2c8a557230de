"""What a policy's file says of the log's columns, checked before anything trusts it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from countmorl.configs import from_json
from countmorl.errors import ConfigError, RunError
from countmorl.runtime.base import Sized
from countmorl.schema import Schema


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
