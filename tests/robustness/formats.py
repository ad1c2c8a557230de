"""Every file format that is read, for the fuzzer: a new format is one row in `FORMATS`.

A row says how to make a small valid file, how a user reads it, and how to damage it. Whatever
`read` raises beside a `CountMorlError` is a failure, and so is an answer that `read` finds wrong:
it asserts what a user relies on.
"""

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bundles import made, parts_of
from countmorl.configs import to_json
from countmorl.export.bundle import write_sums
from countmorl.reports.facts import read_facts
from countmorl.runs.folder import Run
from countmorl.runs.summary import summarize
from countmorl.runtime.bundle import load_bundle
from countmorl.runtime.counts import Counts
from countmorl.runtime.load import load_policy
from countmorl.runtime.policy import Policy
from countmorl.runtime.tabular import TabularPolicy
from countmorl.spaces import ActionSpace
from made_runs import make_run
from robustness.asked_formats import ASKED_FORMATS
from robustness.beside_formats import BESIDE_FORMATS
from robustness.damage import by_bytes, by_forgery, by_json, by_lines
from robustness.data_formats import DATA_FORMATS
from robustness.format import Format
from robustness.model_formats import MODEL_FORMATS
from robustness.page_formats import PAGE_FORMATS


def part_of_run(name: str) -> Callable[[Path], Path]:
    """A run without arrays, of which one file is damaged."""

    def make(folder: Path) -> Path:
        return make_run(folder / "run").path / name

    return make


def read_run(path: Path) -> None:
    """What reports, comparisons and the end of a training ask of a run."""
    run = Run.open(path.parent)
    json.dumps(summarize(run).as_dict())
    facts = read_facts(run)
    assert all(np.isfinite(value) for value in facts.summary.values)


def small_policy(folder: Path) -> Path:
    """A network of two layers."""
    rng = np.random.default_rng(0)
    sizes = (3, 5, 4)
    Policy(
        weights=tuple(
            rng.standard_normal(shape).astype(np.float32) for shape in itertools.pairwise(sizes)
        ),
        biases=tuple(rng.standard_normal(size).astype(np.float32) for size in sizes[1:]),
        head="tanh_normal",
        obs_mean=np.zeros(3, np.float32),
        obs_std=np.ones(3, np.float32),
        space=ActionSpace(low=np.full(2, -2, np.float32), high=np.full(2, 2, np.float32)),
        info={"task": "Pendulum-v1"},
    ).save(folder / "policy.safetensors")
    return folder / "policy.safetensors"


def small_table(folder: Path) -> Path:
    """A policy of a finite world."""
    chances = np.array([[0.25, 0.75], [1.0, 0.0], [0.5, 0.5]])
    counts = np.array([[1, 3], [2, 0], [4, 4]])
    TabularPolicy(probabilities=chances, counts=counts, info={}).save(folder / "policy.safetensors")
    return folder / "policy.safetensors"


def read_policy(path: Path) -> None:
    """Load a policy and let it act: an actuator is behind it."""
    policy = load_policy(path)
    for rng in (None, np.random.default_rng(0)):
        actions = np.asarray(policy.act(np.ones((2, policy.obs_dim), np.float32), rng=rng))
        assert np.isfinite(actions).all()
        if isinstance(policy, Policy) and not policy.discrete:
            assert not policy.space.outside(actions).any()
        else:
            assert ((actions >= 0) & (actions < policy.action_dim)).all()


def small_counts(folder: Path) -> Path:
    """Codes of a random network, and the tables of a random log."""
    parts, _, _ = parts_of()
    parts.counts.save(folder / "counts.safetensors")
    return folder / "counts.safetensors"


def read_counts(path: Path) -> None:
    """Load counts and count: nothing is seen less than never."""
    counts = Counts.load(path)
    obs = np.ones((2, counts.obs_dim), np.float32)
    action = np.zeros(2, int) if counts.space.discrete else np.ones((2, counts.space.size))
    found = counts.counts(obs, action)
    assert (found.members >= 0).all()
    assert np.isfinite(found.count).all()


def small_bundle(folder: Path) -> Path:
    """A bundle, of which the contract is damaged."""
    made(folder / "bundle")
    return folder / "bundle" / "contract.json"


def read_bundle(path: Path) -> None:
    """Load a bundle whose digests were forged too, and let it act."""
    write_sums(path.parent)
    bundle = load_bundle(path.parent)
    json.dumps(to_json(bundle.contract), allow_nan=False)  # As `countmorl serve` says it.
    _, why = bundle.act(np.float32([[(r.low + r.high) / 2 for r in bundle.contract.observation]]))
    assert why.level is None or set(why.level) <= {"covered", "thin", "unseen", None}


FORMATS: dict[str, Format] = {
    "config": Format(part_of_run("config.json"), read_run, (by_bytes, by_json)),
    "metrics": Format(part_of_run("metrics.jsonl"), read_run, (by_bytes, by_lines)),
    "timing": Format(part_of_run("timing.jsonl"), read_run, (by_bytes, by_lines)),
    "calibration": Format(part_of_run("calibration.json"), read_run, (by_bytes, by_json)),
    "policy": Format(small_policy, read_policy, (by_bytes, by_forgery)),
    "tabular-policy": Format(small_table, read_policy, (by_bytes, by_forgery)),
    "counts": Format(small_counts, read_counts, (by_bytes, by_forgery)),
    "contract": Format(small_bundle, read_bundle, (by_bytes, by_json)),
    **MODEL_FORMATS,
    **BESIDE_FORMATS,
    **ASKED_FORMATS,
    **PAGE_FORMATS,
    **DATA_FORMATS,
}
"""Every format by its name, which is also its folder in the corpus."""
