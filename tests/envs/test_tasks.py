import sys

import numpy as np
import pytest

from countmorl.envs import terminations
from countmorl.envs.tasks import (
    TASKS,
    Task,
    find_task,
    is_imported,
    mean_and_spread,
    task_of_env,
    task_of_file,
)
from countmorl.errors import ConfigError

SIMPLE = Task(name="simple", env_id="Simple-v0", reference=(-100.0, 300.0))


class TestScore:
    def test_by_hand(self):
        # 400 between the references: 0 and 100 points at them, 25 points a hundred apart.
        assert SIMPLE.score(-100) == 0
        assert SIMPLE.score(300) == 100
        assert SIMPLE.score(0) == 25
        assert SIMPLE.score(500) == 150

    def test_a_spread_is_scaled_and_never_shifted(self):
        assert SIMPLE.score_spread(0) == 0
        assert SIMPLE.score_spread(40) == 10
        assert SIMPLE.score_spread(300) == 75

    @pytest.mark.parametrize(
        ("name", "low", "high"),
        [
            ("halfcheetah", -280.178953, 12135.0),
            ("hopper", -20.272305, 3234.3),
            ("walker2d", 1.629008, 4592.3),
        ],
    )
    def test_references_are_d4rls(self, name, low, high):
        task = TASKS[name]
        assert task.score(low) == 0
        assert task.score(high) == pytest.approx(100)
        assert task.score_spread(high - low) == pytest.approx(100)

    def test_without_references_there_is_none(self):
        task = TASKS["hopper-v5"]
        assert task.score(3000.0) is None
        assert task.score_spread(10.0) is None


class TestTable:
    def test_names_and_environments(self):
        assert {name: task.env_id for name, task in TASKS.items()} == {
            "halfcheetah": "HalfCheetah-v4",
            "halfcheetah-v5": "HalfCheetah-v5",
            "hopper": "Hopper-v4",
            "hopper-v5": "Hopper-v5",
            "walker2d": "Walker2d-v4",
            "walker2d-v5": "Walker2d-v5",
        }

    @pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
    def test_agrees_with_gymnasium(self, task):
        import warnings

        gymnasium = pytest.importorskip("gymnasium")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            env = gymnasium.make(task.env_id)
        sizes = (env.observation_space.shape[0], env.action_space.shape[0])
        assert sizes == task.dims
        assert env.spec.max_episode_steps == task.horizon
        np.testing.assert_array_equal(env.action_space.high, 1)
        np.testing.assert_array_equal(env.action_space.low, -1)
        env.close()

    @pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
    def test_terminations_exist(self, task):
        assert callable(getattr(terminations, task.termination))


class TestFind:
    @pytest.mark.parametrize("name", ["hopper", "Hopper-v4"])
    def test_by_name_and_by_id(self, name):
        assert find_task(name) is TASKS["hopper"]

    def test_v5_is_another_task(self):
        assert find_task("Hopper-v5") is TASKS["hopper-v5"]

    def test_any_gymnasium_id(self):
        task = find_task("Pendulum-v1")
        assert task == Task(name="Pendulum-v1", env_id="Pendulum-v1", horizon=200)
        assert task.score(1.0) is None

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("hoper", "No task named 'hoper'. Did you mean 'hopper'"),
            ("Pendulum-v9", "No task named 'Pendulum-v9'. Did you mean 'Pendulum-v1'"),
            ("Nowhere-v0", "any Gymnasium id"),
            ("not an id", "any Gymnasium id"),
            ("countmorl/Clif-v0", "Did you mean 'countmorl/Cliff-v0'"),
            ("no_such_module:Env-v0", "'no_such_module:Env-v0' could not be imported.*module:Env"),
            (".relative:Env-v0", "could not be imported"),
            ("json:Env-v0", "No task named 'json:Env-v0'"),
        ],
    )
    def test_an_unknown_name(self, name, words):
        with pytest.raises(ConfigError, match=words):
            find_task(name)

    def test_without_gymnasium(self, monkeypatch):
        monkeypatch.setattr("countmorl.envs.tasks.installed", lambda module: False)
        assert find_task("hopper") is TASKS["hopper"]
        with pytest.raises(ConfigError, match=r"pip install \"countmorl\[mujoco\]\""):
            find_task("Pendulum-v1")


@pytest.fixture
def stranger(monkeypatch, tmp_path):
    """A module that registers an environment when it is imported, which is noted."""
    (tmp_path / "stranger_envs.py").write_text(
        "import gymnasium\n"
        "from gymnasium.envs.classic_control import PendulumEnv\n"
        "if 'Stranger-v0' not in gymnasium.registry:\n"
        "    gymnasium.register('Stranger-v0', entry_point=PendulumEnv, max_episode_steps=9)\n"
    )
    gymnasium = pytest.importorskip("gymnasium")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "stranger_envs", raising=False)
    yield "stranger_envs"
    gymnasium.registry.pop("Stranger-v0", None)


class TestOwnEnvironment:
    def test_the_user_names_its_module(self, stranger):
        task = find_task("stranger_envs:Stranger-v0")
        assert task == Task(name="Stranger-v0", env_id="stranger_envs:Stranger-v0", horizon=9)
        assert stranger in sys.modules
        assert task.available()
        assert task_of_env("stranger_envs:Stranger-v0") == task

    @pytest.mark.parametrize("env_id", ["stranger_envs:Stranger-v0", "stranger_envs:CartPole-v1"])
    def test_no_file_makes_it_import(self, stranger, env_id):
        """Not even where the environment itself is known without it."""
        task = task_of_env(env_id, 7)
        assert task == Task(name=env_id, env_id=env_id, horizon=7)
        assert not task.available()
        assert stranger not in sys.modules


class TestAvailable:
    @pytest.mark.parametrize(
        ("present", "hopper", "pendulum"),
        [
            ({"gymnasium", "mujoco"}, True, True),
            ({"gymnasium"}, False, True),
            ({"mujoco"}, False, False),
            (set(), False, False),
        ],
    )
    def test_depends_on_what_is_installed(self, monkeypatch, present, hopper, pendulum):
        monkeypatch.setattr("countmorl.envs.tasks.installed", present.__contains__)
        assert TASKS["hopper"].available() is hopper
        assert Task(name="p", env_id="Pendulum-v1").available() is pendulum
        # Grid worlds are simulated wherever Gymnasium is.
        assert Task(name="c", env_id="countmorl/Cliff-v0").available() is pendulum

    def test_what_nobody_has_registered_is_not(self):
        assert not Task(name="x", env_id="Nowhere-v0").available()
        assert not Task(name="x", env_id="countmorl/Nowhere-v0").available()


class TestOfEnv:
    def test_a_task_of_the_table(self):
        assert task_of_env("Hopper-v4") is TASKS["hopper"]

    def test_one_that_can_be_simulated_knows_its_limit(self):
        assert task_of_env("Pendulum-v1", 5).horizon == 200
        assert task_of_env("countmorl/Cliff-v0").horizon == 100

    def test_one_that_cannot_is_kept_by_its_name(self):
        assert task_of_env("Nowhere-v0", 5) == Task(
            name="Nowhere-v0", env_id="Nowhere-v0", horizon=5
        )


class TestOfFile:
    @pytest.mark.parametrize(
        ("stem", "dims", "name"),
        [
            ("hopper_medium-v2", (11, 3), "hopper"),
            ("hopper-random", (11, 3), "hopper"),
            ("Hopper_Mine", (11, 3), "hopper"),
            ("walker2d_medium", (17, 6), "walker2d"),
            ("halfcheetah_mixed", (17, 6), "halfcheetah"),
            ("hopper_medium", (17, 6), None),
            ("hopperlike", (11, 3), None),
            ("my_hopper_log", (11, 3), None),
        ],
    )
    def test_by_name_and_sizes(self, stem, dims, name):
        assert task_of_file(stem, dims) is (TASKS[name] if name else None)

    @pytest.mark.parametrize("stem", ["hopper-v5_mine", "hopper-v5-mine"])
    def test_v5_data_is_never_judged_by_d4rls_scores(self, stem):
        assert task_of_file(stem, (11, 3)) is TASKS["hopper-v5"]


def test_a_module_is_imported_or_not_asked_for():
    assert is_imported("")
    assert is_imported("json")
    assert not is_imported("no_such_module")


def test_mean_and_spread_by_hand():
    # Deviations -2, 0, 2 from 3: variance 8 / 3.
    assert mean_and_spread([1, 3, 5]) == (3, pytest.approx((8 / 3) ** 0.5))
    assert mean_and_spread([7.5]) == (7.5, 0)
