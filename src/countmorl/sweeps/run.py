"""`sweep`: carry out a plan in a folder, on this machine or on a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from countmorl.errors import ConfigError
from countmorl.machine import cores
from countmorl.sweeps.drive import Drive, Result, Watcher
from countmorl.sweeps.engine import AbstractEngine
from countmorl.sweeps.facts import look_at
from countmorl.sweeps.folder import SweepFolder
from countmorl.sweeps.local import GIGABYTE, LocalEngine
from countmorl.sweeps.needs import memory_need
from countmorl.sweeps.on_ray import RayEngine, RayOptions
from countmorl.sweeps.plan import Sweep
from countmorl.sweeps.rows import Row
from countmorl.sweeps.watching import watcher_for

EngineName = Literal["local", "ray"]


def sweep(
    plan: Sweep,
    out: str | Path,
    *,
    workers: int | None = None,
    memory: float | None = None,
    engine: EngineName = "local",
    ray: RayOptions | None = None,
    watcher: Watcher | None = None,
) -> Result:
    """Carry out a plan in the folder `out`; what is done there is not done again.

    `workers` processes run side by side, by default one for each core, and no more than `memory`
    gigabytes allow, by default what is free. With the engine `ray` a cluster does so.
    """
    if workers is not None and workers < 1:
        raise ConfigError(f"`workers` must be at least 1, got {workers}.")
    if memory is not None and not 0 < memory < float("inf"):
        raise ConfigError(f"`memory` must be a number of GB above 0, got {memory:g}.")
    facts = look_at(plan, fetch=True)
    needs = {
        row.name: memory_need(row.config, facts[row.data, row.data_options]) for row in plan.rows
    }

    def need(row: Row) -> int:
        return needs[row.name]

    folder = SweepFolder(Path(out))
    carries: AbstractEngine
    if engine == "ray":
        carries = RayEngine(folder, need=need, options=ray or RayOptions())
    else:
        most = int(memory * GIGABYTE) if memory else None
        carries = LocalEngine(folder, workers=workers or cores(), need=need, memory=most)
    return Drive(plan, folder, carries, watcher or watcher_for(plan, folder))()
