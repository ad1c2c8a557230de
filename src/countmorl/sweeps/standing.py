"""How far a run is, read from the ends of its files: quick, whoever writes them, and no JAX."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from countmorl.json_files import parse_text
from countmorl.runs.folder import METRICS, TIMING
from countmorl.runs.records import MOST

TAIL = 1 << 16
"""Bytes of a file's end that are read: an epoch's line is shorter."""


@dataclass(frozen=True, kw_only=True)
class Standing:
    """Where a run stands."""

    stage: str
    epoch: int
    epochs: int | None
    """Epochs of this stage, where the settings tell."""
    score: float | None
    """The last evaluation that is among the last lines."""
    seconds_left: float | None
    """Of this stage, if all its epochs are needed."""


def standing(folder: Path, config: Mapping[str, Any]) -> Standing | None:
    """Look at a run; None where it has not recorded an epoch yet."""
    lines = last_lines(folder / METRICS)
    if not lines:
        return None
    now = lines[-1]
    stage, epoch = str(now.get("stage", "?")), int(now.get("epoch", 0))
    epochs = epochs_of(stage, config)
    judged = [v for line in lines for v in [_judged(line)] if v is not None]
    spent = [
        seconds
        for line in last_lines(folder / TIMING)[-10:]
        for seconds in [_number(line.get("seconds"))]
        if line.get("stage") == stage and seconds is not None
    ]
    left = None
    if epochs and spent:
        left = max(0, epochs - epoch) * sum(spent) / len(spent)
    return Standing(
        stage=stage,
        epoch=epoch,
        epochs=epochs,
        score=judged[-1] if judged else None,
        seconds_left=left,
    )


def epochs_of(stage: str, config: Mapping[str, Any]) -> int | None:
    """Epochs of a stage at the most, as the settings say."""
    place = {"policy": ("epochs",), "clone": ("clone_epochs",)}.get(stage)
    if stage.startswith("model"):
        place = ("model", "max_epochs")
    elif stage.startswith("codes"):
        place = ("codes", "fit_epochs")
    found: Any = config if place else None
    for name in place or ():
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, int) else None


def last_lines(path: Path) -> list[dict[str, Any]]:
    """The last whole lines of a file of JSON lines; what cannot be read is passed over."""
    try:
        with open(path, "rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - TAIL))
            raw = file.read(TAIL)
    except OSError:
        return []
    lines = raw.split(b"\n")[:-1]
    found = []
    for line in lines[1:] if size > TAIL else lines:
        try:
            value = parse_text(line)
        except ValueError:
            continue
        if isinstance(value, dict) and isinstance(value.get("epoch"), int):
            found.append(value)
    return found


def _judged(line: Mapping[str, Any]) -> float | None:
    for name in ("score", "return", "value"):
        if (value := _number(line.get(name))) is not None:
            return value
    return None


def _number(value: Any) -> float | None:
    """A number that a table can show and add up; None for whatever else stands there."""
    sane = type(value) in (int, float) and abs(value) <= MOST
    return float(value) if sane else None
