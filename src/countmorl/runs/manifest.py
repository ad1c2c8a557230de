"""`Manifest`: everything that a run restarts from, as config.json holds it."""

from __future__ import annotations

import hashlib
import json
import platform
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from countmorl.configs import flatten, from_json, to_json
from countmorl.errors import ConfigError, RunError
from countmorl.files import write_text
from countmorl.json_files import parse_json
from countmorl.runs.options import DataOptions, Holdout, RunOptions
from countmorl.schema import Schema

FORMAT = 2
PACKAGES = ("countmorl", "jax", "jaxlib", "equinox", "optax", "numpy", "scipy")


@dataclass(frozen=True, kw_only=True)
class DataOrigin:
    """Which data a run learns from."""

    name: str
    hash: str
    """SHA-256 of the contents."""
    source: str | None = None
    """The file or name they were loaded from; None for arrays in memory."""
    options: DataOptions = field(default_factory=DataOptions)
    schema: Schema | None = None
    """What their columns mean, where they have names."""
    holdout: Holdout | None = None
    """The episodes that no training sees; None where there are none."""
    log_return: float | None = None
    """What the log itself earned, an episode; what every policy has to beat."""
    log_score: float | None = None
    """The same in points, where the task has references."""


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What was asked for. Written once when a run begins, read by attribute."""

    algorithm: str
    """A name that the command line knows, or module:Class for a method of one's own."""
    config: dict[str, Any] = field(default_factory=dict)
    """The algorithm's whole config, as JSON; the algorithm alone knows what it means."""
    own: tuple[str, ...] = ()
    """Settings of that config that no other algorithm has, or gives another meaning."""
    options: RunOptions = field(default_factory=RunOptions)
    data: DataOrigin | None = None
    model_seed: int | None = None
    """Seed that the model was fitted with; another run's, where the model is that run's."""
    model_run: str | None = None
    """The run whose model is used again, as seen from this one's folder."""
    epochs_before: tuple[int, ...] = ()
    """Epochs after which the run had ended before it was trained on."""
    versions: dict[str, str] = field(default_factory=lambda: installed_versions())
    environment: dict[str, str] | None = None
    """What else the bits of a training depend on, as `countmorl.training.exact` tells it."""
    inexact: tuple[str, ...] = ()
    """What had changed when somebody went on all the same: since then it is another run."""

    @classmethod
    def read(cls, path: Path) -> Manifest:
        """Read a config.json; what is no manifest of this version is a `RunError`."""
        values = parse_json(path, lambda v: isinstance(v, dict), "the config of a run")
        form, versions = values.pop("format", None), values.get("versions")
        if form != FORMAT:
            by = versions.get("countmorl", "?") if isinstance(versions, dict) else versions
            raise RunError(
                f"{path.parent} was written in format {form}, this version reads format {FORMAT}. "
                f"It was made by countmorl {by}; use that version."
            )
        values.pop("digest", None)
        _add_later_options(values)
        try:
            return from_json(cls, values)
        except ConfigError as error:
            raise RunError(f"{path} does not hold the config of a run: {error}") from error

    def write(self, path: Path) -> None:
        """Write config.json, atomically."""
        values = {"format": FORMAT, **to_json(self)}
        values["digest"] = _digest(values)
        write_text(path, json.dumps(values, indent=2, sort_keys=True) + "\n")

    @staticmethod
    def is_as_written(path: Path) -> bool | None:
        """Whether a config.json is as a program wrote it; None where it has no digest yet."""
        values = parse_json(path, lambda v: isinstance(v, dict), "the config of a run")
        wanted = values.pop("digest", None)
        return None if wanted is None else wanted == _digest(values)

    def part(self, name: str) -> dict[str, Any] | None:
        """A nested part of the config, such as the model's settings; None where it has none."""
        part = self.config.get(name)
        return part if isinstance(part, dict) else None

    @property
    def flat_config(self) -> dict[str, Any]:
        """Every setting of the algorithm by its dotted name."""
        return flatten(self.config)


def _digest(values: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def _add_later_options(values: dict[str, Any]) -> None:
    """Say of a run that began before these options existed what it did: nothing was said."""
    values.setdefault("environment", None)
    values.setdefault("inexact", [])
    data = values.get("data")
    later: list[tuple[Any, dict[str, Any]]] = [(values.get("options"), {"label": None})]
    if isinstance(data, dict):
        unsaid = ("schema", "holdout", "log_return", "log_score")
        data |= dict.fromkeys(unsaid) | data
        then = {"done": None, "actions": None, "holdout_episodes": 0.0}
        later.append((data.get("options"), then))
    for options, before in later:
        if isinstance(options, dict):
            options |= before | options


def installed_versions() -> dict[str, str]:
    """Versions of Python and of the packages whose change moves numbers."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "missing"
    return found
