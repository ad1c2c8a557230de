import json

import numpy as np
import pytest

from countmorl.collecting.qlearning import gridworld_dataset, replay
from countmorl.envs.gridworld import WORLDS
from countmorl.errors import ConfigError, DataError, RunError
from countmorl.runs.folder import Run
from countmorl.runtime.policy import Policy
from countmorl.runtime.tabular import TabularPolicy
from countmorl.tabular.certificate import Assumptions
from countmorl.tabular.mdp import TabularMDP
from countmorl.tabular.planning import start_value
from countmorl.tabular.train import Tabular, train_tabular

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
    assert Run.open(run.path).config["algorithm"] == "tabular"
    assert run.config["data"]["hash"] == log.hash
    results = run.lines("metrics.jsonl")[-1]
    policy = TabularPolicy.load(run.path)
    truth = TabularMDP.of_world(CLIFF, slip=0.2)
    true = start_value(truth, policy.probabilities)
    assert -1 < results["certificate"]["lower"] < true < 0.5
    assert results["value_model"] == pytest.approx(true, abs=0.05)
    assert (results["pairs_seen"], results["pairs_live"]) == (228, 228)
    assert policy.act(CLIFF.start) == 0
    assert policy.counts.sum() == len(log)


def test_policy_file_is_its_own_kind(log, tmp_path):
    run = train_tabular(log.first(200), out=tmp_path / "run")
    with pytest.raises(RunError, match="it is a tabular-policy file"):
        Policy.load(run.path)
    with pytest.raises(DataError, match="not one of the policy's"):
        TabularPolicy.load(run.path).act(64)
    other = tmp_path / "other.safetensors"
    from countmorl.files import write_arrays

    write_arrays(other, {"x": np.zeros(1)}, {"kind": "policy"})
    with pytest.raises(RunError, match="is not a tabular-policy"):
        TabularPolicy.load(other)


def test_metrics_are_plain_json_and_repeat(log, tmp_path):
    first, again = (
        train_tabular(log.first(500), out=tmp_path / name).metrics_path for name in "ab"
    )
    assert first.read_bytes() == again.read_bytes()
    assert json.loads(first.read_text())["rows"] == 500


@pytest.mark.parametrize("bad", [{"gamma": 1.0}, {"delta": 0.0}, {"beta": -1.0}, {"states": 0}])
def test_bad_settings_are_refused(bad):
    with pytest.raises(ConfigError):
        Tabular(**bad)
