from dataclasses import replace

import numpy as np
import pytest

from countmorl import Policy, load
from countmorl.agents.sac_config import SACConfig
from countmorl.collecting import recipe
from countmorl.collecting.online import OnlineConfig
from countmorl.collecting.recipe import make_recipe, threshold
from countmorl.envs.tasks import TASKS, find_task
from countmorl.errors import ConfigError

GOALS = {"until": -1e9, "until_expert": -1e9}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    def config(until, max_epochs):
        sac = SACConfig(hidden=(8, 8), average_share=0.0)
        return OnlineConfig(
            until=until, max_epochs=3, steps=30, random_steps=30, batch=8, episodes=1, sac=sac
        )

    monkeypatch.setattr(recipe, "OnlineConfig", config)


def make(out, name="medium-replay", goals=None):
    task = find_task("Pendulum-v1")
    return make_recipe(task, name, out, rows=40, seed=0, goals=goals or GOALS, quiet=True)


def test_replay_holds_every_step_in_order_and_cuts_are_not_terminations(tmp_path):
    dataset = load(make(tmp_path / "a", goals=GOALS | {"until": 1e9}))  # Never good enough.
    assert len(dataset) == 90
    assert not dataset.terminated.any()
    np.testing.assert_array_equal(np.flatnonzero(dataset.truncated), [29, 59, 89])
    inside = np.setdiff1d(np.arange(90), [29, 59, 89])
    np.testing.assert_array_equal(dataset.next_obs[inside], dataset.obs[inside + 1])
    assert np.abs(dataset.action).max() <= 2
    assert dataset.task.env_id == "Pendulum-v1"


def test_training_stops_when_the_policy_is_good_enough(tmp_path):
    assert len(load(make(tmp_path / "a"))) == 30


@pytest.mark.parametrize("name", ["random", "medium", "expert", "medium-expert"])
def test_every_recipe_writes_its_rows_and_policies(tmp_path, name):
    path = make(tmp_path / "a", name)
    assert len(load(path)) == 40
    levels = [level for level in ("medium", "expert") if level in name]
    for level in levels:
        assert Policy.load(tmp_path / "a" / f"{level}-policy.safetensors").action_dim == 1


def test_repeating_the_command_goes_on_and_gives_the_same_data(tmp_path, monkeypatch):
    whole = load(make(tmp_path / "whole", goals=GOALS | {"until": 1e9}))
    append, lines = recipe.Run.append, 0

    def dying(self, file_name, record):
        nonlocal lines
        append(self, file_name, record)
        lines += file_name == "metrics.jsonl"
        if lines == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(recipe.Run, "append", dying)
    with pytest.raises(KeyboardInterrupt):
        make(tmp_path / "b", goals=GOALS | {"until": 1e9})
    monkeypatch.setattr(recipe.Run, "append", append)
    assert load(make(tmp_path / "b", goals=GOALS | {"until": 1e9})).hash == whole.hash


def test_another_recipe_in_the_same_folder_is_refused(tmp_path):
    make(tmp_path / "a")
    with pytest.raises(ConfigError, match=r"holds other data \(recipe: .*'medium-replay'"):
        make(tmp_path / "a", "random")


def test_it_is_no_run_to_be_resumed(tmp_path, run_cli):
    make(tmp_path / "a", "random")
    code, _, err = run_cli("resume", tmp_path / "a")
    assert (code, "repeat its command" in err) == (2, True)
    assert run_cli("compare", tmp_path / "a")[0] == 0


def test_thresholds_are_shares_of_the_reference_range():
    hopper = TASKS["hopper"]
    np.testing.assert_allclose(threshold(hopper, None, "medium"), -20.272305 + 0.4 * 3254.572305)
    np.testing.assert_allclose(threshold(hopper, 0.5, "medium"), -20.272305 + 0.5 * 3254.572305)
    plain = replace(hopper, reference=None)
    assert threshold(plain, -300.0, "medium") == -300
    with pytest.raises(ConfigError, match="which return to reach"):
        threshold(plain, None, "medium")
