"""What the tests of `countmorl auto` share: a tiny portfolio, carried out in this process."""

from pathlib import Path

import numpy as np

from countmorl.automatic import carrying, portfolio, sizing
from countmorl.automatic.portfolio import Trial
from countmorl.dynamics.fit import EnsembleConfig
from countmorl.evaluation.bench import BenchConfig
from countmorl.evaluation.fqe import FQEConfig
from countmorl.sweeps.engine import AbstractEngine, Outcome
from countmorl.sweeps.trials import Cost
from countmorl.sweeps.worker import outcome
from worlds import linear_log

BENCH = BenchConfig(
    clone_updates=20,
    fqe=FQEConfig(members=2, hidden=(8,), updates=5, batch=8, least=10, most=10),
    model=EnsembleConfig(members=2, elites=2, width=8, batch=32, holdout=20, max_epochs=1),
)
EVERY = {"updates": 4, "batch": 20}
COUNT = EVERY | {
    "horizon": 2,
    "branches": 20,
    "retain": 2,
    "termination": "never",
    "imitate": 0.0,
    "sac.hidden": (8, 8),
    "sac.discount": 0.9,
    "model.members": 3,
    "model.elites": 2,
    "model.width": 8,
    "model.batch": 32,
    "model.holdout": 40,
    "model.least_steps": 1,
    "counter": "simhash",
    "codes.bits": 6,
    "codes.verified": None,
}
TRIED = (
    Trial(label="clone", algorithm="bc", about="imitates", settings=EVERY | {"hidden": (8,)}),
    Trial(
        label="td3-bc",
        algorithm="td3-bc",
        about="stays near",
        settings=EVERY | {"td3.hidden": (8, 8), "td3.discount": 0.9},
    ),
    Trial(label="count-morl", algorithm="count-morl", about="in a model", settings=COUNT),
)
"""Too little to learn anything."""


class Inline(AbstractEngine):
    """Carries out one row at a time, here; after `most` rows it dies."""

    def __init__(self, folder: Path, most: int | None = None) -> None:
        self.folder, self.left = folder, most
        self.rows = []
        self.started: list[str] = []

    @property
    def running(self) -> list[str]:
        return [row.name for row in self.rows]

    def has_room(self, row) -> bool:
        return not self.rows

    def start(self, row) -> None:
        if self.left == 0:
            raise RuntimeError("killed")
        self.left = None if self.left is None else self.left - 1
        self.started.append(row.name)
        self.rows.append(row)

    def wait(self, seconds: float) -> list[Outcome]:
        if not self.rows:
            return []
        row = self.rows.pop()
        state, sentence = outcome({"row": row.as_dict(), "folder": str(self.folder)})
        return [Outcome(name=row.name, state=state, sentence=sentence)]

    def ask_to_stop(self) -> None:
        """Nothing is under way between two rows."""

    def kill(self) -> None:
        self.rows.clear()


def make_tiny(monkeypatch, most: int | None = None) -> list[Inline]:
    """Let `auto` try the tiny portfolio; return the engines that it will make."""
    engines: list[Inline] = []

    def engine(folder, facts, workers):
        engines.append(Inline(folder.runs.path, most))
        return engines[-1]

    def measured(rows, envs):
        return [Cost(update=1e-6)] * len(rows), {}

    monkeypatch.setattr(carrying, "engine_for", engine)
    monkeypatch.setattr(portfolio, "trials", lambda **_: TRIED)
    monkeypatch.setattr(portfolio, "EPOCHS", {"bc": 3, "td3-bc": 3, "count-morl": 3})
    monkeypatch.setattr(portfolio, "MODEL_EPOCHS", 2)
    monkeypatch.setattr(portfolio, "UPDATES_OF_WEIGHT", 3)
    monkeypatch.setattr(sizing.trials, "measure_apart", measured)
    monkeypatch.setattr("countmorl.sweeps.estimate.IMPORTS", 0.1)
    return engines


def write_linear_log(path: Path, episodes: int = 12) -> Path:
    """The linear system's log as a file; constant actions are told by their bounds."""
    data = linear_log(episodes, 20)
    arrays = {name: getattr(data, name) for name in ("obs", "action", "reward", "next_obs")}
    ends = {"truncated": data.truncated, "terminated": data.terminated}
    np.savez(path, **arrays, **ends, action_low=-np.ones(1), action_high=np.ones(1))
    return path
