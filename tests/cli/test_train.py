import json
import re

import pytest

from countmorl.cli import train as cli_train
from countmorl.cli.train import commands
from countmorl.dynamics.fit import EnsembleConfig
from countmorl.errors import ConfigError
from countmorl.runs.folder import Run


def test_says_how_it_ended_and_where_it_lies(run_cli, trained, tiny):
    code, out, err = run_cli("train", "bc", trained / "log.hdf5", "--out", "run", *tiny)
    assert code == 0
    simulated, speed, *paths = out.splitlines()
    assert (
        simulated == "Not simulated: no environment is known for this dataset (--task names one)."
    )
    assert re.fullmatch(r"\d+ updates/s of the policy; \d+ s of compiling in all\.", speed)
    assert paths == ["Run: run", "Policy: run/policy.safetensors"]
    assert [line.split()[1] for line in err.splitlines()] == ["1/4", "2/4", "3/4", "4/4"]


def test_json(run_cli, trained, tiny):
    code, out, _ = run_cli("train", "bc", trained / "log.hdf5", "--out", "run", *tiny, "--json")
    assert code == 0
    summary = json.loads(out)
    assert summary.pop("updates_per_second") > 0
    assert summary.pop("compile_seconds") >= 0
    assert summary == {
        "run": "run",
        "policy": "run/policy.safetensors",
        "epoch": 4,
        "evaluated_epoch": None,
        "return": None,
        "return_std": None,
        "score": None,
        "score_std": None,
    }


def test_the_default_folder(run_cli, trained, tiny):
    code, out, _ = run_cli("train", "bc", trained / "log.hdf5", *tiny, "--seed", 7)
    assert code == 0
    assert "Run: runs/bc-log-seed7" in out


def test_options_reach_the_config(run_cli, trained, monkeypatch):
    monkeypatch.setattr("countmorl.training.stages.Stages.do", lambda self, stage: None)
    options = (
        "--epochs 1 --updates 2 --batch 3 --hidden 4 5 --learning-rate 0.01 --seed 6 --rows 40"
    )
    more = "--eval-every 0 --eval-episodes 7 --save-every 8 --mode d4rl-exact --log tensorboard"
    pytest.importorskip("tensorboardX")
    code, _, _ = run_cli(
        "train", "bc", trained / "log.hdf5", "--out", "run", *options.split(), *more.split()
    )
    assert code == 0
    config = Run.open("run").config
    assert config["config"] == {
        "epochs": 1,
        "updates": 2,
        "batch": 3,
        "hidden": [4, 5],
        "learning_rate": 0.01,
    }
    assert config["options"] == {
        "seed": 6,
        "eval_every": 0,
        "eval_episodes": 7,
        "save_every": 8,
        "log": ["tensorboard"],
    }
    assert config["data"]["options"] == {"task": None, "rows": 40, "mode": "d4rl-exact"}


def test_a_return_without_a_reference(run_cli, log, save, tiny, tmp_path):
    data = save(tmp_path / "log.hdf5", log(action=1), env_id="Pendulum-v1")
    arguments = ("train", "bc", data, "--out", "run", *tiny, "--eval-episodes", 1)
    code, out, _ = run_cli(*arguments)
    assert code == 0
    last = Run.open("run").lines("metrics.jsonl")[-1]
    assert f"Last return {last['return']:.1f} ± 0.0." in out


def test_a_score(run_cli, log, save, tiny, tmp_path):
    data = save(tmp_path / "hopper_mine.npz", log(obs=11, action=3))
    arguments = ("train", "bc", data, "--out", "run", *tiny, "--eval-episodes", 1)
    code, out, _ = run_cli(*arguments)
    assert code == 0
    assert (
        f"Last score {Run.open('run').lines('metrics.jsonl')[-1]['score']:.1f} ± 0.0 (normalised)."
        in out
    )


def test_a_wrong_nested_setting_is_one_sentence(run_cli):
    code, out, err = run_cli("train", "count-morl", "log.npz", "--sac.actor-rate", "-1")
    assert (code, out) == (2, "")
    assert err == "countmorl: `actor_rate` must be a number above 0, got -1.\n"


def test_without_evaluations_it_says_why(run_cli, trained, tiny):
    arguments = ("train", "bc", trained / "log.hdf5", "--out", "run", *tiny, "--eval-every", 0)
    assert "Not simulated, since --eval-every is 0." in run_cli(*arguments)[1]


@pytest.mark.parametrize(
    "before",
    [
        (),
        ("--preset", "paper"),
        ("--preset=paper", "--out", "walker2d-medium-v2"),
        ("--json", "--sac.no-normalize"),
        ("--sac.hidden", "8", "8", "--seed", "3"),
        ("--log", "tensorboard", "wandb"),
    ],
)
def test_a_preset_finds_the_data_among_the_options(before):
    """Hopper's published weight is 5, Walker2d's 0.5."""
    wanted = ["train", "mopo", *before, "hopper-medium-v2", "--preset", "paper"]
    command = commands(wanted)["train mopo"]
    assert command.__kwdefaults__["config"].weight == 5


@pytest.mark.parametrize("rest", [("--help",), ()])
def test_a_preset_without_data_shows_help_or_asks_for_data(run_cli, rest):
    code, out, err = run_cli("train", "mopo", "--preset", "paper", *rest)
    assert code == (0 if rest else 2)
    assert "DATA" in out + err
    assert "No settings" not in out + err


def test_a_file_whose_name_begins_with_a_number_is_data():
    with pytest.raises(ConfigError, match=r"published for '2024_hopper_medium\.hdf5'"):
        commands(["train", "mopo", "2024_hopper_medium.hdf5", "--preset", "paper"])


def test_a_preset_is_never_left_away_in_silence(run_cli):
    """A number is taken for the value of an option that has several."""
    code, out, err = run_cli("train", "mopo", "2024", "--preset", "paper")
    assert (code, out) == (2, "")
    assert "--preset paper was not found to be for '2024'. Put DATA before" in err


def test_a_preset_can_be_tried_on_a_shared_model(run_cli, monkeypatch):
    """The preset's way of fitting one is not asked for; what the user says of it is."""
    asked = []
    monkeypatch.setattr(cli_train, "train", lambda config, *_, **__: asked.append(config))
    monkeypatch.setattr(cli_train, "finish", lambda work, _: work() or 0)
    words = ("train", "mopo", "hopper-medium-v2", "--preset", "paper", "--model", "shared")
    assert run_cli(*words)[0] == run_cli(*words, "--model.width", "9")[0] == 0
    assert [config.weight for config in asked] == [5, 5]
    assert asked[0].model == EnsembleConfig()
    assert asked[1].model.width == 9
    assert asked[1].model.learning_rate == 1e-3


def test_help_tells_the_idea_and_where_the_presets_come_from(run_cli):
    code, out, _ = run_cli("train", "mopo", "--help")
    assert code == 0
    said = " ".join(out.split())
    assert "lower the model's rewards where the model is uncertain" in said
    assert "OfflineRL-Kit for v2" in said


@pytest.mark.parametrize("words", [("--estimate", "AVG"), ("--estimate=AVG",)])
def test_the_papers_beta_follows_the_estimate_that_was_asked_for(words):
    """On HalfCheetah medium-expert the paper has a beta of 3 for UC and of 1 for AVG."""
    wanted = ["train", "count-morl", "halfcheetah-medium-expert-v2", "--preset", "paper"]
    assert commands(wanted)["train count-morl"].__kwdefaults__["config"].beta == 3
    assert commands([*wanted, *words])["train count-morl"].__kwdefaults__["config"].beta == 1
