"""`judge`: what a policy is worth by a log alone, and whether that is more than the log has."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from countmorl.data.dataset import Dataset
from countmorl.data.holdout import split
from countmorl.data.sources import Source, load
from countmorl.errors import ConfigError, DataError, RunError
from countmorl.evaluation.acting import Act, Actor
from countmorl.evaluation.bench import Bench, BenchConfig
from countmorl.evaluation.choice import Choice, choose_among
from countmorl.evaluation.measure import Measure
from countmorl.evaluation.parts import dataset_of, model_of
from countmorl.evaluation.verdict import Judgement
from countmorl.files import write_text
from countmorl.rollouts import PenalizedModel
from countmorl.runs.folder import Run
from countmorl.runs.manifest import Manifest
from countmorl.runs.options import Holdout
from countmorl.runtime.base import PolicyLike
from countmorl.runtime.load import load_policy

JUDGEMENT_FILE = "judgement.json"
Say = Callable[[str], None]


def judge(
    policy: Run | str | Path | PolicyLike | Act,
    data: Source | None = None,
    *,
    model: Run | str | Path | None = None,
    discount: float | None = None,
    horizon: int | None = None,
    config: BenchConfig | None = None,
    seed: int = 0,
    say: Say = lambda _: None,
) -> Judgement:
    """Judge a run's policy, or any policy of your own, by a log, without a simulator.

    A run knows its data; a policy of your own (anything with `act`, or a function from observations
    [n, obs] to actions) is judged by `data`. `model` is a run on the same data whose model is used;
    by default the run's own, or one that is fitted here. Values are discounted, or with `horizon`
    plain sums over so many steps.
    """
    options: dict[str, Any] = {"discount": discount, "horizon": horizon, "config": config}
    options |= {"seed": seed, "say": say}
    if isinstance(policy, (Run, str, Path)):
        run = policy if isinstance(policy, Run) else Run.open(policy)
        (judgement,) = judge_runs([run], data=data, model=model, **options)
        return judgement
    if data is None:
        raise ConfigError("A policy that is no run needs `data`: the log to be judged by.")
    dataset = data if isinstance(data, Dataset) else load(data)
    actor = Actor.of(policy, dataset, "The policy")
    donor = _opened(model)
    bench = _bench(dataset, _holdout(donor, dataset), donor, [], **options)
    return bench.judge(replace(actor, name="policy"))


def judge_runs(
    runs: Sequence[Run],
    *,
    data: Source | None = None,
    model: Run | str | Path | None = None,
    save: bool = True,
    **options: Any,
) -> list[Judgement]:
    """Judge the policies of runs on one log beside each other; each keeps its own judgement."""
    bench = bench_of(runs, data=data, model=model, **options)
    found = []
    for run in runs:
        judgement = bench.judge(actor_of(run, bench), run)
        if save:
            write_text(run.path / JUDGEMENT_FILE, json.dumps(judgement.as_dict(), indent=2) + "\n")
        found.append(judgement)
    return found


def actor_of(run: Run, bench: Bench, epoch: int | None = None) -> Actor:
    """A run's policy, or one of those that it kept."""
    path = run.policy_path if epoch is None else run.kept_policy_path(epoch)
    name = str(run.path) if epoch is None else f"{run.path} epoch {epoch}"
    return Actor.of(load_policy(path), bench.dataset, name)


def choose(
    runs: Sequence[Run], *, kept: bool = False, out: Path | None = None, **options: Any
) -> Choice:
    """Judge the policies of runs, and with `kept` those of their last evaluations; take the best.

    Where none is shown to be better than the log, the clone of the log is what is handed out: its
    file, or that of the policy taken, is written to `out`.
    """
    bench = bench_of(runs, **options)
    epochs = {run.path: [None, *(run.kept_policies() if kept else ())] for run in runs}
    files = {
        actor_of(run, bench, epoch): run.policy_path
        if epoch is None
        else run.kept_policies()[epoch]
        for run in runs
        for epoch in epochs[run.path]
    }
    choice = choose_among([bench.judge(actor) for actor in files])
    if out is not None:
        named = {actor.name: path for actor, path in files.items()}
        policy = load_policy(named[choice.taken.name]) if choice.taken else bench.clone
        policy.save(out)
    return choice


def bench_of(
    runs: Sequence[Run], *, data: Source | None = None, model: Any = None, **options: Any
) -> Bench:
    """What the policies of runs are judged by: they must have learned from the same rows."""
    first = runs[0]
    for run in runs:
        if not run.policy_path.exists():
            raise RunError(f"{run.path} holds no policy yet; let it train first.")
        if _rows(run.manifest) != _rows(first.manifest):
            raise RunError(
                f"{run.path} and {first.path} learned from other data, or set other episodes "
                "aside. Judge them one by one."
            )
    dataset = dataset_of(first, data=data, simulated=False)
    origin = first.manifest.data
    options["discount"] = _discount(first, dataset, options)
    donor = _opened(model)
    if donor is not None and _rows(donor.manifest) != _rows(first.manifest):
        raise RunError(f"The model of {donor.path} was fitted on other rows than {first.path}.")
    return _bench(dataset, origin.holdout if origin else None, donor, runs, **options)


@dataclass(frozen=True)
class _Rows:
    hash: str
    holdout: Holdout | None


def _rows(manifest: Manifest) -> _Rows | None:
    return _Rows(manifest.data.hash, manifest.data.holdout) if manifest.data else None


def _discount(run: Run, dataset: Dataset, options: dict[str, Any]) -> float | None:
    """The run's own discount where nothing is said and its episodes are long enough for it."""
    if options.get("discount") is not None or options.get("horizon") is not None:
        return options.get("discount")
    return discount_of(run.manifest, dataset)


def discount_of(manifest: Manifest, dataset: Dataset) -> float:
    """A run's own discount, or a lower one where its log's episodes are cut too soon for it."""
    part = manifest.part("sac") or manifest.part("td3") or {}
    usual = Measure.of(dataset).discount
    return min(usual, float(part.get("discount", usual)))


def _opened(model: Run | str | Path | None) -> Run | None:
    if model is None or isinstance(model, Run):
        return model
    return Run.open(model)


def _holdout(donor: Run | None, dataset: Dataset) -> Holdout | None:
    if donor is None:
        return None
    origin = donor.manifest.data
    if origin is None or origin.hash != dataset.hash:
        raise DataError(f"The model of {donor.path} was fitted on other data than these.")
    return origin.holdout


def _bench(
    dataset: Dataset,
    holdout: Holdout | None,
    donor: Run | None,
    runs: Sequence[Run],
    *,
    discount: float | None = None,
    horizon: int | None = None,
    config: BenchConfig | None = None,
    seed: int = 0,
    say: Say = lambda _: None,
) -> Bench:
    taught, _ = split(dataset, holdout)
    found: PenalizedModel | None = None
    for run in [donor] if donor is not None else runs:
        found = found or model_of(run, taught)
    if donor is not None and found is None:
        raise RunError(f"{donor.path} holds no fitted model to judge by.")
    measure = Measure.of(dataset, discount=discount, horizon=horizon)
    return Bench.of(dataset, holdout, found, measure, config=config, seed=seed, say=say)
