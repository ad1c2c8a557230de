"""`export`: from a run to a bundle, one folder that goes into production; `load` reads it."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from countmorl.configs import to_json
from countmorl.data.dataset import Dataset
from countmorl.data.holdout import held_episodes
from countmorl.disk import explained_write, sync_folder
from countmorl.errors import ConfigError, RunError
from countmorl.evaluation.judging import JUDGEMENT_FILE
from countmorl.evaluation.parts import dataset_of
from countmorl.export.describe import bundle_readme
from countmorl.export.json_schema import json_schema
from countmorl.export.single import single_file
from countmorl.extras import require
from countmorl.files import write_text
from countmorl.json_files import parse_json
from countmorl.monitoring.baseline import BASELINE_FILE, Baseline
from countmorl.monitoring.training import made_of
from countmorl.runs.folder import Run
from countmorl.runtime.bundle import COUNTS_NAME, POLICY_NAME, SUMS_FILE
from countmorl.runtime.bundle import load_bundle as load_bundle
from countmorl.runtime.contract import (
    CONTRACT_FILE,
    CONTRACT_FORMAT,
    Answer,
    Contract,
    Judged,
    Origin,
    Range,
)
from countmorl.runtime.counts import Counts
from countmorl.runtime.guard import (
    CLONE,
    FOLDER,
    NEIGHBOURS,
    SETTINGS,
    Guard,
    GuardSettings,
    policy_digest,
)
from countmorl.runtime.load import load_policy
from countmorl.runtime.neighbours import Neighbours
from countmorl.runtime.tabular import TabularCounts, TabularPolicy
from countmorl.schema import Schema, action_names, obs_names

load = load_bundle
SCHEMA_FILE, RUNTIME_FILE, GRAPH_FILE, README_FILE = (
    "contract.schema.json",
    "runtime.py",
    "policy.onnx",
    "README.md",
)
PROBES = 2_000
"""Observations that the graph is asked for beside the policy."""
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class ExportConfig:
    """What a bundle does with what its log never held, and what it is made of."""

    guard: bool = True
    """Take the run's guard along, where `countmorl guard RUN` has chosen one."""
    far: Answer | None = None
    """What becomes of observations far outside the logged ranges: refuse, or fall_back, which
    counts them as unseen. Default: fall_back where there is a guard."""
    reach: float = 1.0
    """How many times the width of its logged range a number may lie outside of it."""
    unreadable: Answer = "refuse"
    """What becomes of rows that cannot be read: a missing column, an unknown category, NaN. They
    are refused; or the guard's fall-back acts, if it needs no observation."""
    onnx: bool = True
    """Write policy.onnx too; wants the extra `export`."""
    baseline: bool = True
    """Write baseline.safetensors too, by which `countmorl monitor DIR LOG` knows the training."""


def export(
    run: Run | str | Path,
    out: str | Path,
    *,
    config: ExportConfig | None = None,
    data: str | None = None,
    say: Say = lambda _: None,
) -> Path:
    """Write a run's policy, counts, guard and contract into a new folder, all of it or nothing.

    `data` says where the run's log lies now, if it has moved: the contract has its ranges.
    """
    run, out = run if isinstance(run, Run) else Run.open(run), Path(out)
    config = config or ExportConfig()
    if config.onnx:
        require("onnx")
    parts = Parts.of(run, config)
    dataset = dataset_of(run, data=data, simulated=False)
    contract = contract_of(run, parts, dataset, config)
    with whole_folder(out) as folder:
        write_bundle(folder, parts, contract)
        if config.onnx:
            say(add_graph(folder, dataset.obs))
        if config.baseline and dataset.next_known.any():
            counted = parts.counts if isinstance(parts.counts, Counts) else None
            _baseline(run, dataset, counted).save(folder / BASELINE_FILE)
        write_text(folder / README_FILE, bundle_readme(contract, config.onnx))
        write_sums(folder)
        load_bundle(folder)
    return out


def write_bundle(folder: Path, parts: Parts, contract: Contract) -> None:
    """Write what loads and acts: policy, counts, clone, contract, and `runtime.py`."""
    parts.policy.save(folder / POLICY_NAME)
    if isinstance(parts.counts, Counts):
        parts.counts.save(folder / COUNTS_NAME)
    elif isinstance(parts.counts, Neighbours):
        parts.counts.save(folder / NEIGHBOURS)
    if parts.clone is not None:
        parts.clone.save(folder / CLONE)
    _write_json(folder / CONTRACT_FILE, to_json(contract))
    _write_json(folder / SCHEMA_FILE, json_schema(Contract))
    write_text(folder / RUNTIME_FILE, single_file(version("countmorl")))
    write_sums(folder)


def add_graph(folder: Path, logged: np.ndarray) -> str:
    """Write a bundle's graph, and say how it answers beside the policy."""
    from countmorl.export.graph import write_graph
    from countmorl.export.parity import compared, graph_runner, some_observations

    bundle = load_bundle(folder)
    write_graph(bundle, folder / GRAPH_FILE)
    runner = graph_runner(folder / GRAPH_FILE)
    return compared(bundle, runner, some_observations(logged, PROBES)).sentence


def write_sums(folder: Path) -> None:
    """Write the digest of every file, as `sha256sum -c` reads them."""
    paths = sorted(path for path in folder.iterdir() if path.name != SUMS_FILE)
    lines = (f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in paths)
    write_text(folder / SUMS_FILE, "".join(lines))


def _baseline(run: Run, dataset: Dataset, counts: Counts | None) -> Baseline:
    """What a monitor compares logs with; counts of another kind than codes are not watched."""
    origin = run.manifest.data
    assert origin is not None, "its data were found by it"
    held = held_episodes(dataset, origin.holdout)
    return made_of(dataset, held, counts, done=origin.options.done)


@dataclass(frozen=True, eq=False, kw_only=True)
class Parts:
    """What of a run goes into a bundle."""

    policy: Any
    counts: Any = None
    guard: GuardSettings | None = None
    clone: Any = None

    @classmethod
    def of(cls, run: Run, config: ExportConfig) -> Parts:
        """The run's policy, with the guard that was chosen for it, or with its own counts."""
        policy = load_policy(run.path)
        if config.guard and (run.path / FOLDER / SETTINGS).exists():
            guard = Guard.load(run.path)
            return cls(policy=policy, counts=guard.counts, guard=guard.settings, clone=guard.clone)
        counts: Any = None
        if isinstance(policy, TabularPolicy):
            counts = TabularCounts.of(policy)
        elif run.result_path("counter").exists():
            counts = Counts.of_run(run.path)
        return cls(policy=policy, counts=counts)

    @property
    def kind(self) -> Any:
        """How its contract calls these counts."""
        kinds = {Counts: "codes", Neighbours: "neighbours", TabularCounts: "tabular"}
        return None if self.counts is None else kinds[type(self.counts)]


def contract_of(run: Run, parts: Parts, dataset: Dataset, config: ExportConfig) -> Contract:
    """What the bundle of a run promises."""
    policy, origin = parts.policy, run.manifest.data
    assert origin is not None, "its data were found by it"
    schema = getattr(policy, "schema", None)
    far = config.far or ("fall_back" if parts.guard else "refuse")
    return Contract(
        format=CONTRACT_FORMAT,
        origin=Origin(
            countmorl=version("countmorl"),
            algorithm=run.manifest.algorithm,
            dataset=origin.name,
            dataset_hash=origin.hash,
            task=dataset.task.env_id if dataset.task else None,
        ),
        observation=_observed(schema, dataset),
        history=schema.history if schema else 1,
        discrete=policy.discrete,
        action=_acted(schema, policy),
        schema=schema,
        counts=parts.kind,
        thin=None if parts.counts is None else float(parts.counts.thin),
        guard=parts.guard,
        reach=config.reach,
        far=far,
        unreadable=config.unreadable,
        judged=judged_of(run),
    )


def judged_of(run: Run) -> Judged | None:
    """What `countmorl judge` said of the run's present policy, where it was asked."""
    path = run.path / JUDGEMENT_FILE
    if not path.exists():
        return None
    found = parse_json(path, lambda value: isinstance(value, dict), "a judgement")
    if found.get("policy", policy_digest(run.path)) != policy_digest(run.path):
        return None  # The run was trained on since then.
    try:
        behaviour, gain = found["behaviour"], found["gain"]
        value = behaviour.get("value")
        return Judged(
            verdict=found["verdict"],
            sentence=found["sentence"],
            # Without bounds nobody has said anything, and strict JSON knows no infinity.
            gain=tuple(gain) if gain is not None and np.isfinite(gain).all() else None,
            behaviour=value if value is not None and np.isfinite(value) else None,
            unit=behaviour.get("unit", ""),
        )
    except (KeyError, TypeError, ValueError, AttributeError, ConfigError) as error:
        raise RunError(f"{path} is damaged: {error} is missing or of another kind.") from error


def _observed(schema: Schema | None, dataset: Dataset) -> tuple[Range, ...]:
    obs, units = dataset.obs, _units(schema)
    names = obs_names(schema, obs.shape[1])
    return tuple(
        Range(
            name=name, unit=units.get(name.partition("@")[0], ""), low=float(low), high=float(high)
        )
        for name, low, high in zip(names, obs.min(axis=0), obs.max(axis=0), strict=True)
    )


def _acted(schema: Schema | None, policy: Any) -> tuple[Range, ...]:
    units, size = _units(schema), policy.action_dim
    low, high = np.zeros(size), np.ones(size)
    if not policy.discrete:
        low, high = policy.space.low, policy.space.high
    return tuple(
        Range(name=name, unit=units.get(name, ""), low=float(least), high=float(most))
        for name, least, most in zip(action_names(schema, size), low, high, strict=True)
    )


def _units(schema: Schema | None) -> dict[str, str]:
    """The unit of each number that is a quantity of its own."""
    columns = (*schema.obs, *schema.action) if schema else ()
    return {column.name: column.unit for column in columns if column.numbers[0] == column.name}


def _write_json(path: Path, value: Any) -> None:
    write_text(path, json.dumps(value, indent=2, allow_nan=False) + "\n")


@contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """Yield a new folder beside `out` that becomes it only if the block succeeds."""
    with explained_write(out):
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise RunError(f"{out} exists already. Choose another folder, or remove it first.")
        out.parent.mkdir(parents=True, exist_ok=True)
        folder = out.with_name(f".{out.name[:100]}.{secrets.token_hex(8)}.tmp")
        folder.mkdir()
        try:
            yield folder
            os.replace(folder, out)
            sync_folder(out.parent)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
