"""`coverage_of_run`, `coverage_of_data`: how dense a log is, and where a policy goes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from countmorl.coverage.axes import Table
from countmorl.coverage.density import (
    Density,
    density_of_codes,
    density_of_data,
    least_of,
    neighbours_of,
)
from countmorl.coverage.imagined import Imagined, imagine
from countmorl.coverage.nearest import Nearest
from countmorl.coverage.regions import Region, thin_regions
from countmorl.coverage.wanted import Wanted, log_next
from countmorl.coverage.ways import WayOut, ways_out
from countmorl.data.dataset import Dataset
from countmorl.data.holdout import held_episodes, split
from countmorl.data.sources import Source
from countmorl.errors import RunError
from countmorl.evaluation.acting import Actor
from countmorl.evaluation.clone import cloned
from countmorl.evaluation.logged import Logged
from countmorl.evaluation.lowered import agent_of, critics_value
from countmorl.evaluation.measure import Measure
from countmorl.evaluation.parts import dataset_of, model_of
from countmorl.evaluation.stepping import Stepper
from countmorl.files import write_text
from countmorl.rollouts import PenalizedModel
from countmorl.runs.folder import Run
from countmorl.runtime.base import PolicyLike
from countmorl.runtime.counts import Counts
from countmorl.runtime.guard import Counter, policy_digest
from countmorl.runtime.levels import LEVELS, CountsPairs
from countmorl.runtime.load import load_policy

COVERAGE_FILE = "coverage.json"
CLONE_UPDATES = 3_000
REGIONS = 5
Say = Callable[[str], None]


@dataclass(frozen=True, eq=False, kw_only=True)
class Way:
    """Where one policy goes in the model."""

    name: str
    shares: dict[str, float]
    """Of all its imagined pairs: unseen, thin, covered."""
    by_step: list[dict[str, float]]
    """The same step by step; the first is the first."""
    left: float
    """Share of its rollouts that come to an unseen pair."""

    @classmethod
    def of(cls, name: str, imagined: Imagined) -> Way:
        """Sum up its rollouts."""
        named: list[dict[str, float]] = [
            dict(zip(LEVELS, map(float, each), strict=True)) for each in imagined.shares
        ]
        whole: dict[str, float] = dict(zip(LEVELS, map(float, imagined.whole), strict=True))
        left = len(imagined.left[0]) / imagined.alive.shape[1]
        return cls(name=name, shares=whole, by_step=named, left=left)


@dataclass(frozen=True, eq=False, kw_only=True)
class Coverage:
    """Everything that was found out."""

    source: str
    density: Density
    untried: tuple[Region, ...]
    """Situations and actions that are common, and hardly ever came together."""
    situations: tuple[Region, ...]
    """The same of two columns of the observation; some cannot come together."""
    ways: tuple[Way, ...] = ()
    """The policy's, then a clone's of the log; none for data alone."""
    ways_by: str = ""
    """What counts along these ways: codes or neighbours."""
    ways_out: tuple[WayOut, ...] = ()
    wanted: tuple[Wanted, ...] = ()
    valued_by: str = ""
    """What tells the value of a pair to log next."""
    notes: tuple[str, ...] = field(default=())

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able values."""
        return {
            "source": self.source,
            "density": self.density.as_dict(),
            "untried": [each.as_dict() for each in self.untried],
            "situations": [each.as_dict() for each in self.situations],
            "ways": [dict(each.__dict__) for each in self.ways],
            "ways_by": self.ways_by,
            "ways_out": [each.as_dict() for each in self.ways_out],
            "log_next": [each.as_dict() for each in self.wanted],
            "valued_by": self.valued_by,
            "notes": list(self.notes),
        }


def coverage_of_data(dataset: Dataset, *, seed: int = 0, say: Say = lambda _: None) -> Coverage:
    """How dense a log is, and what was hardly ever tried."""
    say("measuring how dense the log is")
    density, _ = density_of_data(dataset, seed=seed)
    return Coverage(source=dataset.name, density=density, **_regions(Table.of(dataset), dataset))


def coverage_of_run(
    run: Run,
    *,
    data: Source | None = None,
    counts: Counter = "neighbours",
    steps: int = 100,
    seed: int = 0,
    say: Say = lambda _: None,
) -> Coverage:
    """The same of a run's data, and where its policy goes in its own model.

    `counts` says what counts along its way, as for a guard; how dense the log is, a run that counts
    tells by its own codes.
    """
    dataset = dataset_of(run, data=data, simulated=False)
    origin = run.manifest.data
    taught, judged = split(dataset, origin.holdout if origin else None)
    say("counting the log")
    own = Counts.of_run(run.path) if run.result_path("counter").exists() else None
    if own is None and counts == "codes":
        raise RunError(f"{run.path} counts nothing by codes. Ask for --counts neighbours.")
    if own is not None:
        density = density_of_codes(taught, judged, own)
    else:
        density, _ = density_of_data(taught, seed=seed)
    table = Table.of(taught)
    found = {"source": str(run.path), "density": density, **_regions(table, taught)}
    model = model_of(run, taught)
    if model is None or not run.policy_path.exists():
        what = "no policy yet" if model is not None else f"no model ({run.manifest.algorithm})"
        note = f"the run has {what}, so where a policy goes is not known"
        return Coverage(**found, notes=(note,))
    asked: CountsPairs | None = own if counts == "codes" else None
    ways = _ways(
        run,
        (taught, judged),
        model,
        asked or neighbours_of(taught, judged, seed=seed),
        table,
        steps,
        seed,
        say,
        rows=_rows_taught(dataset, held_episodes(dataset, origin.holdout if origin else None)),
    )
    return Coverage(**found, **ways, ways_by=counts)


def write_coverage(run: Run, found: Coverage) -> None:
    """Keep it in the run, with the digest of the policy that it is of."""
    policy = policy_digest(run.path) if run.policy_path.exists() else None
    text = json.dumps(found.as_dict() | {"policy": policy}, indent=2)
    write_text(run.path / COVERAGE_FILE, text + "\n")


def _rows_taught(dataset: Dataset, held: np.ndarray) -> np.ndarray:
    """Where the rows that taught the run lie in its log."""
    episode = np.searchsorted(dataset.episode_ends, np.arange(len(dataset)))
    return np.flatnonzero(~held[episode])


def _ways(
    run: Run,
    parts: tuple[Dataset, Dataset | None],
    model: PenalizedModel,
    counts: CountsPairs,
    table: Table,
    steps: int,
    seed: int,
    say: Say,
    *,
    rows: np.ndarray,
) -> dict[str, Any]:
    taught, judged = parts
    starts = Logged(dataset=taught if judged is None else judged)
    stepper = Stepper(model=model, logged=starts, seed=seed)
    say("cloning the log's behaviour")
    clone = cloned(taught, updates=CLONE_UPDATES, seed=seed)
    actors = {"policy": load_policy(run.policy_path), "clone": clone}
    imagined = {}
    for name, policy in actors.items():
        say(f"imagining where the {name} goes")
        actor = Actor.of(policy, taught, name)
        imagined[name] = imagine(stepper, actor, counts, steps=steps)
    nearest = Nearest.of(taught, seed=seed)
    far = {"rows": rows, "least": least_of(taught if judged is None else judged, counts)}
    worth, by = _values(run, taught, list(imagined.values()), clone)
    return {
        "ways": tuple(Way.of(name, each) for name, each in imagined.items()),
        "ways_out": tuple(ways_out(imagined["policy"], nearest)),
        "wanted": tuple(log_next(table, worth, nearest, **far)),
        "valued_by": by,
    }


def _values(
    run: Run, taught: Dataset, imagined: list[Imagined], clone: PolicyLike
) -> tuple[list[tuple[Imagined, np.ndarray, np.ndarray]], str]:
    """What imagined pairs are worth, and what is usual there.

    By the run's critics, against what a clone of the log would do in the same situations; or, where
    there are none, by what pairs earn from there on, against the median of all.
    """
    agent = agent_of(run, taught)
    if agent is None:
        discount = Measure.of(taught).discount
        values = [each.to_go(discount) for each in imagined]
        usual = np.median(
            np.concatenate([v[e.alive] for v, e in zip(values, imagined, strict=True)])
        )
        worth = [
            (each, value, np.full(value.shape, usual))
            for each, value in zip(imagined, values, strict=True)
        ]
        return worth, "imagined rewards to go"
    worth = []
    for each in imagined:
        shape = each.reward.shape
        obs = each.obs.reshape(-1, each.obs.shape[-1]).astype(np.float32)
        action = each.action.reshape(-1, each.action.shape[-1]).astype(np.float32)
        usual_action = taught.space.vectors(clone.act(obs))
        worth.append(
            (
                each,
                critics_value(agent, obs, taught.space.scaled(action)).reshape(shape),
                critics_value(agent, obs, usual_action).reshape(shape),
            )
        )
    return worth, "the run's own critics"


def _regions(table: Table, dataset: Dataset) -> dict[str, Any]:
    numbers = table.numbers(dataset.obs, dataset.action)
    return {
        "untried": tuple(thin_regions(table, numbers, actions=True, most=REGIONS)),
        "situations": tuple(thin_regions(table, numbers, actions=False, most=REGIONS)),
    }
