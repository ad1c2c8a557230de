"""Text of any length in an HDF5 file, read by a child process with a limit of time.

Such text lies in the file's heap, which libhdf5 reads without care: one damaged byte there crashes
the process, or keeps it busy for ever and deaf to Ctrl-C. Numbers, and text of a fixed length,
are read without the heap. This file is also the child's program, so it imports nothing of ours.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import h5py

LONGEST = 1_000_000
"""Bytes of the longest text that is taken."""
BLOCK = 10_000
"""Rows that are read together."""
LIMIT = 30.0
"""Seconds that a file may take, and one more for each block of rows."""


def read_texts(path: Path, names: Sequence[str], memory: int | None = None) -> dict[str, str]:
    """The texts of a file's attributes, by name."""
    return _ask({"path": str(path), "attributes": list(names), "memory": memory}, LIMIT)


def read_numbered(path: Path, name: str, rows: int, memory: int | None = None) -> list[int]:
    """A column of texts, each as its number in the order of first appearance."""
    request = {"path": str(path), "column": name, "memory": memory}
    return _ask(request, LIMIT + rows / BLOCK)


def _ask(request: dict[str, Any], limit: float) -> Any:
    # -P: no module of the folder in which the user happens to stand.
    command = [sys.executable, "-P", __file__, json.dumps(request)]
    quiet = os.environ | {"HDF5_PLUGIN_PRELOAD": "::"}  # Which means: load none.
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit, env=quiet
        )
    except subprocess.TimeoutExpired as error:
        raise OSError(f"reading its text did not end within {limit:.0f} seconds") from error
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise OSError("its text cannot be read" + "".join(f" ({line})" for line in last))
    return json.loads(done.stdout)


def _answer(request: dict[str, Any]) -> Any:
    with h5py.File(request["path"], "r") as file:
        if "column" in request:
            return _numbered(file[request["column"]])
        return {name: _text(file.attrs[name]) for name in request["attributes"]}


def _numbered(column: Any) -> list[int]:
    """Block by block: many rows may share one long text of the file."""
    numbers: dict[bytes, int] = {}
    found = []
    for start in range(0, column.size, BLOCK):
        for value in column[start : start + BLOCK].reshape(-1):
            found.append(numbers.setdefault(bytes(value), len(numbers)))
    return found


def _text(value: Any) -> str:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    if len(text) > LONGEST:
        raise ValueError("a text is too long")
    return text


def _main() -> None:
    request = json.loads(sys.argv[1])
    if request["memory"]:
        import resource  # Not everywhere.

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (request["memory"], hard))
    answer = json.dumps(_answer(request))
    sys.stdout.write(answer)


if __name__ == "__main__":
    _main()
