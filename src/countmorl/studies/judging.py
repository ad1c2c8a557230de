"""How good judging without a simulator is: many policies, judged by their logs, then played.

One `Bench` a log, one log after another, every policy kept as soon as it is done.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import jax
import numpy as np

from countmorl.configs import to_json
from countmorl.data.dataset import Dataset
from countmorl.disk import read_bytes
from countmorl.errors import ConfigError
from countmorl.evaluation.acting import Actor
from countmorl.evaluation.base import Estimate
from countmorl.evaluation.behaviour import behaviour
from countmorl.evaluation.bench import Bench, BenchConfig
from countmorl.evaluation.judging import bench_of, by_log, measure_of
from countmorl.evaluation.lowered import agent_of, critics_value
from countmorl.evaluation.measure import Measure
from countmorl.evaluation.parts import dataset_of
from countmorl.json_files import MOST_BYTES
from countmorl.progress import count_progress
from countmorl.runs.folder import Run
from countmorl.runs.manifest import installed_versions
from countmorl.runtime.load import load_policy
from countmorl.studies.judging_records import Field, LogTruth, Tried, keep, kept, unread
from countmorl.studies.truth import Teller

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class StudyConfig:
    """How policies are judged and played."""

    episodes: int = 20
    """Episodes that are played at once, five times as often at the most, until the truth is known
    as well as what the log earned; grid worlds are planned exactly."""
    discount: float | None = None
    horizon: int | None = None
    seed: int = 0
    bench: BenchConfig = field(default_factory=BenchConfig)

    def __post_init__(self) -> None:
        if self.episodes < 2:
            raise ConfigError(f"`episodes` must be at least 2, got {self.episodes}.")


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A policy to judge."""

    run: Run
    epoch: int | None
    """None of the policy that the run ended with."""
    digest: str

    @property
    def path(self) -> Path:
        """Its file."""
        return self.run.policy_path if self.epoch is None else self.run.kept_policy_path(self.epoch)

    @property
    def name(self) -> str:
        """The run's folder, and the epoch."""
        name = self.run.path.absolute().name
        return name if self.epoch is None else f"{name} epoch {self.epoch}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Desk:
    """Judges the policies of one log."""

    runs: tuple[Run, ...]
    dataset: Dataset
    config: StudyConfig
    folder: Path
    say: Say

    def field(self, pool: Sequence[Candidate], development: bool, done: Callable) -> Field:
        """Judge and play what is not there yet."""
        with unread(self.folder / "log.json"):
            log = LogTruth.of_dict(self._kept("log", self._log, played=True))
        tried = []
        for each in pool:
            mark = each.digest[:16]
            judged = self._kept(mark, lambda: self._judged(each), policy=each.digest)  # noqa: B023
            truth = self._kept(
                f"{mark}-truth",
                lambda: asdict(self._teller(self._actor(each).act)),  # noqa: B023
                played=True,
                policy=each.digest,
            )
            with unread(self.folder / f"{mark}.json"):
                last = each.epoch is None
                tried.append(Tried.of(each.name, each.run, last, judged, truth))
            done(1)
        assert self.dataset.task is not None
        return Field(
            name=self.dataset.name,
            development=development,
            task=self.dataset.task,
            log=log,
            tried=tuple(tried),
        )

    def _kept(
        self, name: str, make: Callable[[], dict], *, played: bool = False, **more: str
    ) -> dict[str, Any]:
        """A record, made where it is not there or was made otherwise."""
        about: dict[str, Any] = {
            "version": installed_versions()["countmorl"],
            "data": self.dataset.hash,
            **more,
        }
        about["config"] = {
            name: value
            for name, value in to_json(self.config).items()
            if (name != "episodes" if not played else name != "bench")
        }
        path = self.folder / f"{name}.json"
        found = kept(path, about)
        if found is None:
            found = make()
            keep(path, about, found)
        return found

    @cached_property
    def bench(self) -> Bench:
        """Made where something is left to judge."""
        return bench_of(self.runs, say=self.say, **self._options)

    @property
    def _measured(self) -> dict[str, Any]:
        return {"discount": self.config.discount, "horizon": self.config.horizon}

    @property
    def _options(self) -> dict[str, Any]:
        return self._measured | {"seed": self.config.seed, "config": self.config.bench}

    @cached_property
    def measure(self) -> Measure:
        """What values are."""
        return measure_of(self.runs, self.dataset, **self._measured)

    @cached_property
    def _teller(self) -> Teller:
        config = self.config
        teller = Teller.of(self.dataset, self.measure, episodes=config.episodes, seed=config.seed)
        low, high = self._earned.interval or (-math.inf, math.inf)
        return replace(teller, wanted=(high - low) / 4)

    @cached_property
    def _earned(self) -> Estimate:
        earned = behaviour(self.dataset, self.measure, seed=self.config.seed)
        if not isinstance(earned, Estimate):
            raise ConfigError(f"'{self.dataset.name}' cannot be valued: {earned.why}")
        return earned

    def _log(self) -> dict[str, Any]:
        total = float(np.mean(self.dataset.returns))
        earned = self._earned
        chance = self._teller.chance()
        return asdict(
            LogTruth(
                unit=earned.unit,
                value=earned.value,
                interval=earned.interval or (earned.value, earned.value),
                total=total,
                chance=chance,
            )
        )

    def _actor(self, candidate: Candidate) -> Actor:
        return Actor.of(load_policy(candidate.path), self.dataset, candidate.name)

    def _judged(self, candidate: Candidate) -> dict[str, Any]:
        bench, actor = self.bench, self._actor(candidate)
        last = candidate.epoch is None
        own = agent_of(candidate.run, bench.taught) if last else None
        starts = bench.starts.dataset.obs[bench.starts.starts]
        q = None if own is None else float(critics_value(own, starts, actor(starts)).mean())
        judgement = bench.judge(actor, candidate.run if last else None)
        return {"q": q, "judgement": judgement.as_dict()}


def study(
    runs: Sequence[Run],
    config: StudyConfig,
    out: Path,
    *,
    kept_too: bool = False,
    development: Sequence[str] = (),
    say: Say = lambda _: None,
) -> list[Field]:
    """Judge the policies of runs, of as many logs as there are; `out` keeps what was found."""
    logs = by_log(runs)
    pools = [list(candidates(some, kept_too)) for some in logs]
    datasets = [_playable(some) for some in logs]
    unknown = set(development) - {each.name for each in datasets}
    if unknown:
        names = ", ".join(each.name for each in datasets)
        raise ConfigError(f"No run learned from '{min(unknown)}'. Their data: {names}.")
    found = []
    with count_progress("judging", sum(map(len, pools))) as done:
        for some, pool, dataset in zip(logs, pools, datasets, strict=True):
            folder = out / f"{dataset.name}-{dataset.hash[:8]}"
            desk = Desk(runs=tuple(some), dataset=dataset, config=config, folder=folder, say=say)
            found.append(desk.field(pool, dataset.name in development, done))
            jax.clear_caches()  # Programs of one log's sizes are of no use to another.
    return found


def candidates(runs: Sequence[Run], kept_too: bool) -> Iterator[Candidate]:
    """Policies to judge, each once."""
    seen = set()
    for run in runs:
        files = {None: run.policy_path, **(run.kept_policies() if kept_too else {})}
        for epoch, path in files.items():
            digest = hashlib.sha256(read_bytes(path, MOST_BYTES)).hexdigest()
            if digest not in seen:
                seen.add(digest)
                yield Candidate(run=run, epoch=epoch, digest=digest)


def _playable(runs: Sequence[Run]) -> Dataset:
    """Their data; where the truth cannot be known, that is said before hours are spent."""
    dataset = dataset_of(runs[0], simulated=False)
    if dataset.task is None or not dataset.task.available():
        raise ConfigError(
            f"The task of '{dataset.name}' cannot be simulated here, so the truth that estimates "
            f"are compared with is not known. Leave {runs[0].path} out."
        )
    return dataset
