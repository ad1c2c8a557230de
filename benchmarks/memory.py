"""Memory of a long run: a million rows of Walker2d's sizes, rollouts of 20 steps."""

from __future__ import annotations

import json
import subprocess
import sys

from benchmarks.measure import Result

GIGABYTE = 1e9
SCRIPT = """
import json, tempfile
import numpy as np
from dataclasses import replace
from countmorl import RunOptions, load, train
from countmorl.algorithms.count_morl import CountMORL
from countmorl.runs.folder import Run

ROWS = 1_000_000
rng = np.random.default_rng(0)
obs = rng.standard_normal((ROWS, 17), np.float32)
log = {
    "obs": obs,
    "action": rng.uniform(-1, 1, (ROWS, 6)).astype(np.float32),
    "reward": rng.standard_normal(ROWS).astype(np.float32),
    "next_obs": obs + 0.1 * rng.standard_normal((ROWS, 17), np.float32),
}

def status(name):
    lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return int(lines[name].split()[0]) * 1024

resident, append = [], Run.append
def watch(run, file_name, record):
    append(run, file_name, record)
    if file_name == "metrics.jsonl" and record["stage"] == "policy":
        resident.append(status("VmRSS"))
Run.append = watch

base = CountMORL()
config = replace(
    base, epochs=8, updates=20, horizon=20, branches=50_000, termination="walker2d",
    model=replace(base.model, max_epochs=1), codes=replace(base.codes, bits=32, fit_epochs=1),
)
with tempfile.TemporaryDirectory() as folder:
    train(config, log, out=folder + "/run", options=RunOptions(save_every=4), quiet=True)
print(json.dumps({"peak": status("VmHWM"), "resident": resident}))
"""


def run() -> list[Result]:
    """The peak in gigabytes of 4, and the last epoch's memory against the second's."""
    measured = json.loads(subprocess.check_output([sys.executable, "-c", SCRIPT]))
    peak, resident = measured["peak"], measured["resident"]
    return [
        Result(
            name="1,000,000-row Walker2d run, H = 20: peak memory",
            seconds=0.0,
            ratio=peak / GIGABYTE,
            ratio_to="1 GB",
            limit=4.0,
        ),
        Result(
            name="the same: epoch 8 against epoch 2",
            seconds=0.0,
            ratio=resident[-1] / resident[1],
            ratio_to=f"{resident[1] / GIGABYTE:.2f} GB",
            limit=1.05,
        ),
    ]
