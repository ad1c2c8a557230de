"""What runs have trained, brought back."""

import json
import shutil

import numpy as np
import pytest

from countmorl import Run, train
from countmorl.algorithms.model_alone import ModelAlone
from countmorl.data.holdout import split
from countmorl.dynamics.termination import KnownTermination, LearnedTermination
from countmorl.dynamics.termination_fit import TerminationFit
from countmorl.errors import ConfigError, DataError, RunError
from countmorl.evaluation.parts import dataset_of, learned_termination, model_of
from small_runs import MODEL, QUIET, small, vector_log


@pytest.fixture(autouse=True, scope="module")
def _one_epoch_of_ends():
    """What is asked is which rule it is, not how good it gets."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TerminationFit, "epochs", 1)
        yield


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    np.savez(folder / "log.npz", **vector_log())
    return train(ModelAlone(model=MODEL), folder / "log.npz", out=folder / "run", **QUIET)


def changed(run, tmp_path, change):
    path = shutil.copytree(run.path, tmp_path / "changed")
    values = json.loads((path / "config.json").read_text())
    change(values)
    (path / "config.json").write_text(json.dumps(values))
    return Run.open(path)


def test_a_model_with_the_rule_it_was_fitted_with(run):
    taught, _ = split(dataset_of(run), run.manifest.data.holdout)
    model = model_of(run, taught)
    assert isinstance(model.termination, LearnedTermination)
    assert len(model.ensemble.elites) == MODEL.elites


def test_a_rule_that_is_code_is_learned_anew(run, tmp_path):
    def name(values):
        values["config"]["termination"] = "somewhere:rule"

    own = changed(run, tmp_path, name)
    taught, _ = split(dataset_of(own), own.manifest.data.holdout)
    assert isinstance(model_of(own, taught).termination, LearnedTermination)


def test_without_ends_there_is_nothing_to_learn(run):
    data = dataset_of(run)
    data = data.of_episodes(~data.terminated[data.episode_ends])
    assert not data.terminated.any()
    assert isinstance(learned_termination(data, 0), KnownTermination)


def test_an_environment_that_only_a_file_names(run, tmp_path):
    def name(values):
        values["data"]["options"]["task"] = "somewhere:Env-v0"

    own = changed(run, tmp_path, name)
    with pytest.raises(ConfigError, match="for which a module would be imported"):
        dataset_of(own)
    assert dataset_of(own, simulated=False).task is None


def test_data_that_are_gone_or_others(run, tmp_path):
    with pytest.raises(DataError, match="name them with --data"):
        dataset_of(run, data=str(tmp_path / "gone.npz"))
    with pytest.raises(RunError, match="was trained on other data"):
        dataset_of(run, data=vector_log() | {"reward": np.zeros(300)})


def test_a_run_without_a_model(tmp_path):
    run = train(small("bc"), vector_log(), out=tmp_path / "bc", **QUIET)
    assert model_of(run, dataset_of(run, data=vector_log())) is None
