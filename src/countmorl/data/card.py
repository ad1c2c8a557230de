"""`data_card`: what a log is, as plain values, for pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from countmorl.data.dataset import Dataset
from countmorl.data.findings import Finding

QUANTILES = (0.0, 0.05, 0.5, 0.95, 1.0)


def data_card(dataset: Dataset, findings: Sequence[Finding], held: str) -> dict[str, Any]:
    """What the log is; `held` says which of its episodes are set aside."""
    lengths = np.diff(dataset.episode_ends, prepend=-1)
    totals = np.cumsum(dataset.reward, dtype=np.float64)[dataset.episode_ends]
    return {
        "name": dataset.name,
        "hash": dataset.hash,
        "rows": len(dataset),
        "episodes": len(lengths),
        "lengths": _spread(lengths),
        "returns": _spread(np.diff(totals, prepend=0.0)),
        "rewards": _spread(dataset.reward),
        "terminated": int(dataset.terminated.sum()),
        "obs": dataset.obs_dim,
        "action": dataset.action_dim,
        "discrete": dataset.discrete,
        "held": held,
        "notes": list(dataset.notes),
        "findings": [{"level": each.level, "message": each.message} for each in findings],
        "columns": _columns(dataset),
    }


def _spread(values: np.ndarray) -> list[float]:
    """Least, middle, mean and greatest."""
    found = (values.min(), np.median(values), values.mean(dtype=np.float64), values.max())
    return [float(each) for each in found]


def _columns(dataset: Dataset) -> list[dict[str, Any]]:
    """Every number of the present observation and of the action, then the reward."""
    schema = dataset.schema
    named = (*schema.obs, *schema.action) if schema else ()
    units = {number: column.unit for column in named for number in column.numbers}
    now = len(schema.now) if schema else dataset.obs_dim
    parts = (
        ("observation", dataset.obs_names[:now], dataset.obs[:, :now]),
        ("action", dataset.action_names, dataset.action),
        ("reward", ("reward",), dataset.reward[:, None]),
    )
    return [
        {
            "name": name,
            "part": part,
            "unit": units.get(name, ""),
            "distinct": len(np.unique(values)),
            "quantiles": [float(each) for each in np.quantile(values, QUANTILES)],
        }
        for part, names, numbers in parts
        for name, values in zip(names, numbers.T, strict=True)
    ]
