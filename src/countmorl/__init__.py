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
    from countmorl.algorithms.mobile import MOBILE as MOBILE
    from countmorl.algorithms.mopo import MOPO as MOPO
    from countmorl.algorithms.morel import MOReL as MOReL
    from countmorl.algorithms.rambo import RAMBO as RAMBO
    from countmorl.algorithms.repb_sde import RepBSDE as RepBSDE
    from countmorl.algorithms.td3_bc import TD3PlusBC as TD3PlusBC
    from countmorl.api import resume as resume
    from countmorl.api import train as train
    from countmorl.automatic.run import auto as auto
    from countmorl.collecting.collect import collect as collect
    from countmorl.counting.query import counts as counts
    from countmorl.data.check import check as check
    from countmorl.data.dataset import Dataset as Dataset
    from countmorl.data.sources import load as load
    from countmorl.data.tables.importing import from_table as from_table
    from countmorl.errors import ConfigError as ConfigError
    from countmorl.errors import CountMorlError as CountMorlError
    from countmorl.errors import DataError as DataError
    from countmorl.errors import RunError as RunError
    from countmorl.evaluation.base import Estimate as Estimate
    from countmorl.evaluation.judging import judge as judge
    from countmorl.evaluation.simulate import evaluate as evaluate
    from countmorl.runs.folder import Run as Run
    from countmorl.runs.options import DataOptions as DataOptions
    from countmorl.runs.options import RunOptions as RunOptions
    from countmorl.runs.summary import summarize as summarize
    from countmorl.runtime.guard import Guard as Guard
    from countmorl.runtime.load import load_policy as load_policy
    from countmorl.runtime.policy import Policy as Policy
    from countmorl.sweeps.methods import Method as Method
    from countmorl.sweeps.plan import Sweep as Sweep
    from countmorl.sweeps.run import sweep as sweep

# Names are imported when first used: `Policy` then needs NumPy alone, and no
# command waits for JAX that does not compute.
_HOMES = {
    "ALGORITHMS": "algorithms",
    "BC": "algorithms.bc",
    "COMBO": "algorithms.combo",
    "CQL": "algorithms.cql",
    "ConfigError": "errors",
    "CountMORL": "algorithms.count_morl",
    "CountMorlError": "errors",
    "DataError": "errors",
    "DataOptions": "runs.options",
    "Dataset": "data.dataset",
    "Estimate": "evaluation.base",
    "Guard": "runtime.guard",
    "MOPO": "algorithms.mopo",
    "Method": "sweeps.methods",
    "MOBILE": "algorithms.mobile",
    "MOReL": "algorithms.morel",
    "Policy": "runtime.policy",
    "RAMBO": "algorithms.rambo",
    "RepBSDE": "algorithms.repb_sde",
    "Run": "runs.folder",
    "RunError": "errors",
    "RunOptions": "runs.options",
    "Sweep": "sweeps.plan",
    "TD3PlusBC": "algorithms.td3_bc",
    "auto": "automatic.run",
    "check": "data.check",
    "collect": "collecting.collect",
    "counts": "counting.query",
    "evaluate": "evaluation.simulate",
    "from_table": "data.tables.importing",
    "judge": "evaluation.judging",
    "load": "data.sources",
    "load_policy": "runtime.load",
    "resume": "api",
    "summarize": "runs.summary",
    "sweep": "sweeps.run",
    "train": "api",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'countmorl' has no attribute '{name}'")
    return getattr(importlib.import_module(f"countmorl.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
