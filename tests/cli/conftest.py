"""What several commands are tried on."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from countmorl.cli import main


@pytest.fixture
def module(monkeypatch, tmp_path) -> Iterator[Callable[[str, str], str]]:
    """Write a module of the user's own, importable for the length of a test."""
    names = []

    def write(name: str, text: str) -> str:
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.syspath_prepend(tmp_path)
        names.append(name)
        return name

    yield write
    for name in names:
        sys.modules.pop(name, None)


OWN_ENVS = """
import gymnasium
import numpy as np


class Own(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-9, 9, (3,))
    action_space = gymnasium.spaces.Box(-1, 1, (2,))

    def reset(self, *, seed=None, options=None):
        self.clock = 0
        return np.zeros(3, np.float32), {}

    def step(self, action):
        self.clock += 1
        return np.zeros(3, np.float32), 2.0, False, self.clock == 5, {}


if "Own-v0" not in gymnasium.registry:
    gymnasium.register("Own-v0", entry_point=Own)
"""


@pytest.fixture
def own_env(module) -> Iterator[str]:
    """The id of an environment of the user's own: an episode pays 2 five times."""
    gymnasium = pytest.importorskip("gymnasium")
    yield f"{module('own_envs', OWN_ENVS)}:Own-v0"
    gymnasium.registry.pop("Own-v0", None)


@pytest.fixture(scope="session")
def tabular(tmp_path_factory) -> Path:
    """A folder with `cliff.hdf5` and a tabular run `run` on it. Read it, never write to it."""
    folder = tmp_path_factory.mktemp("tabular")
    data, run = str(folder / "cliff.hdf5"), str(folder / "run")
    assert main(["study", "log", "cliff", data, "--rows", "3000", "--json"]) == 0
    assert main(["train", "tabular", data, "--out", run, "--json"]) == 0
    return folder
