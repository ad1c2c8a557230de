"""`auto`: check the log, try a few policies on it, judge them, and take one or none."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from countmorl.automatic import portfolio, sizing
from countmorl.automatic.budget import TRAINING, Clock, seconds_of
from countmorl.automatic.carrying import carry_out
from countmorl.automatic.folder import PAGE, AutoFolder
from countmorl.automatic.judging import Candidate, Judging, candidates, given
from countmorl.automatic.telling import result_of
from countmorl.data.card import data_card
from countmorl.data.check import check
from countmorl.data.dataset import Dataset
from countmorl.data.findings import Finding
from countmorl.data.holdout import draw_holdout, holdout_sentence, split
from countmorl.data.sources import load, locate, read
from countmorl.errors import ConfigError, CountMorlError, DataError, RunError, printable
from countmorl.evaluation.bench import Bench, BenchConfig
from countmorl.evaluation.choice import choose_among
from countmorl.evaluation.judging import bench_of
from countmorl.extras import installed
from countmorl.files import write_text
from countmorl.machine import cores
from countmorl.progress import duration
from countmorl.reports.auto_page import render_auto_page
from countmorl.runs.folder import Run
from countmorl.runs.options import DataOptions
from countmorl.runtime.load import load_policy
from countmorl.sweeps.facts import DataFacts, facts_of
from countmorl.sweeps.rows import slug
from countmorl.sweeps.trials import Cost

Say = Callable[[str], None]


def auto(
    data: str | Path,
    *,
    out: str | Path | None = None,
    budget: str = "30m",
    data_options: DataOptions | None = None,
    workers: int | None = None,
    seed: int = 0,
    config: BenchConfig | None = None,
    say: Say = lambda text: print(printable(text), file=sys.stderr, flush=True),
) -> dict[str, Any]:
    """Find a policy for a log that is shown to be better than it, or say that there is none.

    The log is checked, a model and a few policies are trained on it, all of them are judged by the
    log alone, and the best is taken, or the clone of the log where none is shown to be better. All
    of it ends within `budget` (90s, 30m, 2h). No simulator is opened. What is in the folder `out`
    is gone on with. Returns plain values, as result.json has them.
    """
    seconds = seconds_of(budget)
    if workers is not None and workers < 1:
        raise ConfigError(f"`workers` must be at least 1, got {workers}.")
    began, options = time.monotonic(), data_options or DataOptions()
    findings = _checked(data, options, say)
    dataset = load(data, options=options)
    _check_worth(dataset)
    folder = AutoFolder(Path(out) if out else Path("auto") / slug(f"{dataset.name}-seed{seed}"))
    ask = {
        "data": dataset.hash,
        "budget": seconds,
        "seed": seed,
        "data_options": asdict(options),
    }
    with folder.lock():
        state = folder.state(ask)
        clock = Clock(budget=seconds, before=state["spent"], began=began)
        work = _Work(
            folder=folder,
            dataset=dataset,
            ask=portfolio.Ask(source=locate(str(data)), data_options=options, seed=seed),
            state=state,
            clock=clock,
            workers=workers or cores(),
            config=config or BenchConfig(),
            say=say,
        )
        share = options.holdout_episodes
        held = holdout_sentence(dataset, share, draw_holdout(dataset, share, seed))
        card = data_card(dataset, findings, held)
        try:
            return work.do(card)
        except CountMorlError:
            if "scale" not in state:  # Nothing has begun: the corrected command finds room.
                folder.forget()
            raise


@dataclass
class _Work:
    """One carrying-out, in a folder whose lock is held."""

    folder: AutoFolder
    dataset: Dataset
    ask: portfolio.Ask
    state: dict[str, Any]
    clock: Clock
    workers: int
    config: BenchConfig
    say: Say

    def do(self, card: dict[str, Any]) -> dict[str, Any]:
        """All of it."""
        if not self.page:
            self.say(
                f"warning: {PAGE} is left out, since it needs packages that are not installed. The "
                'same command makes it after: pip install "countmorl[report]"'
            )
        self.note()
        facts = replace(facts_of(self.ask.source, self.ask.data_options, fetch=True), env_id=None)
        sized, tried = self.sized(facts)
        sized = self.trained(sized, tried, facts)
        found = candidates(self.folder, sized.plan, sized.tried)
        if not found:
            self._nothing_trained(sized.plan)
        benches: list[Bench] = []

        def bench() -> Bench:
            if not benches:
                benches.append(self.bench(found, sized))
            return benches[0]

        judged = Judging(self.folder, self.clock, bench, self.say, self.note, self.workers)(found)
        choice = choose_among(list(judged.values()))
        handed_out = given(found, choice)
        (load_policy(handed_out.path) if handed_out else bench().clone).save(
            self.folder.policy_path
        )
        self.note()
        result = {
            "folder": str(self.folder.path),
            "source": self.ask.source,
            "budget": self.clock.budget,
            "spent": self.clock.spent,
            "workers": self.workers,
            "seed": self.ask.seed,
            "data": card,
            **result_of(self.folder, tried, sized.plan, found, judged, choice, handed_out),
        }
        result = json.loads(json.dumps(result))  # Lists alone, as the file has them.
        self.folder.write_result(result)
        if self.page:
            write_text(self.folder.path / PAGE, render_auto_page(result))
        return result

    @property
    def page(self) -> bool:
        """Whether the page can be made."""
        return installed("jinja2") and installed("plotly")

    def note(self) -> None:
        """Keep how long it has taken."""
        self.state["spent"] = self.clock.spent
        self.folder.write_state(self.state)

    def sized(self, facts: DataFacts) -> tuple[sizing.Sized, Sequence[portfolio.Trial]]:
        """What is trained, decided once, and all that might have been."""
        if "pull" not in self.state:
            held = draw_holdout(self.dataset, self.ask.data_options.holdout_episodes, self.ask.seed)
            self.state["pull"] = portfolio.pull_of(split(self.dataset, held).taught)
        trials = portfolio.trials(discrete=self.dataset.discrete, pull=self.state["pull"])
        if "scale" not in self.state:
            self.say("timing the methods on this machine")
            costs = sizing.costs_of(self.ask, trials, facts)
            self.state["costs"] = {name: asdict(cost) for name, cost in costs.items()}
            left = self.clock.left(TRAINING)
            decided = sizing.sized(
                self.ask, trials, facts, costs, workers=self.workers, seconds=left
            )
            self.state |= {"scale": decided.scale, "tried": len(decided.tried)}
            self.state["seconds"] = decided.seconds
            self.note()
        return self._decided(trials), trials

    def trained(
        self, sized: sizing.Sized, trials: Sequence[portfolio.Trial], facts: DataFacts
    ) -> sizing.Sized:
        """Train what was decided; where that took less time than was expected, more of it."""
        costs = {name: Cost(**cost) for name, cost in self.state["costs"].items()}
        work, more = {"workers": self.workers, "note": self.note}, None
        while self.clock.left(TRAINING) > 0:
            began = self.clock.spent
            carry_out(sized.plan, self.folder, facts, self.clock, **work)
            if not {each.algorithm for each in trials} <= set(costs):
                break
            left, took = self.clock.left(TRAINING), self.clock.spent - began
            how = {"workers": self.workers, "seconds": left, "pace": took / sized.seconds}
            more = sizing.further(self.ask, tuple(trials), facts, costs, sized, **how)
            if more is None:
                break
            self.state |= {"tried": len(more.tried), "seconds": more.seconds}
            self.note()
            self.say(f"there is time for {len(more.tried) - len(sized.tried)} more")
            sized = self._decided(trials)
        return sized

    def _decided(self, trials: Sequence[portfolio.Trial]) -> sizing.Sized:
        tried, scale = tuple(trials[: self.state["tried"]]), self.state["scale"]
        plan = portfolio.plan(self.ask, tried, scale)
        epochs = ", ".join(f"{row.label} {row.config.epochs}" for row in plan.trained)
        self.say(f"trying {len(tried)} of {len(trials)} policies, epochs of each: {epochs}")
        return sizing.Sized(plan=plan, tried=tried, scale=scale, seconds=self.state["seconds"])

    def bench(self, found: Sequence[Candidate], sized: sizing.Sized) -> Bench:
        """What all policies are judged by: in the model that was fitted, if it is there."""
        models = [row for row in sized.plan.rows if row.algorithm == "model"]
        fitted = [Run(self.folder.runs.run_path(row.name)) for row in models]
        ready = [run for run in fitted if run.path.is_dir() and run.load_result("model")]
        config = self.config
        if not ready:
            self.say("warning: there was no time to fit the model; a smaller one is fitted now")
            epochs = portfolio.FEWEST_OF_MODEL
            config = replace(config, model=replace(config.model, max_epochs=epochs))
        runs = list({each.run.path: each.run for each in found}.values())
        model = ready[0] if ready else None
        return bench_of(
            runs, data=self.ask.source, model=model, config=config, seed=self.ask.seed, say=self.say
        )

    def _nothing_trained(self, plan: Any) -> None:
        failures = self.folder.runs.failures()
        if failures:
            raise RunError(f"No policy could be trained. {next(iter(failures.values()))}")
        raise ConfigError(
            f"The budget of {duration(self.clock.budget)} was over before any policy was trained. "
            "Give a larger --budget, and another --out."
        )


def _checked(data: str | Path, options: DataOptions, say: Say) -> list[Finding]:
    """What is wrong with the log; errors end everything."""
    say("checking the log")
    fields = read(data, options=options)
    findings = check(fields)
    for finding in findings:
        say(f"{finding.level}: {finding.message}")
    errors = [finding for finding in findings if finding.level == "error"]
    if errors:
        more = f" ({len(errors) - 1} more)" if errors[1:] else ""
        raise DataError(
            f"The log has errors that would mislead every policy: {errors[0].message}{more} "
            f"`countmorl data check {data}` shows all."
        )
    return findings


def _check_worth(dataset: Dataset) -> None:
    """Raise where nothing could be learned or judged, before the budget is spent on it."""
    rewards = dataset.reward
    if (rewards == rewards[0]).all() and not dataset.terminated.any():
        raise DataError(
            f"Every logged reward of '{dataset.name}' is {rewards[0]:g} and no episode ends by "
            "itself, so no policy can be better than another. Is the reward's column the right one?"
        )
    if not dataset.next_known.any():
        raise DataError(f"'{dataset.name}' has no row whose next observation is known.")
