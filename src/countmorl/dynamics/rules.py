"""Functions of the user's own, named as module:function: found, and tried before they are used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from countmorl.errors import ConfigError
from countmorl.extras import import_named


def find_function(name: str, what: str) -> Callable[..., Any]:
    """Import a user's function; `what` it is said to be."""
    try:
        if ":" not in name:
            raise ImportError("it names no function")
        return import_named(name)
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f"The {what} '{name}' could not be imported: {error}. It must be module:function, "
            "importable from here."
        ) from error


def try_function(
    function: Callable[..., Any], *given: jax.ShapeDtypeStruct, kind: Any, wanted: str
) -> None:
    """Refuse a function that does not turn such arrays into one number of a kind."""
    try:
        answer = jax.eval_shape(function, *given)
        good = answer.shape == () and answer.dtype == kind
        got = f"{answer.dtype}{list(answer.shape)}"
    except Exception as error:
        good, got = False, f"{type(error).__name__}: {error}".splitlines()[0]
    if not good:
        raise ConfigError(f"{wanted}, in jax.numpy; it gave {got}")
