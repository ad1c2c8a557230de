"""Optional packages, imported where they are used."""

import importlib
import importlib.util
import os
import sys
from types import ModuleType
from typing import Any

from countmorl.errors import MissingExtraError

EXTRAS = {
    "gymnasium": "mujoco",
    "mujoco": "mujoco",
    "minari": "minari",
    "polars": "logs",
    "narwhals": "logs",
    "matplotlib": "plots",
    "jinja2": "report",
    "plotly": "report",
    "starlette": "serve",
    "uvicorn": "serve",
    "prometheus_client": "serve",
    "ray": "ray",
    "tensorboardX": "tensorboard",
    "wandb": "wandb",
    "mlflow": "mlflow",
    "onnx": "export",
    "onnxruntime": "export",
}
"""The package to import, and the extra of countmorl that brings it."""


def installed(module: str) -> bool:
    """Tell whether `module` can be imported, without importing it."""
    return importlib.util.find_spec(module) is not None


def import_named(name: str) -> Any:
    """Import what a user has named as module:attribute; modules of the current folder count too.

    Only for names that the user says, never for those that a file holds.
    """
    module, _, attribute = name.partition(":")
    if not module or module.startswith("."):
        raise ImportError(f"'{name}' does not begin with the name of a module")
    here = os.getcwd()
    added = here not in sys.path
    if added:
        sys.path.append(here)
    try:
        return (
            getattr(importlib.import_module(module), attribute)
            if attribute
            else (importlib.import_module(module))
        )
    finally:
        if added:
            sys.path.remove(here)


def require(module: str) -> ModuleType:
    """Import an optional package, or raise an error that names the extra to install."""
    root = module.split(".")[0]
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"This needs the package '{root}', which is not installed. "
            f'Install it with: pip install "countmorl[{EXTRAS[root]}]"'
        ) from error
