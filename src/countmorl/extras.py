"""Optional packages, imported where they are used."""

import importlib
import importlib.util
from types import ModuleType

from countmorl.errors import MissingExtraError

EXTRAS = {
    "gymnasium": "mujoco",
    "mujoco": "mujoco",
    "minari": "minari",
    "matplotlib": "plots",
    "tensorboardX": "tensorboard",
    "wandb": "wandb",
    "mlflow": "mlflow",
}
"""The package to import, and the extra of countmorl that brings it."""


def installed(module: str) -> bool:
    """Tell whether `module` can be imported, without importing it."""
    return importlib.util.find_spec(module) is not None


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
