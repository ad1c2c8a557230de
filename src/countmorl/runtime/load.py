"""`load_policy`: any policy that countmorl has saved."""

from __future__ import annotations

from pathlib import Path

from countmorl.errors import RunError
from countmorl.runtime.files import read_policy_file
from countmorl.runtime.policy import POLICY_KIND, Policy
from countmorl.runtime.tabular import TABULAR_KIND, TabularPolicy

KINDS: dict[str, type[Policy] | type[TabularPolicy]] = {
    POLICY_KIND: Policy,
    TABULAR_KIND: TabularPolicy,
}
"""What a file says it is, and the class that reads it."""


def load_policy(path: str | Path) -> Policy | TabularPolicy:
    """Read a policy of any kind from a run folder or a file."""
    file, arrays, meta = read_policy_file(path)
    kind = meta.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise RunError(f"{file} is not a policy; it is a {kind or 'unknown'} file.")
    return KINDS[kind].of(file, arrays, meta)
