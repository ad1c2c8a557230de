"""Bundles made by hand, without any training: random networks, codes that count a random log."""

import itertools
from typing import Any

import numpy as np

from countmorl.export.bundle import Parts, write_bundle
from countmorl.runtime.bundle import load_bundle
from countmorl.runtime.coding import LearnedCodes, Places, Projections
from countmorl.runtime.contract import Contract, Origin, Range
from countmorl.runtime.counts import Counts
from countmorl.runtime.guard import GuardSettings
from countmorl.runtime.neighbours import Neighbours
from countmorl.runtime.policy import Policy
from countmorl.runtime.tables import Table, Tables
from countmorl.runtime.tabular import TabularCounts, TabularPolicy
from countmorl.runtime.use import CountUse
from countmorl.schema import Column, Schema, action_names, obs_names
from countmorl.spaces import ActionSpace

ROWS = 400
DOSE = Column(name="dose", unit="U", fill=0.0)
GLUCOSE = Column(name="glucose", unit="mg/dL")
WARD = Column(name="ward", kind="category", values=("A", "B", "ICU"))
CLINIC = Schema(obs=(GLUCOSE, WARD), action=(DOSE,))
HISTORY = Schema(obs=(GLUCOSE, WARD), action=(DOSE,), history=3)
OFFERS = Schema(
    obs=(GLUCOSE, WARD),
    action=(Column(name="offer", kind="category", values=("none", "mail", "call")),),
    history=2,
)


def floats(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Normal numbers of 32 bits."""
    return rng.standard_normal(shape).astype(np.float32)


def policy_of(head: Any, obs: np.ndarray, space: ActionSpace, schema: Schema | None) -> Policy:
    """A random network of two hidden layers on a log's observations."""
    rng = np.random.default_rng(1)
    size = space.size * (2 if head == "tanh_normal" else 1)
    sizes = (obs.shape[1], 16, 16, size)
    std = obs.std(axis=0)
    return Policy(
        weights=tuple(floats(rng, i, o) * i**-0.5 for i, o in itertools.pairwise(sizes)),
        biases=tuple(0.1 * floats(rng, o) for o in sizes[1:]),
        head=head,
        obs_mean=obs.mean(axis=0),
        obs_std=np.where(std == 0, np.float32(1), std),
        space=space,
        schema=schema,
    )


def coder_of(kind: str, x: np.ndarray) -> Any:
    """Random codes of standardised pairs, or exact ones."""
    rng, inputs = np.random.default_rng(2), x.shape[1]
    if kind == "exact":
        columns = [np.unique(column) for column in x.T]
        values = np.full((inputs, max(map(len, columns))), np.inf, np.float32)
        for row, column in zip(values, columns, strict=True):
            row[: len(column)] = column
        return Places(values=values, slack=np.full(inputs, 2.0**-20, np.float32))
    if kind == "simhash":
        return Projections(projections=floats(rng, 2, inputs, 40))
    members, units = 3, 12
    trunk = ((inputs, units), (units, units))
    encoder, decoder = ((units, 10), (10, 7)), ((7, 10), (10, inputs))

    def net(sizes: Any) -> tuple[np.ndarray, ...]:
        return tuple(floats(rng, members, i, o) for i, o in sizes)

    def biases(sizes: Any) -> tuple[np.ndarray, ...]:
        return tuple(0.1 * floats(rng, members, o) for _, o in sizes)

    gains = tuple(1 + 0.1 * floats(rng, members, units) for _ in trunk) if kind == "normed" else ()
    verified = kind != "plain"
    return LearnedCodes(
        trunk_weights=net(trunk),
        trunk_biases=biases(trunk),
        trunk_gains=gains,
        hidden_mean=0.2 * floats(rng, members, units),
        hidden_std=1 + abs(floats(rng, members, units)),
        encoder_weights=net(encoder),
        encoder_biases=biases(encoder),
        decoder_weights=net(decoder) if verified else (),
        decoder_biases=biases(decoder) if verified else (),
        limits=np.full(members, 6, np.float32) if verified else np.zeros(0, np.float32),
    )


def counts_of(
    kind: str, obs: np.ndarray, action: np.ndarray, space: ActionSpace, estimate: Any
) -> Any:
    """Counts of a log."""
    vectors = space.vectors(action)
    if kind == "neighbours":
        moved = np.zeros((len(obs), 0), np.float32) if space.discrete else vectors
        scales = [(each.mean(axis=0), each.std(axis=0)) for each in (obs, moved)]
        places = [
            (each - mean) / np.where(std == 0, np.float32(1), std) * max(1, each.shape[1]) ** -0.5
            for each, (mean, std) in zip((obs, moved), scales, strict=True)
        ]
        return Neighbours(
            place=np.concatenate(places, axis=1).astype(np.float32),
            kind=vectors.argmax(axis=1) if space.discrete else np.zeros(len(obs), int),
            reach=np.full(len(obs), 0.8, np.float32),
            limit=np.full(len(obs), 0.5, np.float32),
            obs_mean=scales[0][0],
            obs_std=scales[0][1],
            action_mean=scales[1][0],
            action_std=scales[1][1],
            space=space,
            thin=3.0,
        )
    pairs = np.concatenate([obs, vectors], axis=1)
    mean, std = pairs.mean(axis=0), pairs.std(axis=0)
    coder = coder_of(kind, (pairs - mean) / np.where(std == 0, np.float32(1), std))
    words, _ = coder.codes((pairs - mean) / np.where(std == 0, np.float32(1), std))
    use = CountUse(
        counter={"simhash": "simhash", "exact": "exact"}.get(kind, "codes"),
        beta=1.0,
        estimate=estimate,
        alpha=0.5,
        action_low=tuple(space.low.tolist()),
        action_high=tuple(space.high.tolist()),
        discrete=space.discrete,
    )
    tables = Tables(tuple(map(Table.of, words)))
    return Counts(coder=coder, tables=tables, mean=mean, std=std, use=use, thin=5.0)


def parts_of(
    *,
    head: Any = "tanh",
    schema: Schema | None = CLINIC,
    counter: str | None = "codes",
    estimate: Any = "AVG",
    guard: GuardSettings | None = None,
    **promised: Any,
) -> tuple[Parts, Contract, np.ndarray]:
    """What a bundle is written from, and the observations of its log."""
    rng = np.random.default_rng(0)
    discrete = head == "categorical"
    space = ActionSpace(low=np.float32([0]), high=np.float32([10]))
    if discrete:
        space = ActionSpace.numbered(3)
    obs = logged_observations(rng, schema)
    policy = policy_of(head, obs, space, schema)
    action = policy.act(obs, rng=rng)
    if counter == "exact":  # Few enough states for pairs to repeat.
        obs = np.round(obs)
        action = policy.act(obs)
    counts = None if counter is None else counts_of(counter, obs, action, space, estimate)
    contract = contract_of(policy, obs, schema, counter, counts, guard, promised)
    clone = policy_of(head, obs * 0.5, space, schema)
    needs_clone = guard is not None and guard.fall_back == "clone"
    parts = Parts(policy=policy, counts=counts, guard=guard, clone=clone if needs_clone else None)
    return parts, contract, obs


def logged_observations(rng: np.random.Generator, schema: Schema | None) -> np.ndarray:
    """A log's observations: glucose from 40 to 400, a ward, and what was before."""
    names = (CLINIC if schema is None else schema).obs_names
    obs = rng.uniform(0, 10, (ROWS, len(names))).astype(np.float32)
    for place, name in enumerate(names):
        if name.startswith("glucose"):
            obs[:, place] = rng.uniform(40, 400, ROWS)
            obs[:, place + 1 : place + 4] = np.eye(3)[rng.integers(0, 3, ROWS)]
    return obs


def contract_of(
    policy: Any, obs: np.ndarray, schema: Any, counter: Any, counts: Any, guard: Any, promised: Any
) -> Contract:
    """A contract with the ranges of a log."""
    origin = {"countmorl": "0", "algorithm": "by hand", "dataset": "clinic", "dataset_hash": "0"}
    discrete = policy.discrete
    low, high = (0.0, 1.0) if discrete else (0.0, 10.0)
    named = {"neighbours": "neighbours", "tabular": "tabular", None: None}
    values = {
        "format": 1,
        "origin": Origin(**origin, task=None),
        "observation": tuple(
            Range(name=n, unit="", low=float(a), high=float(b))
            for n, a, b in zip(
                obs_names(schema, obs.shape[1]), obs.min(axis=0), obs.max(axis=0), strict=True
            )
        ),
        "history": schema.history if schema else 1,
        "discrete": discrete,
        "action": tuple(
            Range(name=name, unit="", low=low, high=high)
            for name in action_names(schema, policy.action_dim)
        ),
        "schema": schema,
        "counts": named.get(counter, "codes"),
        "thin": None if counts is None else counts.thin,
        "guard": guard,
        "reach": 1.0,
        "far": "fall_back" if guard else "refuse",
        "unreadable": "refuse",
        "judged": None,
    }
    return Contract(**values | promised)


def tabular_parts() -> tuple[Parts, Contract, np.ndarray]:
    """A policy of five states and two actions."""
    chances = np.array([[0.2, 0.8], [1, 0], [0.5, 0.5], [0, 1], [0.3, 0.7]])
    counts = np.array([[3, 9], [0, 0], [5, 5], [0, 20], [1, 0]])
    policy = TabularPolicy(probabilities=chances, counts=counts, info={})
    obs = np.arange(5, dtype=np.float32)[:, None]
    own = TabularCounts.of(policy)
    contract = contract_of(policy, obs, None, "tabular", own, None, {})
    return Parts(policy=policy, counts=own), contract, obs


def made(folder: Any, **how: Any) -> Any:
    """A bundle in a folder, loaded."""
    parts, contract, _ = parts_of(**how)
    folder.mkdir(exist_ok=True)
    write_bundle(folder, parts, contract)
    return load_bundle(folder)
