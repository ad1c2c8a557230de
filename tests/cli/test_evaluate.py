import json
import sys

import numpy as np
import pytest

from countmorl import Policy, evaluate
from countmorl.files import read_arrays, write_arrays
from countmorl.runtime.tabular import TabularPolicy


@pytest.fixture
def pendulum(run_cli, log, save, tiny, tmp_path):
    data = save(tmp_path / "log.hdf5", log(action=1), env_id="Pendulum-v1")
    assert run_cli("train", "bc", data, "--out", "run", *tiny, "--eval-every", 0)[0] == 0
    return tmp_path / "run"


def test_json(run_cli, pendulum):
    arguments = ("evaluate", pendulum, "--episodes", 2, "--seed", 5, "--json")
    code, out, err = run_cli(*arguments)
    assert (code, err) == (0, "")
    wanted = evaluate(Policy.load(pendulum), "Pendulum-v1", episodes=2, seed=5)
    assert json.loads(out) == {
        "run": str(pendulum),
        "task": "Pendulum-v1",
        "seed": 5,
        "episodes": 2,
        "score": None,
        "score_std": None,
        **wanted.facts,
        "interval": list(wanted.interval),
        "made_by": "2 episodes played in Pendulum-v1",
    }
    assert run_cli(*arguments)[1] == out


def test_text(run_cli, pendulum):
    code, out, _ = run_cli("evaluate", pendulum / "policy.safetensors", "--episodes", 1)
    assert code == 0
    assert "task      Pendulum-v1 (Pendulum-v1)" in out
    assert "score     no reference known" in out
    assert "length    200.0" in out
    assert "episodes  1" in out
    assert "lies within" not in out  # One episode says nothing about the others.


def test_a_score_and_how_sure_it_is(run_cli, log, save, tiny, tmp_path):
    data = save(tmp_path / "hopper_mine.npz", log(obs=11, action=3))
    assert run_cli("train", "bc", data, "--out", "run", *tiny, "--eval-every", 0)[0] == 0
    _, out, _ = run_cli("evaluate", "run", "--episodes", 2, "--json")
    facts = json.loads(out)
    _, out, _ = run_cli("evaluate", "run", "--episodes", 2)
    assert f"score     {facts['score']:.1f} ± {facts['score_std']:.1f}" in out
    low, high = facts["interval"]
    assert f"(its mean lies within {low:.1f} and {high:.1f})" in out


def test_a_policy_without_a_task_needs_one(run_cli, finished):
    code, _, err = run_cli("evaluate", finished)
    assert (code, err.count("\n")) == (2, 1)
    assert "without a known environment. Name one with --task." in err


def test_a_tabular_run_plays_in_its_grid_world(run_cli, tabular):
    code, out, err = run_cli("evaluate", tabular / "run", "--episodes", 2)
    assert (code, err) == (0, "")
    assert "task      countmorl/Cliff-v0 (countmorl/Cliff-v0)" in out
    policy = TabularPolicy.load(tabular / "run")
    facts = evaluate(policy, "countmorl/Cliff-v0", episodes=2).facts
    assert f"return    {facts['return']:.1f} ± 0.0" in out
    assert facts["return"] in (-1, 0, 1)


class TestOwnEnvironment:
    def test_the_user_names_it(self, run_cli, trained, own_env):
        arguments = ("evaluate", trained / "run", "--task", own_env, "--episodes", 3)
        code, out, err = run_cli(*arguments)
        assert (code, err) == (0, "")
        assert "task      Own-v0 (own_envs:Own-v0)" in out
        assert "return    10.0 ± 0.0 (its mean lies within 10.0 and 10.0)" in out
        assert "length    5.0" in out

    def test_a_policys_file_does_not(self, run_cli, trained, own_env, tmp_path):
        arrays, meta = read_arrays(trained / "run" / "policy.safetensors")
        for task in (own_env, "own_envs:CartPole-v1"):
            named = meta | {"info": meta["info"] | {"task": task}}
            write_arrays(tmp_path / "policy.safetensors", arrays, named)
            code, _, err = run_cli("evaluate", "policy.safetensors")
            assert (code, err.count("\n")) == (2, 1)
            assert "for which a module would be imported. If you trust it, name it" in err
        assert "own_envs" not in sys.modules
        assert run_cli("evaluate", "policy.safetensors", "--task", own_env)[0] == 0

    @pytest.mark.parametrize("task", [3, ["Pendulum-v1"], {}])
    def test_what_is_no_name_names_nothing(self, run_cli, trained, tmp_path, task):
        arrays, meta = read_arrays(trained / "run" / "policy.safetensors")
        named = meta | {"info": meta["info"] | {"task": task}}
        write_arrays(tmp_path / "p", arrays, named)
        code, _, err = run_cli("evaluate", "p")
        assert (code, "Name one with --task" in err) == (2, True)


def test_a_kept_policy_is_evaluated_like_any_other(run_cli, log, save, tiny, tmp_path):
    data = save(tmp_path / "log.hdf5", log(action=1))
    options = ("--eval-every", 2, "--out", "run")
    assert run_cli("train", "bc", data, *tiny, *options)[0] == 0
    path = "run/policies/epoch-2.safetensors"
    words = ("evaluate", path, "--task", "Pendulum-v1", "--episodes", 1, "--json")
    code, out, _ = run_cli(*words)
    assert code == 0
    assert np.isfinite(json.loads(out)["return"])
