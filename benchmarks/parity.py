"""Does a bundle's graph answer as its policy does? `python -m benchmarks.parity BUNDLE LOG [ROWS]`.

Half of the observations are logged ones, half are jolted, a hundredth lies far away.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from countmorl import load as load_log
from countmorl.export.bundle import GRAPH_FILE, load
from countmorl.export.parity import compared, graph_runner, some_observations

BLOCK = 20_000


def main(bundle_folder: str, log: str, rows: str = "1_000_000") -> int:
    bundle, runner = load(bundle_folder), graph_runner(Path(bundle_folder) / GRAPH_FILE)
    obs = some_observations(load_log(log).obs, int(rows))
    obs = np.random.default_rng(1).permutation(obs)
    difference, counts, levels = 0.0, 0, 0
    for at in range(0, len(obs), BLOCK):
        found = compared(bundle, runner, obs[at : at + BLOCK])
        difference = max(difference, found.action_difference)
        counts, levels = counts + found.counts_differ, levels + found.levels_differ
        print(f"\r{at + found.rows:,} of {len(obs):,}", end="", file=sys.stderr, flush=True)
    print(
        f"\n{len(obs):,} observations: actions differ by at most {difference:.2g}, "
        f"{counts} counts and {levels} levels differ."
    )
    return int(counts + levels > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
