"""`countmorl count RUN DATA`: how often were these pairs seen?"""

from __future__ import annotations

from pathlib import Path

import numpy

from countmorl.cli.output import Data, RunFolder, print_json, print_pairs
from countmorl.counting.query import counts as counts_of
from countmorl.data.pairs import load_pairs
from countmorl.files import atomic


def count(run: RunFolder, data: Data, out: Path | None = None, json: bool = False) -> int:
    """Count how often the pairs of a dataset were seen in a run's training data.

    Args:
        run: The folder of a run that counts, such as one of count-morl.
        data: A D4RL name, minari:ID, or a path to an HDF5 or NPZ file; observations and actions
            are enough.
        out: Write every pair's counts, estimates and penalty to this NPZ file.
        json: Print JSON.
    """
    query = counts_of(run)
    pairs = load_pairs(data, query.space)
    counts = query(pairs.obs, pairs.action)
    if out:
        with atomic(out) as temporary, open(temporary, "wb") as file:
            columns = {"members": counts.members, "penalty": counts.penalty, **counts.estimates}
            numpy.savez_compressed(file, allow_pickle=False, **columns)
    summary = counts.summary()
    if json:
        print_json({"run": str(run), "data": pairs.name, **summary})
        return 0
    quantiles = ", ".join(f"{q} {v:.1f}" for q, v in summary["count_quantiles"].items())
    print_pairs(
        {
            "pairs": f"{summary['pairs']:,}",
            "never seen": f"{100 * summary['unseen']:.1f} %",
            "count": f"{quantiles} (quantiles of the mean count)",
            "estimates": ", ".join(f"{k} {v:.1f}" for k, v in summary["estimates"].items()),
            "penalty": f"{summary['penalty']:.3f} on average",
        }
    )
    return 0
