"""`concatenate`: several datasets of one task as one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from countmorl.data.dataset import Dataset
from countmorl.errors import DataError


def concatenate(parts: Mapping[str, Dataset], name: str) -> Dataset:
    """Join datasets of one task, one after the other."""
    datasets = list(parts.values())
    first = datasets[0]
    for other_name, other in parts.items():
        sizes = (other.obs_dim, other.action_dim, other.discrete)
        if sizes != (first.obs_dim, first.action_dim, first.discrete):
            raise DataError(
                f"'{other_name}' has other sizes than '{first.name}'; cannot join them."
            )
    starts = np.cumsum([0, *(len(part) for part in datasets[:-1])])
    # A chance that only some of them tell is of no use to the whole.
    shared = set.intersection(*(set(part.columns) for part in datasets))
    columns = {name: np.concatenate([part.columns[name] for part in datasets]) for name in shared}
    ends = np.concatenate([d.episode_ends + s for d, s in zip(datasets, starts, strict=True)])
    space = replace(
        first.space,
        low=np.minimum.reduce([part.space.low for part in datasets]),
        high=np.maximum.reduce([part.space.high for part in datasets]),
    )
    whole = {"propensity": None} | columns
    return replace(first, name=name, episode_ends=ends, space=space, **whole)
