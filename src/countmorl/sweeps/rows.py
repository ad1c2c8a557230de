"""`Row`: one run of a plan, as `countmorl train` would be told of it."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field
from typing import Any

from countmorl.algorithms import find_algorithm
from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.configs import flatten, from_json, to_json
from countmorl.errors import ConfigError
from countmorl.runs.manifest import Manifest
from countmorl.runs.options import DataOptions, RunOptions

LONGEST = 100
"""Characters of a label in a folder's name; what is longer is cut and told apart by a hash."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A method with all its settings, on one dataset, with one seed."""

    name: str
    """Its folder within the sweep."""
    algorithm: str
    config: AbstractAlgorithm
    data: str
    data_name: str
    """What the dataset is called in folders."""
    data_options: DataOptions = field(default_factory=DataOptions)
    options: RunOptions = field(default_factory=RunOptions)
    model: str | None = None
    """The row whose model, and codes where they are fitted alike, are used again."""

    @property
    def label(self) -> str:
        """What tables call it."""
        return self.options.label or self.algorithm

    def as_dict(self) -> dict[str, Any]:
        """Everything, as JSON-able values."""
        return {
            "name": self.name,
            "algorithm": self.algorithm,
            "config": to_json(self.config),
            "data": self.data,
            "data_name": self.data_name,
            "data_options": asdict(self.data_options),
            "options": asdict(self.options),
            "model": self.model,
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Row:
        """Bring a row back. Its method may be code of one's own, which is imported: values come
        from the user's own command, never from a file."""
        config = from_json(find_algorithm(values["algorithm"]), values["config"])
        parts: dict[str, Any] = {
            "config": config,
            "data_options": from_json(DataOptions, values["data_options"]),
            "options": from_json(RunOptions, values["options"]),
        }
        return cls(**(values | parts))


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """The dotted names of what two rows, as dictionaries, do not share."""
    # By way of JSON, where lists and tuples are alike.
    one, two = (flatten(json.loads(json.dumps(each))) for each in (old, new))
    return sorted(key for key in one.keys() | two.keys() if one.get(key) != two.get(key))


def check_same(row: Row, manifest: Manifest) -> None:
    """Raise where the run in a row's folder is not the row's."""
    found = {
        "algorithm": manifest.algorithm,
        "config": manifest.config,
        "options": asdict(manifest.options),
    }
    wanted = row.as_dict()
    changed = differences(found, {key: wanted[key] for key in found})
    if changed:
        raise ConfigError(
            f"The folder {row.name} holds another run than the plan's: it differs in "
            f"{', '.join(changed[:4])}. Choose another folder for this plan with --out."
        )


def slug(text: str) -> str:
    """A text as a part of a folder's name."""
    plain = re.sub(r"[^\w.+=]+", "-", text).strip("-.") or "-"
    return plain if len(plain) <= LONGEST else f"{plain[:LONGEST]}-{short_hash(text)}"


def short_hash(value: Any) -> str:
    """Six digits that stand for a JSON-able value."""
    text = json.dumps(value, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:6]
