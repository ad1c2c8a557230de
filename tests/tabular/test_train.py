from dataclasses import replace

import numpy as np
import pytest

from countmorl import load_policy, summarize
from countmorl.collecting.qlearning import gridworld_dataset, replay
from countmorl.envs.gridworld import WORLDS
from countmorl.errors import ConfigError, DataError, RunError
from countmorl.runs.folder import Run
from countmorl.runtime.policy import Policy
from countmorl.runtime.tabular import TabularPolicy
from countmorl.schema import Column, Schema
from countmorl.tabular.certificate import Assumptions
from countmorl.tabular.mdp import TabularMDP
from countmorl.tabular.planning import start_value
from countmorl.tabular.train import Tabular, resume_tabular, train_tabular

CLIFF = WORLDS["cliff"]


@pytest.fixture(scope="module")
def log():
    return gridworld_dataset(CLIFF, replay(CLIFF, slip=0.2))


@pytest.mark.parametrize("penalty", ["beta", "theory", "none"])
def test_run_holds_a_policy_and_a_certificate_below_the_truth(log, tmp_path, penalty):
    assume = Assumptions(value_range=(-1, 1), successors=4)
    run = train_tabular(
        log, config=Tabular(penalty=penalty), assume=assume, out=tmp_path / "run", source="log"
    )
    manifest = Run.open(run.path).manifest
    assert (manifest.algorithm, manifest.config["plan"]["penalty"]) == ("tabular", penalty)
    assert (manifest.data.hash, manifest.data.source) == (log.hash, "log")
    (record,) = run.records("plan")
    policy = TabularPolicy.load(run.path)
    truth = TabularMDP.of_world(CLIFF, slip=0.2)
    true = start_value(truth, policy.probabilities)
    assert record.least_value == -1
    assert record.least_value < record.certified < true < 0.5
    assert record.value_model == pytest.approx(true, abs=0.05)
    assert record.value_penalized <= record.value_model
    assert (record.pairs_seen, record.pairs_live) == (228, 228)
    assert (record.states, record.actions, record.rows) == (64, 4, len(log))
    assert record.confidence == 0.95
    assert policy.act(CLIFF.start) == 0
    assert policy.counts.sum() == len(log)


def test_the_run_keeps_the_names_of_the_data(log, tmp_path):
    moves = Column(name="move", kind="category", values=("up", "right", "down", "left"))
    schema = Schema(obs=(Column(name="field"),), action=(moves,))
    run = train_tabular(replace(log.first(500), schema=schema), out=tmp_path / "run")
    assert Run.open(run.path).manifest.data.schema == schema


class TestARunLikeTheOthers:
    @pytest.fixture
    def run(self, log, tmp_path):
        return train_tabular(log.first(500), out=tmp_path / "run")

    def test_its_policy_is_loaded_like_any_other(self, run, log):
        policy = load_policy(run.path)
        assert isinstance(policy, TabularPolicy)
        assert policy.info["task"] == log.task.env_id == "countmorl/Cliff-v0"
        with pytest.raises(RunError, match="it is a tabular-policy file"):
            Policy.load(run.path)

    def test_it_is_summed_up_like_any_other(self, run):
        facts = summarize(run)
        assert (facts.algorithm, facts.data, facts.finished) == ("tabular", "cliff[:500]", True)
        assert (facts.epochs, facts.mean, facts.measure) == (0, None, None)

    def test_metrics_are_plain_json_and_repeat(self, run, log, tmp_path):
        again = train_tabular(log.first(500), out=tmp_path / "again")
        assert run.metrics_path.read_bytes() == again.metrics_path.read_bytes()
        (line,) = run.lines("metrics.jsonl")
        assert (line["stage"], line["epoch"], line["rows"]) == ("plan", 1, 500)
        assert run.records()[0].others == {}

    def test_a_finished_one_is_left_as_it_is(self, run, log):
        before = contents(run)
        assert resume_tabular(run, log.first(500)) == run
        assert contents(run) == before

    @pytest.mark.parametrize("moment", ["append", "save_result"])
    def test_one_that_was_killed_is_finished_to_the_byte(
        self, run, log, tmp_path, monkeypatch, moment
    ):
        class Kill(BaseException):
            pass

        def killed(*_, **__):
            raise Kill

        with monkeypatch.context() as patch:
            patch.setattr(Run, moment, killed)
            with pytest.raises(Kill):
                train_tabular(log.first(500), out=tmp_path / "half")
        half = Run.open(tmp_path / "half")
        assert not half.finished
        resume_tabular(half, log.first(500))
        assert contents(half) == contents(run)


def contents(run):
    return {path.name: path.read_bytes() for path in run.path.rglob("*") if path.is_file()}


def test_a_policy_knows_its_states_only(log, tmp_path):
    run = train_tabular(log.first(200), out=tmp_path / "run")
    with pytest.raises(DataError, match="not one of the policy's"):
        TabularPolicy.load(run.path).act(64)


@pytest.mark.usefixtures("unchecked")
def test_numbers_of_numpy_are_settings_too(log, tmp_path):
    config = Tabular(states=np.int64(64), beta=np.float32(0.5))
    assume = Assumptions(successors=np.int64(4), value_range=(np.float64(-1), np.float32(1)))
    run = train_tabular(log.first(200), config=config, assume=assume, out=tmp_path / "run")
    assert run.manifest.config["plan"]["states"] == 64
    assert run.manifest.config["assume"]["value_range"] == [-1, 1]


@pytest.mark.parametrize(
    "bad",
    [{"gamma": 1.0}, {"delta": 0.0}, {"beta": -1.0}, {"states": 0}, {"penalty": "some"}],
)
@pytest.mark.usefixtures("unchecked")
def test_bad_settings_are_refused(bad):
    with pytest.raises(ConfigError):
        Tabular(**bad)
