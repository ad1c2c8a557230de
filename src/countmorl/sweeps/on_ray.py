"""The engine for a cluster: one Ray task for each row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from countmorl.configs import at_least, check_types
from countmorl.sweeps.engine import AbstractEngine, Outcome
from countmorl.sweeps.folder import SweepFolder
from countmorl.sweeps.rows import Row


@dataclass(frozen=True, kw_only=True)
class RayOptions:
    """Which cluster, and what each run gets of it."""

    address: str = "auto"
    """Where the cluster is: auto for the one that this machine belongs to, or host:port."""
    cpus: float = 1.0
    """Cores of each run; its threads are as many."""
    gpus: float = 0.0
    """GPUs of each run, or the share of one."""
    retries: int = 3
    """How often a run is begun again, from its folder, where its node was lost."""

    def __post_init__(self) -> None:
        check_types(self)
        at_least(self, cpus=0, gpus=0, retries=0)


class RayEngine(AbstractEngine):
    def __init__(self, folder: SweepFolder, *, need: Callable[[Row], int], options: RayOptions):
        raise NotImplementedError

    @property
    def running(self) -> list[str]: return []
    def has_room(self, row): return False
    def start(self, row): ...
    def wait(self, seconds) -> list[Outcome]: return []
    def ask_to_stop(self): ...
    def kill(self): ...
