"""What lies beside a training, for the fuzzer: judgements, choices, guards, counts, baselines."""

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from bundles import counts_of, made
from countmorl.automatic.folder import AutoFolder
from countmorl.automatic.judging import remembered
from countmorl.automatic.telling import reasons
from countmorl.counting.adding import merge_file, standing
from countmorl.envs.tasks import Task
from countmorl.evaluation.base import Estimate, Refusal
from countmorl.evaluation.choice import choose_among
from countmorl.evaluation.judging import JUDGEMENT_FILE
from countmorl.evaluation.verdict import Judgement, Way, decide
from countmorl.export.bundle import judged_of, write_sums
from countmorl.monitoring.baseline import BASELINE_FILE, Baseline
from countmorl.monitoring.monitor import monitor
from countmorl.monitoring.training import made_of
from countmorl.reports.facts import read_facts
from countmorl.runs.choice import Chosen
from countmorl.runs.folder import Run
from countmorl.runtime.added import ADDED_FILE, Added, AddedLog, tables_of
from countmorl.runtime.bundle import SUMS_FILE, load_bundle
from countmorl.runtime.counts import Counts
from countmorl.runtime.guard import CLONE, FOLDER, NEIGHBOURS, SETTINGS, Guard, GuardSettings
from countmorl.runtime.policy import Policy
from countmorl.spaces import ActionSpace
from countmorl.studies.judging_files import as_json, markdown
from countmorl.studies.judging_records import Field, LogTruth, Tried, keep, kept, unread
from countmorl.studies.truth import Truth
from made_runs import make_run
from monitored import dataset, walks
from robustness.damage import by_bytes, by_forgery, by_json
from robustness.format import Format
from robustness.model_formats import ACTION, OBS, make_counter

NAME = "bc epoch 3"
"""A policy that was judged."""
ROWS = 30
TASK = Task(name="own", env_id="Own-v0")
ABOUT = {"seed": 0}
"""What a record was made with."""
Make = Callable[[Path], Path]


def judgement() -> Judgement:
    """What was found out about a policy: two estimators speak, and one refuses."""
    facts = {"gain": 2.0, "gain_low": 1.0, "gain_high": 3.0}
    log = Estimate(value=10.0, interval=(9.0, 11.0), unit="return", made_by="the log")
    sure = Estimate(value=12.0, interval=(11.0, 13.0), unit="return", made_by="m", facts=facts)
    said = {"fitted Q": sure, "model": sure, "value": Refusal(made_by="v", why="it would not.")}
    return decide(NAME, log, said, Way(unseen=0.1, thin=0.2), notes=("a note",))


def make_judgement(folder: Path) -> Path:
    """A run that was judged."""
    path = make_run(folder / "run").path / JUDGEMENT_FILE
    path.write_text(json.dumps(judgement().as_dict(), indent=2) + "\n")
    return path


def read_judgement(path: Path) -> None:
    """Take it into a contract, which is written as strict JSON."""
    found = judged_of(Run.open(path.parent))
    assert found is not None
    json.dumps(asdict(found), allow_nan=False)


def make_auto_judgement(folder: Path) -> Path:
    """A judgement of `countmorl auto`."""
    AutoFolder(folder).write_judgement(NAME, judgement().as_dict())
    (path,) = (folder / "judgements").iterdir()
    return path


def read_auto_judgement(path: Path) -> None:
    """Choose by it, and say why."""
    folder = AutoFolder(path.parents[1])
    values = folder.judgement(NAME)
    assert values is not None
    found = remembered(NAME, values)
    choice = choose_among([found])
    reasons(choice, {NAME: found})
    json.dumps([choice.as_dict(), found.as_dict()])
    assert {each.judgement.name for each in choice.ranked} == {NAME}


def make_choice(folder: Path) -> Path:
    """A run that a choice looked at."""
    run = make_run(folder / "run")
    Chosen(policies=3, taken=True, epoch=2, log_return=1.0, sentence="take it.").write(run.path)
    return run.path / "choice.json"


def read_choice(path: Path) -> None:
    """Tell of it as reports do."""
    run = Run.open(path.parent)
    found = Chosen.read(run.path)
    assert found is not None
    assert found.epoch is None or found.epoch >= 0
    facts = read_facts(run)
    assert np.isfinite(facts.summary.values).all()


def guarded(folder: Path, thin: float = 3.0) -> Path:
    """A run with a small policy and a guard on it."""
    run, rng = make_run(folder / "run"), np.random.default_rng(0)
    obs = rng.standard_normal((ROWS, 3)).astype(np.float32)
    policy = small_network(rng)
    policy.save(run.path / "policy.safetensors")
    near = replace(counts_of("neighbours", obs, policy.act(obs), policy.space, "AVG"), thin=thin)
    settings = GuardSettings(threshold=2.0, release=3.0, fixed=(0.5, 0.5))
    Guard(policy=policy, counts=near, settings=settings, clone=small_network(rng)).save(run.path)
    return run.path / FOLDER


def small_network(rng: np.random.Generator) -> Policy:
    """Three numbers to two."""
    one = np.ones(3, np.float32)
    return Policy(
        weights=(rng.standard_normal((3, 2)).astype(np.float32),),
        biases=(one[:2],),
        head="tanh",
        obs_mean=0 * one,
        obs_std=one,
        space=ActionSpace(low=-one[:2], high=one[:2]),
    )


def part_of_guard(name: str) -> Make:
    """A guard, of which one file is damaged."""
    return lambda folder: guarded(folder) / name


def read_part_of_guard(path: Path) -> None:
    """The same of a part whose digest was forged too."""
    settings = path.with_name(SETTINGS)
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"parts": ""}))
    read_guard(path)


def read_guard(path: Path) -> None:
    """Let it act: an actuator is behind it. Where it abstains, that is said by NaN."""
    guard = Guard.load(path.parents[1])
    watch = guard.begin(2)
    for step in range(3):
        action, why = watch.act(np.full((2, 3), float(step), np.float32))
        nobody = guard.settings.fall_back in ("abstain", "hold") and guard.settings.fixed is None
        assert np.isfinite(action).all() or (nobody and why.fell_back.any())
        assert set(why.level) <= {"covered", "thin", "unseen"}
        assert (np.asarray(why.count) >= 0).all()


def added_run(folder: Path) -> Path:
    """A run that counts, with a log that was added."""
    run = Run(make_counter(folder).parents[1])
    counts = Counts.of_run(run.path)
    rng = np.random.default_rng(1)
    pairs = rng.standard_normal((9, OBS)), rng.uniform(-1, 1, (9, ACTION))
    words, known = counts.codes(*pairs)
    about = AddedLog(name="new.csv", hash="ab" * 32, rows=9, counted=9)
    tables = tables_of(words, known)
    Added(codes=counts.codes_digest, tables=tables, logs=(about,)).save(run.path / ADDED_FILE)
    return run.path


def make_added(folder: Path) -> Path:
    """What was added lies in its run."""
    return added_run(folder) / ADDED_FILE


def read_added(path: Path) -> None:
    """Ask how often pairs were seen, and what was added."""
    run = Run.open(path.parent)
    found = Counts.of_run(run.path).counts(np.zeros((2, OBS)), np.zeros((2, ACTION)))
    assert (found.members >= 0).all()
    assert np.isfinite(found.count).all()
    assert standing(run).rows >= 0


def make_export(folder: Path) -> Path:
    """What was added comes from another site."""
    path = added_run(folder)
    (path / ADDED_FILE).rename(folder / "site.safetensors")
    return folder / "site.safetensors"


def read_export(path: Path) -> None:
    """Merge it; the run's counts stay good ones."""
    run, ours = Run.open(path.parent / "run"), path.parent / "run" / ADDED_FILE
    try:
        merge_file(run, path)
        read_added(ours)
    finally:
        ours.unlink(missing_ok=True)


def make_baseline(folder: Path) -> Path:
    """What a monitor knows of a training."""
    log = dataset(episodes=24, length=5)
    made_of(log, np.arange(24) % 8 == 7).save(folder / BASELINE_FILE)
    return folder / BASELINE_FILE


def read_baseline(path: Path) -> None:
    """Hold today's log against it."""
    found = monitor(Baseline.load(path), walks(episodes=6, length=5, seed=1))
    json.dumps(found.as_dict(), allow_nan=False)
    assert found.sentence if hasattr(found, "sentence") else found.rows == 30


def make_sums(folder: Path) -> Path:
    """A bundle, of which the digests are damaged."""
    made(folder / "bundle")
    return folder / "bundle" / SUMS_FILE


def read_sums(path: Path) -> None:
    """Load it: what is not as it was exported is refused."""
    load_bundle(path.parent)


def make_bundle_guard(folder: Path) -> Path:
    """A bundle with a guard, of which the contract is damaged."""
    guard = GuardSettings(threshold=3.0, fall_back="fixed", fixed=(1.0,))
    made(folder / "bundle", guard=guard, counter="neighbours", unreadable="fall_back")
    return folder / "bundle" / "contract.json"


def read_bundle_guard(path: Path) -> None:
    """Load a bundle whose digests were forged too; a session acts on rows, readable or not."""
    write_sums(path.parent)
    session = load_bundle(path.parent).session()
    for row in ({"glucose": 100.0, "ward": "A"}, {"glucose": None, "ward": "?"}):
        action, why = session.act_row(row)
        assert action is None or np.isfinite(list(action.values())).all()
        assert np.isfinite(float(why.count))


def make_record(folder: Path) -> Path:
    """A record of the study of judging."""
    truth = asdict(Truth(value=1.0, error=0.5))
    log = {"unit": "u", "value": 1.0, "interval": (0.5, 2.0), "total": 3.0, "chance": truth}
    judged = {"q": 1.0, "judgement": judgement().as_dict()}
    keep(folder / "record.json", ABOUT, {"judged": judged, "truth": truth, "log": log})
    return folder / "record.json"


def read_record(path: Path) -> None:
    """Take it, or make it anew where it is damaged; the study's tables come of it."""
    found = kept(path, ABOUT)
    if found is None:
        return
    with unread(path):
        tried = Tried.of("a", path, True, found["judged"], found["truth"])
        log = LogTruth.of_dict(found["log"])
    field = Field(name="log", development=False, task=TASK, log=log, tried=(tried,))
    json.dumps(as_json([field]))
    markdown([field])


TEXT, ARRAYS = (by_bytes, by_json, by_json), (by_bytes, by_forgery, by_forgery)
BESIDE_FORMATS: dict[str, Format] = {
    "judgement": Format(make_judgement, read_judgement, TEXT),
    "auto-judgement": Format(make_auto_judgement, read_auto_judgement, TEXT),
    "choice": Format(make_choice, read_choice, TEXT),
    "guard": Format(part_of_guard(SETTINGS), read_guard, TEXT),
    "guard-neighbours": Format(part_of_guard(NEIGHBOURS), read_part_of_guard, ARRAYS),
    "guard-clone": Format(part_of_guard(CLONE), read_part_of_guard, ARRAYS),
    "added": Format(make_added, read_added, ARRAYS),
    "added-export": Format(make_export, read_export, ARRAYS),
    "baseline": Format(make_baseline, read_baseline, ARRAYS),
    "bundle-sums": Format(make_sums, read_sums),
    "bundle-guard": Format(make_bundle_guard, read_bundle_guard, TEXT),
    "record": Format(make_record, read_record, TEXT),
}
"""Formats of what lies beside a training, by name."""
