"""Files that are either whole or not there: atomic writes, and arrays without pickle."""

import errno
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from countmorl.errors import ConfigError, CountMorlError, RunError

Arrays = dict[str, np.ndarray]


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; move it into place only if the block succeeds."""
    if path.is_dir():
        raise RunError(f"{path} is a folder; wanted the name of a file to write.")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with explained_write(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            yield temporary
            with open(temporary, "rb") as file:
                os.fsync(file.fileno())
            os.chmod(temporary, 0o644)  # safetensors keeps its files from all others.
            os.replace(temporary, path)
    finally:
        with suppress(NotADirectoryError):
            temporary.unlink(missing_ok=True)


def check_ending(path: Path, endings: tuple[str, ...]) -> None:
    """Raise where a file to write has an ending that is not known, before any work is done."""
    if path.suffix not in endings:
        raise ConfigError(f"{path} has the ending '{path.suffix}'; wanted {', '.join(endings)}.")


@contextmanager
def explained_write(path: Path, error: type[CountMorlError] = RunError) -> Iterator[None]:
    """Turn the operating system's refusals to write `path` into sentences."""
    try:
        yield
    except OSError as cause:
        if cause.errno == errno.ENOSPC:
            raise error(
                f"The disk is full: {path} could not be written. Free some space and try again; "
                "what was there before is unchanged."
            ) from cause
        if isinstance(cause, PermissionError):
            raise error(f"No permission to write {path}. Choose another place.") from cause
        if isinstance(cause, (FileExistsError, NotADirectoryError)):
            raise error(f"{path.parent} is not a folder, so {path} cannot be written.") from cause
        raise


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def digest(arrays: Mapping[str, np.ndarray], note: str = "") -> str:
    """Hash names, shapes, types and contents (SHA-256); `note` is hashed too."""
    state = hashlib.sha256(note.encode())
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        state.update(f"{name}{array.dtype.str}{array.shape}".encode())
        state.update(array.reshape(-1).view(np.uint8).data)
    return state.hexdigest()


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray], meta: Mapping[str, Any]) -> None:
    """Write arrays and a JSON-able `meta` as safetensors, atomically, with a digest of both."""
    # Not ascontiguousarray, which gives a scalar a dimension.
    whole = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    text = json.dumps(meta, sort_keys=True)
    # One entry only: safetensors writes several in no fixed order, and equal runs must be equal
    # files.
    entry = json.dumps({"digest": digest(whole, text), "meta": meta}, sort_keys=True)
    with atomic(path) as temporary:
        save_file(whole, temporary, {"countmorl": entry})


def read_arrays(path: Path) -> tuple[Arrays, dict[str, Any]]:
    """Read what `write_arrays` wrote; a damaged or foreign file is a `RunError`."""
    try:
        with safe_open(path, framework="np") as file:
            header = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}
    except FileNotFoundError as error:
        raise RunError(f"There is no file {path}.") from error
    except (SafetensorError, OSError, TypeError, ValueError) as error:
        raise RunError(f"{path} is not a readable safetensors file: {error}") from error
    try:
        entry = json.loads(header["countmorl"])
        meta, wanted = entry["meta"], entry["digest"]
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise RunError(
            f"{path} was not written by countmorl: its description is missing."
        ) from error
    if not isinstance(meta, dict) or wanted != digest(arrays, json.dumps(meta, sort_keys=True)):
        raise RunError(
            f"{path} is damaged: its contents do not match their digest. Restore it from a copy."
        )
    return arrays, meta


def parse_json(path: Path, check: Callable[[Any], bool], wanted: str) -> Any:
    """Read a JSON file and check its form; anything else is a `RunError` that says `wanted`."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise RunError(f"There is no file {path}; wanted {wanted}.") from error
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise RunError(f"{path} is not readable JSON ({error}); wanted {wanted}.") from error
    if not check(value):
        raise RunError(f"{path} does not hold {wanted}.")
    return value
