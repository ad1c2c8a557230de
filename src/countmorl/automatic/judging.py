"""Judging what was trained: the first policies first, as many as there is time for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from countmorl.automatic.budget import JUDGING, Clock
from countmorl.automatic.carrying import policies_of
from countmorl.automatic.folder import AutoFolder
from countmorl.automatic.portfolio import CLONE, CLONES, Trial
from countmorl.errors import ConfigError, RunError
from countmorl.evaluation.acting import Actor
from countmorl.evaluation.bench import Bench
from countmorl.evaluation.choice import Choice, handed_out
from countmorl.evaluation.verdict import Judgement
from countmorl.progress import duration
from countmorl.runs.folder import CONFIG, Run
from countmorl.runtime.load import load_policy
from countmorl.sweeps.plan import Sweep

Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A policy that may be chosen."""

    name: str
    label: str
    epoch: int
    path: Path
    run: Run


@dataclass
class Judging:
    """Judges candidates side by side; what was judged before is read from the folder."""

    folder: AutoFolder
    clock: Clock
    make_bench: Callable[[], Bench]
    say: Say
    note: Callable[[], None]
    workers: int
    took: list[float] = field(default_factory=list, init=False)
    """Seconds of each judgement."""
    lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def __call__(self, found: Sequence[Candidate]) -> dict[str, Judgement]:
        """Judge as many as there is time for, in their order, one for each worker at the least."""
        known = {each.name: self.folder.judgement(each.name) for each in found}
        done = {name: remembered(name, said) for name, said in known.items() if said is not None}
        left = [each for each in found if each.name not in done]
        if not left or (done and self.clock.left(JUDGING) <= 0):
            return done
        self.say(f"judging {len(left)} policies: {self._time_left()}")
        bench = self.make_bench()
        self.say(f"judging the first of them: {self._time_left()}")
        pool = ThreadPoolExecutor(self.workers)
        try:
            jobs = {pool.submit(self._one, bench, each, at): each for at, each in enumerate(left)}
            for job in as_completed(jobs):
                judgement = job.result()
                if judgement is not None:
                    done[judgement.name] = judgement
                    said = f"judged {len(done)} of {len(found)}: {judgement.name}"
                    self.say(f"{said}: {judgement.verdict}; {self._time_left()}")
                self.note()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        return done

    def _one(self, bench: Bench, candidate: Candidate, at: int) -> Judgement | None:
        """Judge one policy, if there is time for it."""
        with self.lock:
            if at >= self.workers and self.clock.left(JUDGING) < max(self.took, default=0.0):
                return None
        began = time.monotonic()
        actor = Actor.of(load_policy(candidate.path), bench.dataset, candidate.name)
        last = candidate.path == candidate.run.policy_path
        judgement = bench.judge(actor, candidate.run if last else None)
        self.folder.write_judgement(candidate.name, judgement.as_dict())
        with self.lock:
            self.took.append(time.monotonic() - began)
        return judgement

    def _time_left(self) -> str:
        return f"{duration(max(0.0, self.clock.left()))} of the budget left"


def candidates(folder: AutoFolder, plan: Sweep, tried: Sequence[Trial]) -> list[Candidate]:
    """Every policy there is: the last of each run in the portfolio's order, then earlier ones."""
    rows = {row.label: row.name for row in plan.trained}
    ranked: list[tuple[int, int, Candidate]] = []
    for place, trial in enumerate(tried):
        path = folder.runs.run_path(rows[trial.label])
        if not (path / CONFIG).exists():
            continue
        run = Run.open(path)
        files = policies_of(run)
        for back, epoch in enumerate(sorted(files, reverse=True)):
            one = Candidate(
                name=f"{trial.label} epoch {epoch}",
                label=trial.label,
                epoch=epoch,
                path=Path(files[epoch]),
                run=run,
            )
            ranked.append((back, place, one))
    return [one for _, _, one in sorted(ranked, key=lambda each: each[:2])]


def given(found: Sequence[Candidate], choice: Choice) -> Candidate | None:
    """What is handed out; the plain clone where there was no time to judge any."""
    one = handed_out(choice, {each.name for each in found if each.label in CLONES})
    if one is not None:
        return next(each for each in found if each.name == one.name)
    return next((each for each in found if each.label == CLONE), None)


def remembered(name: str, values: Mapping[str, Any]) -> Judgement:
    """A policy's judgement as its folder has it."""
    try:
        found = Judgement.of_dict(values)
        if found.name != name:
            raise ConfigError(f"it is of another policy, {found.name[:40]}")
    except (KeyError, TypeError, IndexError, AttributeError, ValueError, ConfigError) as error:
        raise RunError(
            f"The judgement of {name} in the folder is damaged ({error!r}). Remove `judgements` "
            "from it, and repeat the command."
        ) from error
    return found
