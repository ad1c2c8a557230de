"""Where policies lie, and how one is read whatever its kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from countmorl.disk import explained_read
from countmorl.errors import RunError
from countmorl.files import Arrays, read_arrays

POLICY_FILE = "policy.safetensors"


def read_policy_file(path: str | Path) -> tuple[Path, Arrays, dict[str, Any]]:
    """Read the arrays and the description of a policy, from its file or a run's folder."""
    path = Path(path)
    with explained_read(path):
        if path.is_dir():
            path = path / POLICY_FILE
            if not path.exists():
                raise RunError(
                    f"{path.parent} holds no {POLICY_FILE}. Is it a run folder, and has its "
                    "training saved once?"
                )
    return path, *read_arrays(path)
