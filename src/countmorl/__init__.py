"""countmorl: learn a policy from logged data alone, and know where it leaves the data."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from countmorl.algorithms import ALGORITHMS as ALGORITHMS
    from countmorl.algorithms.bc import BC as BC
    from countmorl.algorithms.combo import COMBO as COMBO
    from countmorl.algorithms.count_morl import CountMORL as CountMORL
    from countmorl.algorithms.cql import CQL as CQL
    from countmorl.algorithms.mopo import MOPO as MOPO
    from countmorl.algorithms.morel import MOReL as MOReL
    from countmorl.algorithms.rambo import RAMBO as RAMBO
    from countmorl.algorithms.repb_sde import RepBSDE as RepBSDE
    from countmorl.algorithms.td3_bc import TD3PlusBC as TD3PlusBC
    from countmorl.collecting.collect import collect as collect
    from countmorl.data.check import check as check
    from countmorl.data.dataset import Dataset as Dataset
    from countmorl.data.sources import load as load
    from countmorl.envs.simulators import Evaluation as Evaluation
    from countmorl.envs.simulators import evaluate as evaluate
    from countmorl.envs.tasks import Task as Task
    from countmorl.errors import ConfigError as ConfigError
    from countmorl.errors import CountMorlError as CountMorlError
    from countmorl.errors import DataError as DataError
    from countmorl.errors import RunError as RunError
    from countmorl.runs.folder import Run as Run
    from countmorl.runtime.policy import Policy as Policy
    from countmorl.scaling import Standardizer as Standardizer
    from countmorl.training.options import DataOptions as DataOptions
    from countmorl.training.options import RunOptions as RunOptions
    from countmorl.training.train import resume as resume
    from countmorl.training.train import train as train

# Names are imported when first used: `Policy` then needs NumPy alone, and no command waits for JAX
# that does not compute.
_HOMES = {
    "ALGORITHMS": "algorithms",
    "BC": "algorithms.bc",
    "COMBO": "algorithms.combo",
    "CQL": "algorithms.cql",
    "ConfigError": "errors",
    "CountMORL": "algorithms.count_morl",
    "CountMorlError": "errors",
    "DataError": "errors",
    "DataOptions": "training.options",
    "Dataset": "data.dataset",
    "Evaluation": "envs.simulators",
    "MOPO": "algorithms.mopo",
    "MOReL": "algorithms.morel",
    "Policy": "runtime.policy",
    "RAMBO": "algorithms.rambo",
    "RepBSDE": "algorithms.repb_sde",
    "Run": "runs.folder",
    "RunError": "errors",
    "RunOptions": "training.options",
    "Standardizer": "scaling",
    "TD3PlusBC": "algorithms.td3_bc",
    "Task": "envs.tasks",
    "check": "data.check",
    "collect": "collecting.collect",
    "evaluate": "envs.simulators",
    "load": "data.sources",
    "resume": "training.train",
    "train": "training.train",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'countmorl' has no attribute '{name}'")
    return getattr(importlib.import_module(f"countmorl.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
