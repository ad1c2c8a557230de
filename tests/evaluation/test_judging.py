"""Judging as users call it: runs, and policies of their own."""

import json
import shutil

import numpy as np
import pytest

import countmorl
from countmorl import Dataset, Run, load, train
from countmorl.dynamics.fit import EnsembleConfig
from countmorl.errors import ConfigError, DataError, RunError
from countmorl.evaluation.bench import BenchConfig
from countmorl.evaluation.fqe import FQEConfig
from countmorl.evaluation.judging import JUDGEMENT_FILE, by_log, choose_each, judge, judge_runs
from countmorl.runs.choice import Chosen
from small_runs import QUIET, small, vector_log
from worlds import linear_log

TINY = BenchConfig(
    clone_updates=20,
    fqe=FQEConfig(members=2, hidden=(8,), updates=5, batch=8, least=10, most=10),
    model=EnsembleConfig(members=2, elites=2, width=8, batch=32, holdout=20, max_epochs=1),
)
FAST = {"config": TINY, "discount": 0.9}
"""Too little to learn anything: what is said is tested elsewhere."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run with a model and critics, and one without; both on the same rows."""
    folder = tmp_path_factory.mktemp("runs")
    np.savez(folder / "log.npz", **vector_log())
    for name in ("mopo", "bc"):
        train(small(name), folder / "log.npz", out=folder / name, **QUIET)
    return folder


@pytest.mark.slow
def test_runs_side_by_side_keep_their_judgements(runs, tmp_path):
    folder = shutil.copytree(runs, tmp_path / "copy")
    found = judge_runs([Run.open(folder / name) for name in ("mopo", "bc")], **FAST)
    assert [each.name for each in found] == [str(folder / "mopo"), str(folder / "bc")]
    for each, name in zip(found, ("mopo", "bc"), strict=True):
        kept = json.loads((folder / name / JUDGEMENT_FILE).read_text())
        assert kept["sentence"] == each.sentence
        assert kept["verdict"] != "better"
        assert set(kept["opinions"]) >= {"fitted Q", "model", "own critics"}
    assert "bc has no critics" in found[1].opinions["own critics"].why
    assert any("too few to fit critics on" in note for note in found[0].notes)


@pytest.mark.slow
def test_where_none_is_better_the_clone_is_handed_out(runs, tmp_path):
    run = Run.open(shutil.copytree(runs / "bc", tmp_path / "bc"))
    (choice,) = choose_each([run], out=tmp_path / "best.safetensors", save=True, **FAST).values()
    assert choice.taken is None
    kept = Chosen.read(run.path)
    assert kept is not None
    assert (kept.policies, kept.taken, kept.kept_log, kept.epoch) == (1, False, True, None)
    assert kept.log_return == pytest.approx(np.mean(load(runs / "log.npz").returns))
    clone = countmorl.load_policy(tmp_path / "best.safetensors")
    assert (clone.obs_dim, clone.action_dim) == (2, 1)


@pytest.mark.slow
def test_a_function_of_ones_own_is_judged_by_a_log(runs):
    found = countmorl.judge(lambda obs: np.ones((len(obs), 1)), runs / "log.npz", **FAST)
    assert found.notes[0].startswith("no episodes were set aside")
    with pytest.raises(ConfigError, match="needs `data`"):
        judge(lambda obs: obs)


@pytest.mark.slow
def test_all_rewards_equal():
    data = vector_log() | {"reward": np.ones(300), "terminated": np.zeros(300, bool)}
    found = judge(lambda obs: np.ones((len(obs), 1)), data, **FAST)
    assert found.sentence.startswith("cannot be judged: every logged reward is the same")


@pytest.mark.slow
def test_a_log_with_one_episode():
    found = judge(lambda obs: np.zeros((len(obs), 1)), linear_log(1, 200), **FAST)
    assert found.behaviour.made_by == "the log's mean reward, over blocks of its rows"
    assert found.verdict != "better"


class TestBadInput:
    def test_other_data(self, runs, tmp_path):
        other = vector_log() | {"reward": np.zeros(300)}
        with pytest.raises(RunError, match="was trained on other data than 'arrays'"):
            judge(runs / "bc", other)
        with pytest.raises(DataError, match="was fitted on other data than these"):
            judge(lambda obs: obs, other, model=runs / "mopo")

    def test_runs_that_learned_from_other_rows(self, runs, tmp_path):
        half = {**QUIET, "data_options": countmorl.DataOptions(holdout_episodes=0.3)}
        other = train(small("bc"), runs / "log.npz", out=tmp_path / "other", **half)
        with pytest.raises(RunError, match="set other episodes aside"):
            judge_runs([Run.open(runs / "bc"), other])

    def test_a_policy_of_other_sizes(self, runs):
        data: Dataset = load(vector_log())
        assert data.obs_dim == 2
        wide = linear_log(12, 5)
        policy = countmorl.load_policy(runs / "bc")
        with pytest.raises(DataError, match=r"takes 2 observation numbers .* has 1 observation"):
            judge(policy, wide)

    def test_a_run_without_a_policy(self, runs, tmp_path):
        empty = shutil.copytree(runs / "bc", tmp_path / "empty")
        (empty / "policy.safetensors").unlink()
        with pytest.raises(RunError, match="holds no policy yet"):
            judge(empty)

    def test_a_model_that_is_none(self, runs):
        with pytest.raises(RunError, match="holds no fitted model to judge by"):
            judge(runs / "mopo", model=runs / "bc", **FAST)


@pytest.mark.slow
def test_a_run_from_before_episodes_were_set_aside(runs, tmp_path):
    old = shutil.copytree(runs / "bc", tmp_path / "old")
    values = json.loads((old / "config.json").read_text())
    del values["data"]["holdout"], values["data"]["options"]["holdout_episodes"]
    (old / "config.json").write_text(json.dumps(values))
    found = judge(old, **FAST)
    assert found.notes[0].startswith("no episodes were set aside")


def test_runs_of_several_logs_are_told_apart(runs, tmp_path):
    np.savez(tmp_path / "other.npz", **{**vector_log(), "reward": np.ones(300)})
    other = train(small("bc"), tmp_path / "other.npz", out=tmp_path / "bc", **QUIET)
    first = [Run.open(runs / name) for name in ("mopo", "bc")]
    assert by_log([first[0], other, first[1]]) == [first, [other]]
    with pytest.raises(ConfigError, match="learned from 2 logs, and --data names one"):
        choose_each([*first, other], data=tmp_path / "other.npz")
    with pytest.raises(ConfigError, match="`out` is a folder for as many policies; got the file"):
        choose_each([*first, other], out=tmp_path / "best.safetensors")
