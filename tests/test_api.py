import json
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

import countmorl
from countmorl import BC, DataOptions, Estimate, RunOptions, resume, train
from countmorl.api import _judge
from countmorl.errors import ConfigError, RunError
from countmorl.evaluation.simulate import Simulation

TINY = BC(epochs=4, updates=3, batch=8, hidden=(8,))
OPTIONS = RunOptions(eval_every=2, save_every=2, eval_episodes=1)
QUIET = {"options": OPTIONS, "quiet": True}


@dataclass
class Referee:
    """Judges by the length of the action for an observation of ones."""

    asked: list = field(default_factory=list)

    def check(self, policy, name):
        self.asked.append(name)

    def __call__(self, policy, *, seed):
        self.asked.append(seed)
        value = float(np.abs(policy.act(np.ones(policy.obs_dim))).sum())
        return Estimate(value=value, unit="length", made_by="measuring", facts={"return": value})


class Own(BC):
    """Own: a method of one's own, which clones."""


class TestTrain:
    def test_a_name_will_do_for_its_defaults(self, log, tmp_path, monkeypatch):
        monkeypatch.setattr("countmorl.training.stages.Stages.do", lambda self, fit: None)
        run = train("bc", log(), out=tmp_path / "run", **QUIET)
        assert (run.manifest.algorithm, run.manifest.config["epochs"]) == ("bc", BC().epochs)
        with pytest.raises(ConfigError, match=r"No method named 'bcc'. Did you mean 'bc'"):
            train("bcc", log(), out=tmp_path / "other", **QUIET)

    def test_an_evaluator_of_ones_own_judges_and_is_asked_before(self, log, tmp_path):
        referee = Referee()
        run = train(TINY, log(), out=tmp_path / "run", evaluator=referee, **QUIET)
        assert referee.asked == ["A policy for 'arrays'", 2, 4]
        judged = [record for record in run.records("policy") if record.judged]
        assert [record.epoch for record in judged] == [2, 4]
        action = countmorl.load_policy(run.path).act(np.ones(3))
        assert judged[-1].return_ == pytest.approx(np.abs(action).sum(), rel=1e-5)

    def test_by_default_the_datas_task_is_played(self, log, tmp_path):
        judge = _judge(None)
        manifest = train(TINY, log(), out=tmp_path / "run", **QUIET).manifest
        pendulum = countmorl.load(log(action=1), task="Pendulum-v1")
        assert judge(pendulum, manifest) == Simulation(task=pendulum.task, episodes=1)
        assert judge(countmorl.load(log()), manifest) is None
        assert _judge(referee := Referee())(pendulum, manifest) is referee

    def test_options_of_the_data_reach_it(self, log, tmp_path):
        kept = DataOptions(rows=40)
        run = train(TINY, log(), out=tmp_path / "run", data_options=kept, **QUIET)
        assert run.manifest.data.options == kept
        assert run.manifest.data.hash == countmorl.load(log(), rows=40).hash


class TestResume:
    def test_a_finished_run_is_trained_on(self, log, tmp_path):
        run = train(TINY, log(), out=tmp_path / "run", **QUIET)
        before = run.metrics_path.read_bytes()
        assert resume(run.path, data=log(), quiet=True).metrics_path.read_bytes() == before
        resume(run.path, data=log(), epochs=6, quiet=True)
        assert run.metrics_path.read_bytes().startswith(before)
        assert [record.epoch for record in run.records()] == [1, 2, 3, 4, 5, 6]
        assert (run.finished, run.manifest.epochs_before) == (True, (4,))
        assert run.manifest.config["epochs"] == 6

    @pytest.mark.parametrize("epochs", [4, 3, 0])
    def test_fewer_epochs_are_refused_and_nothing_is_lost(self, log, tmp_path, epochs):
        run = train(TINY, log(), out=tmp_path / "run", **QUIET)
        words = f"must be more than the 4 that .* has, got {epochs}"
        with pytest.raises(ConfigError, match=words):
            resume(run.path, data=log(), epochs=epochs, quiet=True)
        assert run.finished
        assert run.manifest.epochs_before == ()

    def test_arrays_are_given_again_and_must_be_the_same(self, log, tmp_path):
        run = train(TINY, log(), out=tmp_path / "run", **QUIET)
        with pytest.raises(RunError, match="trained on arrays in memory; pass the same ones"):
            resume(run.path)
        with pytest.raises(RunError, match="The dataset has changed"):
            resume(run.path, data=log(rows=50))

    def test_a_method_of_ones_own_is_said_again(self, log, tmp_path):
        own = Own(**vars(TINY))
        run = train(own, log(), out=tmp_path / "run", **QUIET)
        name = run.manifest.algorithm
        assert name.endswith("test_api:Own")
        with pytest.raises(RunError, match=f"no file alone makes code run.*--method {name}"):
            resume(run.path, data=log(), epochs=5, quiet=True)
        resume(run.path, data=log(), epochs=5, method=Own, quiet=True)
        assert run.records()[-1].epoch == 5

    def test_an_evaluator_goes_on_judging(self, log, tmp_path):
        run = train(TINY, log(), out=tmp_path / "run", evaluator=Referee(), **QUIET)
        referee = Referee()
        resume(run.path, data=log(), epochs=6, evaluator=referee, quiet=True)
        assert referee.asked == ["A policy for 'arrays'", 6]

    def test_what_another_judge_wrote_can_be_summed_up(self, log, tmp_path, run_cli):
        """An evaluator need not know a spread; the command line says what there is."""
        run = train(TINY, log(), out=tmp_path / "run", evaluator=Referee(), **QUIET)
        value = run.records()[-1].return_
        manifest = run.manifest
        np.savez(tmp_path / "log.npz", **log())
        origin = replace(manifest.data, source=str(tmp_path / "log.npz"))
        replace(manifest, data=origin).write(run.path / "config.json")
        code, out, _ = run_cli("resume", run.path)
        assert (code, out.splitlines()[0]) == (0, f"Last return {value:.1f}.")
        assert json.loads(run_cli("resume", run.path, "--json")[1])["return_std"] is None
