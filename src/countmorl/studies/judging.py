"""How good judging without a simulator is: many policies, judged by their logs, then played.

One `Bench` a log, one log after another, every policy kept as soon as it is done.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import jax
import numpy as np

from countmorl.configs import to_json
from countmorl.data.dataset import Dataset
from countmorl.disk import read_bytes
from countmorl.errors import ConfigError
from countmorl.evaluation.base import Estimate
from countmorl.evaluation.bench import Bench, BenchConfig
from countmorl.evaluation.judging import actor_of, bench_of, by_log
from countmorl.evaluation.lowered import agent_of, critics_value
from countmorl.evaluation.parts import dataset_of
from countmorl.json_files import MOST_BYTES
from countmorl.progress import count_progress
from countmorl.runs.folder import Run
from countmorl.runs.manifest import installed_versions
from countmorl.studies.judging_records import Field, LogTruth, Tried, keep, kept
from countmorl.studies.truth import Teller, Truth

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class StudyConfig:
    """How policies are judged and played."""

    episodes: int = 20
    """Episodes that the truth is the mean of; grid worlds are planned exactly."""
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

    def field(self, candidates: Sequence[Candidate], development: bool, done: Callable) -> Field:
        """Judge and play what is not there yet."""
        about = self._about()
        bench: Bench | None = None
        paths = {each: self.folder / f"{each.digest[:16]}.json" for each in candidates}
        found = {c: kept(path, about | {"policy": c.digest}) for c, path in paths.items()}
        log = kept(self.folder / "log.json", about)
        if log is None or None in found.values():
            bench = bench_of(self.runs, say=self.say, **self._options)
        if log is None:
            assert bench is not None
            log = asdict(self._log(bench))
            keep(self.folder / "log.json", about, log)
        for each, path in paths.items():
            if found[each] is None:
                assert bench is not None
                tried = self._tried(each, bench).as_dict()
                keep(path, about | {"policy": each.digest}, tried)
                found[each] = tried
            done(1)
        chance = Truth(**log["chance"])
        assert self.dataset.task is not None
        return Field(
            name=self.dataset.name,
            development=development,
            task=self.dataset.task,
            log=LogTruth(**{**log, "chance": chance}),
            tried=tuple(Tried.of_dict(each) for each in found.values() if each is not None),
        )

    @property
    def _options(self) -> dict[str, Any]:
        config = self.config
        shared = {"discount": config.discount, "horizon": config.horizon, "seed": config.seed}
        return shared | {"config": config.bench}

    def _about(self) -> dict[str, Any]:
        """What a record was made with."""
        made = {"version": installed_versions()["countmorl"], "data": self.dataset.hash}
        return made | {"config": to_json(self.config)}

    def _teller(self, bench: Bench) -> Teller:
        config = self.config
        return Teller.of(bench.dataset, bench.measure, episodes=config.episodes, seed=config.seed)

    def _log(self, bench: Bench) -> LogTruth:
        if not isinstance(bench.log, Estimate):
            raise ConfigError(f"'{bench.dataset.name}' cannot be valued: {bench.log.why}")
        return LogTruth(
            unit=bench.log.unit,
            value=bench.log.value,
            total=float(np.mean(bench.dataset.returns)),
            chance=self._teller(bench).chance(),
        )

    def _tried(self, candidate: Candidate, bench: Bench) -> Tried:
        actor = actor_of(candidate.run, bench, candidate.epoch)
        last = candidate.epoch is None
        own = agent_of(candidate.run, bench.taught) if last else None
        starts = bench.starts.dataset.obs[bench.starts.starts]
        return Tried(
            name=candidate.name,
            run=candidate.run.path.absolute().name,
            last=last,
            q=None if own is None else float(critics_value(own, starts, actor(starts)).mean()),
            truth=self._teller(bench)(actor.act),
            judgement=bench.judge(actor, candidate.run if last else None),
        )


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
