"""The policies that are tried: few, unlike each other, each good on some kind of log.

The clone is what there is to fall back on; a clone of the better episodes is better than the log
where it mixes behaviours. TD3+BC learns from the log alone and stays near it.
Count-MORL learns in a model: with its defaults; held less to the log, where one steady behaviour
can be bettered; and held more to it, where it cannot. Discrete actions, which TD3+BC cannot
choose, have CQL instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from countmorl.algorithms.count_morl import CountMORL
from countmorl.data.dataset import Dataset
from countmorl.runs.options import DataOptions, RunOptions
from countmorl.sweeps.methods import Method
from countmorl.sweeps.plan import Sweep

CLONE = "clone"
"""What the policy that imitates the log is called."""
CLONES = (CLONE, f"{CLONE}-best")
"""The policies that imitate it, all of it or its better episodes."""
EPOCHS = {"bc": 30, "td3-bc": 100, "cql": 100, "count-morl": 200}
"""Epochs of each method where there is time for all of them."""
MODEL_EPOCHS, CODES_EPOCHS = 40, 6
FEWEST, FEWEST_OF_MODEL = 3, 5
"""Epochs that each is given at the least."""
KEPT = 3
"""Policies of each run that are judged: more is not always better."""
STRONGER = 4.0
"""How much more strongly one Count-MORL is held to the log, in weights that the log gives."""
FAVOUR = 10.0
"""By how much a clone of the log's better episodes favours them."""
FREER = 4.0
"""How much less another is held to it."""
FEW_REAL = 0.05
"""Share of real rows, which is the papers', of the freer one where the log itself holds nobody."""
UPDATES_OF_WEIGHT = 300
"""Updates of an epoch by which the weight of the pull to the log is taken from it: its size is
asked for, and no more."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One policy that is tried."""

    label: str
    algorithm: str
    about: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Ask:
    """What all policies share."""

    source: str
    data_options: DataOptions
    seed: int


def trials(*, discrete: bool, pull: float) -> tuple[Trial, ...]:
    """The portfolio, what matters most first; `pull` is the weight that the log itself gives."""
    count = "count-morl"
    strong = {"imitate": round(STRONGER * pull, 6)} if pull else {"real_share": 0.8}
    free = {"imitate": round(pull / FREER, 6)} if pull else {"real_share": FEW_REAL}
    clone = Trial(label=CLONE, algorithm="bc", about="imitates the log")
    if discrete:
        plain, near = (
            Trial(
                label=label,
                algorithm="cql",
                about=f"from the log alone, values off it lowered{how}",
                settings={"conservative.weight": weight},
            )
            for label, weight, how in (("cql", 1.0, ""), ("cql-near", 5.0, " more strongly"))
        )
    else:
        plain, near = (
            Trial(
                label=label,
                algorithm="td3-bc",
                about=f"from the log alone, drawn to its actions{how}",
                settings={"value_weight": weight},
            )
            for label, weight, how in (("td3-bc", 2.5, ""), ("td3-bc-near", 1.0, " more strongly"))
        )
    return (
        clone,
        Trial(
            label=CLONES[1],
            algorithm="bc",
            about="imitates the log's better episodes",
            settings={"favour": FAVOUR},
        ),
        Trial(label=count, algorithm=count, about="in a model, by its defaults"),
        plain,
        Trial(
            label=f"{count}-far",
            algorithm=count,
            about=f"in a model, held to the log 1 / {FREER:g} as strongly",
            settings=free,
        ),
        Trial(
            label=f"{count}-near",
            algorithm=count,
            about=f"in a model, held to the log {STRONGER:g} times as strongly",
            settings=strong,
        ),
        near,
    )


def plan(ask: Ask, tried: tuple[Trial, ...], scale: float) -> Sweep:
    """The runs of a portfolio, each with a share `scale` of its epochs.

    Those in the model come first, so that its fit begins at once; others train beside it.
    """
    order = sorted(tried, key=lambda each: each.algorithm != "count-morl")
    parts = [_one(ask, trial, scale) for trial in order]
    if order[0].algorithm != "count-morl":  # Policies are judged in a model, whoever made them.
        parts.insert(0, _one(ask, Trial(label="model", algorithm="model", about=""), scale))
    whole = parts[0]
    for part in parts[1:]:
        whole = whole + part
    return whole


def _one(ask: Ask, trial: Trial, scale: float) -> Sweep:
    # A policy is at most as good as its model, and a clone is what may be handed out, and costs
    # next to nothing: with little time, they get more of it.
    share = scale**0.5
    part = share if trial.algorithm == "bc" else scale
    epochs = max(FEWEST, round(part * EPOCHS.get(trial.algorithm, 0)))
    settings: dict[str, Any] = {"epochs": epochs, **trial.settings}
    if trial.algorithm in ("model", "count-morl"):
        settings |= {"model.max_epochs": max(FEWEST_OF_MODEL, round(share * MODEL_EPOCHS))}
    if trial.algorithm == "count-morl":
        settings |= {"codes.fit_epochs": max(2, round(share * CODES_EPOCHS))}
    method = Method(algorithm=trial.algorithm, label=trial.label, settings=settings)
    options = RunOptions(
        seed=ask.seed,
        eval_every=ceil(epochs / KEPT),
        keep_policies=1 if trial.label == CLONE else KEPT,
        simulate=False,  # Where the task is known, too: users of logs have no simulator.
    )
    how: dict[str, Any] = {"options": options, "data_options": ask.data_options}
    return Sweep.of([method], [ask.source], seeds=[ask.seed], name="auto", **how)


def pull_of(taught: Dataset) -> float:
    """The weight with which Count-MORL's defaults hold a policy to this log."""
    return CountMORL(updates=UPDATES_OF_WEIGHT).pull_weight(taught)
