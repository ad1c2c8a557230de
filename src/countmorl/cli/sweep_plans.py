"""Commands that carry out plans: one for each plan of the paper, one for plans in files."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from countmorl.algorithms.presets import PresetName
from countmorl.cli.output import print_json, print_table
from countmorl.errors import ConfigError
from countmorl.machine import cores
from countmorl.progress import duration
from countmorl.runs.options import DataOptions, RunOptions
from countmorl.sweeps.drive import Result
from countmorl.sweeps.estimate import Estimate, estimate
from countmorl.sweeps.facts import look_at
from countmorl.sweeps.files import read_plan
from countmorl.sweeps.local import GIGABYTE
from countmorl.sweeps.named import NAMED, named_plan
from countmorl.sweeps.needs import memory_need
from countmorl.sweeps.on_ray import RayOptions, Storage
from countmorl.sweeps.plan import Sweep
from countmorl.sweeps.run import EngineName, sweep

Flat = tyro.conf.arg(name="")
PARTS = {"model": "models, each fitted once and shared", "codes": "codes, likewise"}


@dataclass(frozen=True, kw_only=True)
class How:
    """How a plan is carried out, whatever is in it."""

    out: Path | None = None
    """Folder of the sweep; by default sweeps/PLAN. The same command goes on with what is there."""
    workers: int | None = None
    """Runs side by side, one core each; by default as many as there are cores."""
    memory: float | None = None
    """GB that all runs together may take; by default nine tenths of what is free."""
    dry_run: bool = False
    """Show what would be done, with hours from a short timing on this machine, and start
    nothing."""
    engine: EngineName = "local"
    """Who carries it out: processes on this machine, or an existing Ray cluster."""
    address: str = "auto"
    """Ray: auto for the cluster that this machine belongs to, or host:port."""
    cpus: int = 1
    """Ray: cores of each run."""
    gpus: float = 0.0
    """Ray: GPUs of each run, or the share of one."""
    storage: Storage = "auto"
    """Ray: shared, every node sees the sweep's folder; or returned, files are brought back when a
    run ends. auto asks the nodes."""
    json: bool = False
    """Print the outcome as JSON; progress goes to standard error."""


def of_name(name: str) -> Callable[..., int]:
    """The command of one of the paper's plans."""

    def command(
        how: Annotated[How, Flat],
        *,
        data: tuple[str, ...] = (),
        tasks: tuple[str, ...] = (),
        algorithms: tuple[str, ...] = (),
        seeds: int = 5,
        preset: PresetName = "default",
        epochs: int | None = None,
        rows: int | None = None,
        eval_every: int = 10,
        eval_episodes: int = 10,
        save_every: int = 5,
    ) -> int:
        if seeds < 1:
            raise ConfigError(f"`seeds` must be at least 1, got {seeds}.")
        plan = named_plan(
            name,
            data=data,
            tasks=tasks,
            algorithms=algorithms,
            seeds=seeds,
            preset=preset,
            settings={} if epochs is None else {"epochs": epochs},
            options=RunOptions(
                eval_every=eval_every, eval_episodes=eval_episodes, save_every=save_every
            ),
            data_options=DataOptions(rows=rows),
        )
        return carry_out(plan, how)

    command.__doc__ = f"""{NAMED[name].about}

Args:
    data: A folder of files that are named like D4RL's, or files of your own; by default D4RL's
        own data, which are downloaded once.
    tasks: Only these of the twelve, such as hopper-medium-replay.
    algorithms: Only these methods; one of your own by module:Class makes one more column.
    seeds: How many seeds: 5 is 0 to 4.
    preset: Where settings come from: default, or paper (methods that published none keep their
        defaults).
    epochs: Epochs of every run, in place of each method's own.
    rows: Keep only the first rows of each dataset.
    eval_every: Epochs between evaluations, by play where the task can be simulated; 0 for none.
    eval_episodes: Episodes in one evaluation.
    save_every: Epochs between checkpoints: what a kill can lose at most.
"""
    return command


def of_file(path: Path) -> Callable[..., int]:
    """The command of a plan in a file."""

    def command(how: Annotated[How, Flat]) -> int:
        """Carry out a plan of your own; docs/sweeps.md explains the file."""
        return carry_out(read_plan(path), how)

    return command


def carry_out(plan: Sweep, how: How) -> int:
    """Show a plan, or do what it says and tell what came of it."""
    if how.dry_run:
        return _show(plan, how)
    out = how.out or Path("sweeps") / plan.name
    for note in plan.notes:
        print(note, file=sys.stderr)
    ray = RayOptions(address=how.address, cpus=how.cpus, gpus=how.gpus, storage=how.storage)
    result = sweep(plan, out, workers=how.workers, memory=how.memory, engine=how.engine, ray=ray)
    if how.json:
        told = {"finished": sorted(result.finished), "failed": result.failed, "left": result.left}
        print_json({"folder": str(out), **told})
    else:
        _tell(result, out)
    return 1 if result.failed else 130 if result.left else 0


def _tell(result: Result, out: Path) -> None:
    for name, sentence in result.failed.items():
        print(f"failed: {name}: {sentence}", file=sys.stderr)
    counts = f"{len(result.finished)} finished, {len(result.failed)} failed"
    if result.left:
        print(f"{counts}, {len(result.left)} left. The same command goes on.", file=sys.stderr)
        return
    print(f"{counts}. Compare them: countmorl report {out} -o {out}/report.html")


def _show(plan: Sweep, how: How) -> int:
    """What would be done, how long it would take, and what it needs."""
    if how.workers is not None and how.workers < 1:
        raise ConfigError(f"`workers` must be at least 1, got {how.workers}.")
    facts, workers = look_at(plan, fetch=False), how.workers or cores()
    needs = [memory_need(row.config, facts[row.data, row.data_options]) for row in plan.rows]
    times = estimate(plan, facts, workers)
    rows = summary_rows(plan, times)
    if how.json:
        print_json(
            {
                "plan": plan.name,
                "rows": [row.as_dict() for row in plan.rows],
                "seconds": times.seconds,
                "core_hours": times.total / 3600,
                "workers": workers,
                "wall_hours": times.wall / 3600,
                "largest_need": max(needs),
            }
        )
        return 0
    print_table(("what", "runs", "core hours"), ((n, str(c), f"{h:.1f}") for n, c, h in rows))
    print(
        f"{len(plan.rows)} runs on {len(plan.sources)} datasets: {times.total / 3600:.1f} core "
        f"hours; with {workers} workers {duration(times.wall)}. A run needs up to "
        f"{max(needs) / GIGABYTE:.1f} GB of memory."
    )
    print("Models are taken to need all their epochs, and episodes to last to their end.")
    for note in plan.notes:
        print(note)
    return 0


def summary_rows(plan: Sweep, times: Estimate) -> list[tuple[str, int, float]]:
    """Runs and hours of one core for each method, and for what they share."""
    found: dict[str, list[float]] = {}
    for row in plan.rows:
        what = PARTS.get(row.algorithm, row.label)
        found.setdefault(what, []).append(times.seconds[row.name] / 3600)
    return [(what, len(hours), sum(hours)) for what, hours in found.items()]
