"""Where metrics go besides the run folder: TensorBoard, Weights & Biases, MLflow."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from countmorl.extras import require

LoggerName = Literal["tensorboard", "wandb", "mlflow"]


@runtime_checkable
class Logger(Protocol):
    """Takes one epoch's numbers at a time."""

    def log(self, values: Mapping[str, float], epoch: int) -> None:
        """Record the numbers of an epoch."""
        ...

    def close(self) -> None:
        """Write what is left."""
        ...


class TensorBoard:
    """Event files in the run folder, through tensorboardX."""

    def __init__(self, folder: Path, config: Mapping[str, Any]) -> None:
        self.writer = require("tensorboardX").SummaryWriter(str(folder / "tensorboard"))

    def log(self, values: Mapping[str, float], epoch: int) -> None:
        """Record the numbers of an epoch."""
        for name, value in values.items():
            self.writer.add_scalar(name, value, epoch)

    def close(self) -> None:
        """Write what is left."""
        self.writer.close()


class WandB:
    """A Weights & Biases run named like the folder."""

    def __init__(self, folder: Path, config: Mapping[str, Any]) -> None:
        self.run = require("wandb").init(project="countmorl", name=folder.name, config=dict(config))

    def log(self, values: Mapping[str, float], epoch: int) -> None:
        """Record the numbers of an epoch."""
        self.run.log(dict(values), step=epoch)

    def close(self) -> None:
        """Write what is left."""
        self.run.finish()


class MLflow:
    """An MLflow run named like the folder."""

    def __init__(self, folder: Path, config: Mapping[str, Any]) -> None:
        self.mlflow = require("mlflow")
        self.mlflow.start_run(run_name=folder.name)
        self.mlflow.log_dict(dict(config), "config.json")

    def log(self, values: Mapping[str, float], epoch: int) -> None:
        """Record the numbers of an epoch."""
        self.mlflow.log_metrics(dict(values), step=epoch)

    def close(self) -> None:
        """Write what is left."""
        self.mlflow.end_run()


LOGGERS: dict[LoggerName, type] = {"tensorboard": TensorBoard, "wandb": WandB, "mlflow": MLflow}
PACKAGES: dict[LoggerName, str] = {
    "tensorboard": "tensorboardX",
    "wandb": "wandb",
    "mlflow": "mlflow",
}


NETWORK: tuple[LoggerName, ...] = ("wandb", "mlflow")
"""Those that may send what they are given to another machine."""


def check_loggers(names: tuple[LoggerName, ...]) -> None:
    """Raise early where the package behind a logger is missing."""
    for name in names:
        require(PACKAGES[name])


def make_loggers(
    names: tuple[LoggerName, ...], folder: Path, config: Mapping[str, Any]
) -> list[Logger]:
    """Start the named loggers."""
    return [LOGGERS[name](folder, config) for name in names]
