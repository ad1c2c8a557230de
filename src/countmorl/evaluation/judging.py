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
from countmorl.runs.choice import Chosen
from countmorl.runs.folder import Run
from countmorl.runs.manifest import Manifest
from countmorl.runs.options import Holdout
from countmorl.runtime.base import PolicyLike
from countmorl.runtime.guard import policy_digest
from countmorl.runtime.load import load_policy

JUDGEMENT_FILE = "judgement.json"
POLICY_ENDING = ".safetensors"
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
            values = judgement.as_dict() | {"policy": policy_digest(run.path)}
            write_text(run.path / JUDGEMENT_FILE, json.dumps(values, indent=2) + "\n")
        found.append(judgement)
    return found


def actor_of(run: Run, bench: Bench, epoch: int | None = None) -> Actor:
    """A run's policy, or one of those that it kept."""
    path = _policy_path(run, epoch)
    name = str(run.path) if epoch is None else f"{run.path} epoch {epoch}"
    return Actor.of(load_policy(path), bench.dataset, name)


def choose(
    runs: Sequence[Run],
    *,
    kept: bool = False,
    out: Path | None = None,
    save: bool = False,
    **options: Any,
) -> Choice:
    """Judge the policies of runs, and with `kept` those of their last evaluations; take the best.

    Where none is shown to be better than the log, the clone of the log is what is handed out: its
    file, or that of the policy taken, is written to `out`. With `save` every run keeps what was
    taken, for reports.
    """
    bench = bench_of(runs, **options)
    looked = {
        actor_of(run, bench, epoch): (run, epoch)
        for run in runs
        for epoch in (None, *(run.kept_policies() if kept else ()))
    }
    choice = choose_among([bench.judge(actor) for actor in looked])
    named = {actor.name: place for actor, place in looked.items()}
    taken = named[choice.taken.name] if choice.taken else None
    if out is not None:
        policy = bench.clone if taken is None else load_policy(_policy_path(*taken))
        policy.save(out)
    if save:
        _keep(choice, taken, runs, bench.dataset)
    return choice


def choose_each(
    runs: Sequence[Run], *, out: Path | None = None, **options: Any
) -> dict[str, Choice]:
    """One choice for every log that the runs learned from, by the log's name and seed.

    Of several, `out` is a folder.
    """
    groups = by_log(runs)
    if len(groups) == 1:
        return {_log_name(groups[0]): choose(groups[0], out=out, **options)}
    if options.get("data") is not None:
        raise ConfigError(f"The runs learned from {len(groups)} logs, and --data names one.")
    if out is not None and out.suffix:
        raise ConfigError(
            f"The runs learned from {len(groups)} logs, so `out` is a folder for as many policies; "
            f"got the file {out}."
        )
    found = {}
    for some in groups:
        name = _log_name(some)
        place = None if out is None else out / f"{name}{POLICY_ENDING}"
        found[name] = choose(some, out=place, **options)
    return found


def _log_name(runs: Sequence[Run]) -> str:
    manifest = runs[0].manifest
    name, holdout = (manifest.data.name, manifest.data.holdout) if manifest.data else ("log", None)
    return f"{name}-seed{holdout.seed}" if holdout else name


def _policy_path(run: Run, epoch: int | None) -> Path:
    return run.policy_path if epoch is None else run.kept_policy_path(epoch)


def _keep(
    choice: Choice, taken: tuple[Run, int | None] | None, runs: Sequence[Run], dataset: Dataset
) -> None:
    """Write what was taken into every run."""
    earned, score = dataset.earned
    chosen = Chosen(
        policies=len(choice.ranked),
        taken=False,
        kept_log=taken is None,
        log_return=earned,
        log_score=score,
        sentence=choice.sentence,
    )
    for run in runs:
        own = taken is not None and taken[0] is run
        epoch = taken[1] if taken is not None and own else None
        replace(chosen, taken=own, epoch=epoch).write(run.path)


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


def measure_of(
    runs: Sequence[Run], dataset: Dataset, *, discount: float | None, horizon: int | None
) -> Measure:
    """The unit in which the policies of runs are valued."""
    options = {"discount": discount, "horizon": horizon}
    found = _discount(runs[0], dataset, options)
    return Measure.of(dataset, discount=found, horizon=horizon)


def by_log(runs: Sequence[Run]) -> list[list[Run]]:
    """Runs by the rows that they learned from, which are judged together."""
    found: dict[Any, list[Run]] = {}
    for run in runs:
        found.setdefault(_rows(run.manifest), []).append(run)
    return list(found.values())


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
