"""The D4RL datasets that are known by name, their files and their sizes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from countmorl.data.d4rl_files import FILES
from countmorl.data.foreign import user_path
from countmorl.envs.tasks import TASKS, Task

HOME = "https://rail.eecs.berkeley.edu/datasets/offline_rl"
ENVS = ("halfcheetah", "hopper", "walker2d")
KINDS_V2 = ("random", "medium", "medium-replay", "medium-expert", "expert", "full-replay")
KINDS_V0 = ("random", "medium", "medium-replay", "medium-expert")
REPLAY_ROWS = {
    "v2": {"halfcheetah": 202_000, "hopper": 402_000, "walker2d": 302_000},
    "v0": {"halfcheetah": 101_000, "hopper": 200_920, "walker2d": 100_930},
}


@dataclass(frozen=True, kw_only=True)
class D4RLName:
    """One dataset of D4RL: where its file lies and what it must hold."""

    name: str
    env: str
    kind: str
    version: str

    @property
    def task(self) -> Task:
        """The task it is judged on."""
        return TASKS[self.env]

    @property
    def rows(self) -> int:
        """Rows of the file, as published; whole episodes make it a little less."""
        if self.kind == "medium-replay":
            return REPLAY_ROWS[self.version][self.env]
        if self.kind == "medium-expert":
            # The v0 file of hopper joins the expert's data with the replay by mistake.
            return 1_200_919 if (self.env, self.version) == ("hopper", "v0") else 2_000_000
        return 1_000_000

    @property
    def file_name(self) -> str:
        """Last part of the address, and name in D4RL's cache folder."""
        kind = self.kind.replace("-", "_")
        if self.version == "v2":
            return f"{self.env}_{kind}-v2.hdf5"
        if kind == "medium_replay":
            return f"{'walker' if self.env == 'walker2d' else self.env}_mixed.hdf5"
        return f"{self.env}_{kind}.hdf5"

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return FILES[self.file_name][0]

    @property
    def sha256(self) -> str:
        """Digest of the file."""
        return FILES[self.file_name][1]

    @property
    def url(self) -> str:
        """Where D4RL serves it; COUNTMORL_D4RL_MIRROR names another server of the same layout."""
        home = os.environ.get("COUNTMORL_D4RL_MIRROR", HOME).rstrip("/")
        folder = "gym_mujoco_v2" if self.version == "v2" else "gym_mujoco"
        return f"{home}/{folder}/{self.file_name}"

    @property
    def path(self) -> Path:
        """Where the file lies, or would lie, on this machine."""
        return cache_folder() / self.file_name


def cache_folder() -> Path:
    """D4RL's own cache: D4RL_DATASET_DIR, else ~/.d4rl/datasets."""
    return user_path(os.environ.get("D4RL_DATASET_DIR", "~/.d4rl/datasets"))


D4RL: dict[str, D4RLName] = {
    f"{env}-{kind}-{version}": D4RLName(
        name=f"{env}-{kind}-{version}", env=env, kind=kind, version=version
    )
    for version, kinds in (("v2", KINDS_V2), ("v0", KINDS_V0))
    for env in ENVS
    for kind in kinds
}
