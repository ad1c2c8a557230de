"""What a folder holds to be served: a run's policy with its counts and its guard."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from countmorl.configs import to_json
from countmorl.errors import RunError
from countmorl.runtime.counts import Counts
from countmorl.runtime.load import load_policy
from countmorl.serving.answering import Answering

COUNTER = Path("stages") / "counter.safetensors"


def opened(folder: Path) -> Answering:
    """Open a run for serving."""
    if not folder.is_dir():
        raise RunError(f"There is no folder {folder}. Give that of a bundle, or of a run.")
    policy = load_policy(folder)
    counts = Counts.of_run(folder) if (folder / COUNTER).exists() else None
    return Answering(policy=policy, counts=counts, contract=contract_of(policy))


def contract_of(policy: Any) -> Mapping[str, Any]:
    """What a run's policy wants and gives; a bundle's contract says more."""
    schema = getattr(policy, "schema", None)
    return {
        "observation": list(getattr(policy, "obs_names", ("state",))),
        "action": list(getattr(policy, "action_names", range(policy.action_dim))),
        "discrete": policy.discrete,
        "schema": None if schema is None else to_json(schema),
        "policy": dict(policy.info),
    }
