"""One observation through a bundle, beside the bare matrix products of its policy.

Real sizes: a policy of 2 x 256, five elites of 2 x 200 with codes of 16 bits that are verified and
100,000 logged rows of 11 and 3 numbers; or the 20,000 rows that a guard by neighbours keeps.
"""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Result
from countmorl.export.bundle import Parts, add_graph, write_bundle
from countmorl.export.parity import graph_runner
from countmorl.runtime.bundle import Bundle, load_bundle
from countmorl.runtime.coding import LearnedCodes
from countmorl.runtime.contract import Contract, Origin, Range
from countmorl.runtime.counts import Counts
from countmorl.runtime.guard import GuardSettings
from countmorl.runtime.neighbours import Neighbours
from countmorl.runtime.policy import Policy
from countmorl.runtime.tables import Table, Tables
from countmorl.runtime.use import CountUse
from countmorl.spaces import ActionSpace

OBS, ACTION, ELITES, WIDTH, BITS, ROWS, KEPT = 11, 3, 5, 200, 16, 100_000, 20_000
REPEAT, FIRST, COUNTED = 2_000, 5, 20


def run() -> list[Result]:
    """Median and 99th percentile of one observation, NumPy and ONNX, with and without counts.

    Seconds of the processor, on one thread.
    """
    rng = np.random.default_rng(0)
    obs = _floats(rng, ROWS, OBS)
    policy = _policy(rng)
    plain = Parts(policy=policy)
    guard = GuardSettings(threshold=1.0, fall_back="fixed", fixed=(0.0,) * ACTION)
    codes = Parts(policy=policy, counts=_counts(rng, policy, obs), guard=guard)
    near = Parts(policy=policy, counts=_neighbours(policy, obs[:KEPT]), guard=guard)
    kinds = {
        "without counts": plain,
        "with codes and guard": codes,
        "with neighbours and guard": near,
    }
    with tempfile.TemporaryDirectory() as place:
        bundles = {
            name: _written(Path(place) / name.replace(" ", "-"), parts, obs)
            for name, parts in kinds.items()
        }
        works: dict[str, Callable[[], Any]] = {"bare": _bare(policy, obs[0])}
        for name, (bundle, graph) in bundles.items():
            works[f"NumPy, {name}"] = lambda bundle=bundle: bundle.act(obs[0])
            works[f"ONNX, {name.removesuffix(' and guard')}"] = lambda graph=graph: graph(obs[:1])
        times = _times(works)
    bare = times.pop("bare")
    return [
        Result(
            name=f"one observation, {said}: {name}",
            seconds=float(np.quantile(each, share)),
            ratio=float(np.quantile(each, share) / np.quantile(bare, share)),
            ratio_to="the policy's bare matrix products in NumPy",
        )
        for name, each in times.items()
        for said, share in (("p50", 0.5), ("p99", 0.99))
    ]


def _times(works: dict[str, Callable[[], Any]]) -> dict[str, np.ndarray]:
    """Durations of each work, taken in turns so that a busy moment hits all alike.

    Some calls a turn, of which the first are not counted: who takes the turn finds its weights
    pushed out of the processor's memory by the others, as nobody does who is asked all the time.
    """
    found: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(REPEAT // COUNTED):
        for name, work in works.items():
            for _ in range(FIRST):
                work()
            for _ in range(COUNTED):
                start = time.thread_time()  # Of this thread: others may keep the machine busy.
                work()
                found[name].append(time.thread_time() - start)
    return {name: np.array(each) for name, each in found.items()}


def _bare(policy: Policy, obs: np.ndarray) -> Callable[[], Any]:
    weights, x = policy.weights, obs[None]

    def products() -> Any:
        y = x
        for weight in weights:
            y = y @ weight
        return y

    return products


def _floats(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape, np.float32)


def _policy(rng: np.random.Generator) -> Policy:
    sizes = ((OBS, 256), (256, 256), (256, 2 * ACTION))
    ones = np.ones(ACTION, np.float32)
    return Policy(
        weights=tuple(_floats(rng, i, o) * np.float32(i**-0.5) for i, o in sizes),
        biases=tuple(np.zeros(o, np.float32) for _, o in sizes),
        head="tanh_normal",
        obs_mean=np.zeros(OBS, np.float32),
        obs_std=np.ones(OBS, np.float32),
        space=ActionSpace(low=-ones, high=ones),
    )


def _counts(rng: np.random.Generator, policy: Policy, obs: np.ndarray) -> Counts:
    inputs = OBS + ACTION

    def net(*sizes: int) -> tuple[np.ndarray, ...]:
        pairs = itertools.pairwise(sizes)
        return tuple(_floats(rng, ELITES, i, o) * np.float32(i**-0.5) for i, o in pairs)

    def biases(*sizes: int) -> tuple[np.ndarray, ...]:
        return tuple(0.1 * _floats(rng, ELITES, size) for size in sizes)

    coder = LearnedCodes(
        trunk_weights=net(inputs, WIDTH, WIDTH),
        trunk_biases=biases(WIDTH, WIDTH),
        hidden_mean=np.zeros((ELITES, WIDTH), np.float32),
        hidden_std=np.ones((ELITES, WIDTH), np.float32),
        encoder_weights=net(WIDTH, 100, 50, BITS),
        encoder_biases=biases(100, 50, BITS),
        decoder_weights=net(BITS, 50, 100, 100, inputs),
        decoder_biases=biases(50, 100, 100, inputs),
        limits=np.full(ELITES, 1e3, np.float32),
    )
    ones = (1.0,) * ACTION
    use = CountUse(
        counter="codes",
        beta=1.0,
        estimate="AVG",
        alpha=0.5,
        action_low=tuple(-one for one in ones),
        action_high=ones,
        discrete=False,
    )
    empty = Tables((Table.of(np.zeros((1, 1), np.uint32)),) * ELITES)
    scale = np.zeros(inputs, np.float32), np.ones(inputs, np.float32)
    counts = Counts(coder=coder, tables=empty, mean=scale[0], std=scale[1], use=use, thin=2.0)
    return counts.add(obs, policy.act(obs))


def _neighbours(policy: Policy, obs: np.ndarray) -> Neighbours:
    kept = len(obs)
    place = np.concatenate([obs * OBS**-0.5, policy.act(obs) * ACTION**-0.5], axis=1)
    zeros, ones = np.zeros(OBS, np.float32), np.ones(OBS, np.float32)
    return Neighbours(
        place=place.astype(np.float32),
        kind=np.zeros(kept, np.int64),
        reach=np.full(kept, 0.5, np.float32),
        limit=np.ones(kept, np.float32),
        obs_mean=zeros,
        obs_std=ones,
        action_mean=zeros[:ACTION],
        action_std=ones[:ACTION],
        space=policy.space,
        thin=2.0,
    )


def _written(folder: Path, parts: Parts, obs: np.ndarray) -> tuple[Bundle, Callable[..., Any]]:
    def ranges(low: np.ndarray, high: np.ndarray, name: str) -> tuple[Range, ...]:
        ends = enumerate(zip(low.tolist(), high.tolist(), strict=True))
        return tuple(Range(name=f"{name}[{i}]", unit="", low=a, high=b) for i, (a, b) in ends)

    space = parts.policy.space
    contract = Contract(
        format=1,
        origin=Origin(
            countmorl=version("countmorl"), algorithm="", dataset="", dataset_hash="", task=None
        ),
        observation=ranges(obs.min(axis=0), obs.max(axis=0), "obs"),
        history=1,
        discrete=False,
        action=ranges(space.low, space.high, "action"),
        schema=None,
        counts=parts.kind,
        thin=None if parts.counts is None else parts.counts.thin,
        guard=parts.guard,
        reach=1.0,
        far="refuse",
        unreadable="refuse",
        judged=None,
    )
    folder.mkdir()
    write_bundle(folder, parts, contract)
    print(add_graph(folder, obs))
    return load_bundle(folder), graph_runner(folder / "policy.onnx")
