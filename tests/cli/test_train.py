import json
import re
import sys

import numpy as np
import pytest

from countmorl import load_policy
from countmorl.algorithms import ALGORITHMS
from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.algorithms.count_morl import CountMORL
from countmorl.algorithms.mopo import MOPO
from countmorl.cli import train as cli_train
from countmorl.cli.train import _parse, idea
from countmorl.dynamics.fit import EnsembleConfig
from countmorl.errors import ConfigError
from countmorl.runs.folder import Run

PROG = "countmorl train x"


class TestListing:
    @pytest.mark.parametrize("words", [(), ("--help",)])
    def test_every_method_has_its_line(self, run_cli, monkeypatch, words):
        monkeypatch.setenv("COLUMNS", "80")
        code, out, err = run_cli("train", *words)
        assert (code, err) == (0, "")
        lines = out.splitlines()
        assert len(lines) <= 24
        for name, cls in ALGORITHMS.items():
            assert any(re.match(rf" {name} +{re.escape(idea(cls))}", line) for line in lines), name
        for name in ("model", "codes", "tabular", "module:Class"):
            assert any(line.startswith(f" {name} ") and line.rstrip()[-1] == "." for line in lines)

    def test_an_idea_is_the_docstring_behind_the_name(self):
        class Mine(AbstractAlgorithm):
            """Mine: do it in my way.

            And more.
            """

        assert idea(Mine) == "Do it in my way."


class TestSummary:
    def test_says_how_it_ended_and_where_it_lies(self, run_cli, trained, tiny):
        code, out, err = run_cli("train", "bc", trained / "log.hdf5", "--out", "run", *tiny)
        assert code == 0
        simulated, unknown, speed, *paths = out.splitlines()
        reason = "no environment is known for this dataset (--task names one)."
        assert simulated == f"Not simulated: {reason}"
        assert unknown.endswith("Ask: countmorl judge run")
        assert re.fullmatch(r"\d+ updates/s of the policy; \d+ s of compiling in all\.", speed)
        assert paths == ["Run: run", "Policy: run/policy.safetensors"]
        said, *epochs = err.splitlines()
        assert said.startswith("nothing is set aside (the log has 3 finished episodes")
        assert [line.split()[1] for line in epochs] == ["1/4", "2/4", "3/4", "4/4"]

    def test_json(self, run_cli, trained, tiny):
        code, out, _ = run_cli("train", "bc", trained / "log.hdf5", "--out", "run", *tiny, "--json")
        assert code == 0
        summary = json.loads(out)
        assert summary.pop("updates_per_second") > 0
        assert summary.pop("compile_seconds") >= 0
        assert {name: value for name, value in summary.items() if value not in (None, [])} == {
            "run": "run",
            "name": "run",
            "policy": "run/policy.safetensors",
            "algorithm": "bc",
            "data": "log",
            "finished": True,
            "epochs": 4,
        }
        assert set(summary) >= {"evaluated_epoch", "return", "return_std", "score", "score_std"}

    def test_the_default_folder(self, run_cli, trained, tiny):
        code, out, _ = run_cli("train", "bc", trained / "log.hdf5", *tiny, "--seed", 7)
        assert code == 0
        assert "Run: runs/bc-log-seed7" in out

    def test_a_return_without_a_reference(self, run_cli, log, save, tiny, tmp_path):
        data = save(tmp_path / "log.hdf5", log(action=1), env_id="Pendulum-v1")
        code, out, _ = run_cli("train", "bc", data, "--out", "run", *tiny, "--eval-episodes", 1)
        assert code == 0
        assert f"Last return {Run.open('run').records()[-1].return_:.1f} ± 0.0." in out

    def test_a_score(self, run_cli, log, save, tiny, tmp_path):
        data = save(tmp_path / "hopper_mine.npz", log(obs=11, action=3))
        code, out, _ = run_cli("train", "bc", data, "--out", "run", *tiny, "--eval-episodes", 1)
        assert code == 0
        assert f"Last score {Run.open('run').records()[-1].score:.1f} ± 0.0 (normalised)." in out

    def test_without_evaluations_it_says_why(self, run_cli, trained, tiny):
        words = ("train", "bc", trained / "log.hdf5", "--out", "run", *tiny, "--eval-every", 0)
        assert "Not simulated, since --eval-every is 0." in run_cli(*words)[1]


def test_options_reach_the_manifest(run_cli, trained, monkeypatch):
    monkeypatch.setattr("countmorl.training.stages.Stages.do", lambda self, stage: None)
    options = (
        "--epochs 1 --updates 2 --batch 3 --hidden 4 5 --learning-rate 0.01 --seed 6 --rows 40"
    )
    more = "--eval-every 0 --eval-episodes 7 --save-every 8 --mode d4rl-exact --log tensorboard"
    more += " --actions continuous --label clone --holdout-episodes 0.2"
    pytest.importorskip("tensorboardX")
    words = ("train", "bc", trained / "log.hdf5", "--out", "run", *options.split(), *more.split())
    assert run_cli(*words, "--keep-policies", 9)[0] == 0
    manifest = Run.open("run").manifest
    assert manifest.config == {
        "epochs": 1,
        "updates": 2,
        "batch": 3,
        "favour": 0.0,
        "hidden": [4, 5],
        "learning_rate": 0.01,
    }
    assert vars(manifest.options) == {
        "seed": 6,
        "eval_every": 0,
        "eval_episodes": 7,
        "keep_policies": 9,
        "stop": "epochs",
        "simulate": True,
        "save_every": 8,
        "log": ("tensorboard",),
        "label": "clone",
    }
    assert vars(manifest.data.options) == {
        "task": None,
        "rows": 40,
        "mode": "d4rl-exact",
        "done": None,
        "actions": "continuous",
        "holdout_episodes": 0.2,
    }


def test_policies_of_the_last_evaluations_are_kept_without_a_simulator_too(run_cli, trained, tiny):
    words = ("--keep-policies", 2, "--eval-every", 1, "--out", "run")
    assert run_cli("train", "bc", trained / "log.hdf5", *tiny, *words)[0] == 0
    kept = Run.open("run").kept_policies()
    assert list(kept) == [3, 4]
    obs = np.ones((2, 3))
    last = load_policy("run").act(obs)
    np.testing.assert_array_equal(load_policy(kept[4]).act(obs), last)
    assert (load_policy(kept[3]).act(obs) != last).any()


class TestPreset:
    @pytest.mark.parametrize(
        "before",
        [
            (),
            ("--preset", "paper"),
            ("--preset=paper", "--out", "walker2d-medium-v2"),
            ("--json", "--sac.no-normalize"),
            ("--sac.hidden", "8", "8", "--seed", "3"),
        ],
    )
    def test_it_finds_the_data_among_the_options(self, before):
        """Hopper's published weight is 5, Walker2d's 0.5."""
        words = [*before, "hopper-medium-v2", "--preset", "paper"]
        assert _parse(MOPO, words, PROG).config.weight == 5

    def test_what_the_user_says_counts_more(self, capsys):
        words = ["hopper-medium-v2", "--preset", "paper", "--weight", "2", "--model.width", "9"]
        call = _parse(MOPO, words, PROG)
        assert (call.config.weight, call.config.model.width) == (2, 9)
        assert call.config.model.learning_rate == 1e-3  # The preset's.
        err = capsys.readouterr().err
        assert err == "Settings of the preset 'paper' for hopper-medium-v2.\n"

    @pytest.mark.parametrize("rest", [("--help",), ()])
    def test_without_data_it_shows_help_or_asks_for_data(self, run_cli, rest):
        code, out, err = run_cli("train", "mopo", "--preset", "paper", *rest)
        assert code == (0 if rest else 2)
        assert "DATA" in out + err
        assert "No settings" not in out + err

    @pytest.mark.parametrize("name", ["2024_hopper_medium.hdf5", "2024"])
    def test_it_is_never_left_away_in_silence(self, name):
        with pytest.raises(ConfigError, match=rf"are published for '{re.escape(name)}'"):
            _parse(MOPO, [name, "--preset", "paper"], PROG)

    def test_a_method_without_one(self, run_cli):
        code, _, err = run_cli("train", "repb-sde", "hopper-medium-v2", "--preset", "paper")
        assert (code, "has no option '--preset'." in err) == (2, True)

    @pytest.mark.parametrize("words", [("--estimate", "AVG"), ("--estimate=AVG",)])
    def test_the_papers_beta_follows_the_estimate_that_was_asked_for(self, words):
        """On HalfCheetah medium-expert the paper has a beta of 3 for UC and of 1 for AVG."""
        wanted = ["halfcheetah-medium-expert-v2", "--preset", "paper"]
        assert _parse(CountMORL, wanted, PROG).config.beta == 3
        assert _parse(CountMORL, [*wanted, *words], PROG).config.beta == 1
        assert _parse(CountMORL, [*wanted, *words, "--beta", "7"], PROG).config.beta == 7

    def test_it_can_be_tried_on_a_shared_model(self, run_cli, monkeypatch):
        """The preset's way of fitting one is not asked for; what the user says of it is."""
        asked = []
        monkeypatch.setattr(cli_train.api, "train", lambda config, *_, **__: asked.append(config))
        monkeypatch.setattr(cli_train, "finish", lambda work, _: work() or 0)
        words = ("train", "mopo", "hopper-medium-v2", "--preset", "paper", "--model", "shared")
        assert run_cli(*words)[0] == run_cli(*words, "--model.width", "9")[0] == 0
        assert [config.weight for config in asked] == [5, 5]
        assert asked[0].model == EnsembleConfig()
        assert asked[1].model.width == 9
        assert asked[1].model.learning_rate == 1e-3

    def test_help_tells_the_idea_and_where_the_presets_come_from(self, run_cli):
        code, out, _ = run_cli("train", "mopo", "--help")
        assert code == 0
        said = " ".join(out.split())
        assert "lower the model's rewards where the model is uncertain" in said
        assert "OfflineRL-Kit for v2" in said


OWN = '''
"""My own way: clone, and call it mine."""

from dataclasses import dataclass
from typing import ClassVar

from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.algorithms.bc import BC


@dataclass(frozen=True, kw_only=True)
class Mine(BC):
    """Mine: clone the log."""

    first: ClassVar = ("flavour",)

    flavour: int = 3
    """How much of it is mine."""


class Half(AbstractAlgorithm):
    """Half: not finished yet."""


@dataclass(frozen=True, kw_only=True)
class Strict(BC):
    """Strict: every setting must be given."""

    flavour: int
    """How much of it is mine."""
'''


class TestOwnMethod:
    def test_it_is_trained_by_its_name(self, run_cli, module, trained, tiny):
        name = f"{module('own_method', OWN)}:Mine"
        code, out, _ = run_cli("train", name, trained / "log.hdf5", *tiny, "--flavour", 5)
        assert code == 0
        assert "Run: runs/own_method-Mine-log-seed0" in out
        manifest = Run.open("runs/own_method-Mine-log-seed0").manifest
        assert (manifest.algorithm, manifest.config["flavour"]) == (name, 5)
        assert "flavour" in manifest.own

    def test_its_page_is_like_the_others(self, run_cli, module):
        code, out, _ = run_cli("train", f"{module('own_method', OWN)}:Mine", "--help")
        assert code == 0
        assert "My own way: clone, and call it mine." in out
        first = out.split("\nadvanced\n")[0]
        assert re.search(r"--flavour INT +How much of it is mine. \(default: 3\)", first)

    @pytest.mark.parametrize(
        ("name", "sentence"),
        [
            ("no_such:Mine", "could not be imported: No module named 'no_such'"),
            ("own_method:Yours", "could not be imported: module 'own_method' has no attribute"),
            ("own_method:OWN", "could not be imported"),
            ("own_method:dataclass", "is not a method: it must be a class of `AbstractAlgorithm`"),
            ("own_method:Half", "'own_method:Half' cannot be trained by: Can't instantiate"),
            ("own_method:Strict", "Every setting needs a default"),
        ],
    )
    def test_what_is_none_is_said(self, run_cli, module, name, sentence):
        module("own_method", OWN)
        for rest in ("log.npz", "--help"):
            code, out, err = run_cli("train", name, rest)
            assert (code, out, err.count("\n")) == (2, "", 1)
            assert sentence in err


class TestOwnEnvironment:
    def test_the_user_names_it(self, run_cli, trained, tiny, own_env):
        words = ("train", "bc", trained / "log.hdf5", "--out", "run", *tiny, "--task", own_env)
        code, out, _ = run_cli(*words, "--eval-episodes", 2)
        assert code == 0
        assert "Last return 10.0 ± 0.0." in out
        assert load_policy("run").info["task"] == own_env

    @pytest.mark.parametrize("task", ["own_envs:Own-v0", "own_envs:CartPole-v1"])
    def test_a_file_does_not(self, run_cli, log, save, tiny, own_env, task, tmp_path):
        data = save(tmp_path / "log.hdf5", log(), env_id=task)
        assert run_cli("data", "info", data)[0] == 0
        code, out, _ = run_cli("train", "bc", data, "--out", "run", *tiny, "--eval-every", 2)
        assert code == 0
        assert "Not simulated: no environment is known" in out
        assert "own_envs" not in sys.modules
