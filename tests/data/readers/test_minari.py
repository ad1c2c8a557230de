import importlib.metadata
import json
import re
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from countmorl.data.readers.minari import read_minari
from countmorl.data.sources import load
from countmorl.envs.tasks import TASKS, Task
from countmorl.errors import DataError, MissingExtraError

minari = pytest.importorskip("minari")
gymnasium = pytest.importorskip("gymnasium")

EPISODES = 12  # More than ten, so that an order by name ("episode_10" < "episode_2") would show.
LENGTHS = [2 + episode % 3 for episode in range(EPISODES)]


def observation(episode, step):
    return [100 * episode + step, step, -step]


def buffers():
    """Episode i has 2 + i % 3 steps; even ones fall, odd ones are cut."""
    for episode, steps in enumerate(LENGTHS):
        last = [False] * (steps - 1) + [True]
        yield minari.data_collector.EpisodeBuffer(
            id=episode,
            observations=np.array([observation(episode, t) for t in range(steps + 1)], np.float64),
            actions=np.full((steps, 1), episode / 10, np.float32),
            rewards=[float(episode)] * steps,
            terminations=last if episode % 2 == 0 else [False] * steps,
            truncations=last if episode % 2 else [False] * steps,
            infos={},
        )


def create(name, *, env="Pendulum-v1", high=2.0):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # It asks for an author, a permalink and the like.
        minari.create_dataset_from_buffers(
            name,
            list(buffers()),
            env=env,
            observation_space=gymnasium.spaces.Box(-np.inf, np.inf, (3,), np.float64),
            action_space=gymnasium.spaces.Box(-high, high, (1,), np.float32),
        )


@pytest.fixture
def dataset():
    create("test/toy-v0")
    return load("minari:test/toy-v0")


def test_episodes_come_in_their_order(dataset):
    assert (len(dataset), len(dataset.episode_ends)) == (sum(LENGTHS), EPISODES)
    wanted = [observation(e, t) for e, steps in enumerate(LENGTHS) for t in range(steps)]
    assert dataset.obs.tolist() == wanted
    assert dataset.reward.tolist() == [e for e, steps in enumerate(LENGTHS) for _ in range(steps)]


def test_next_observations_are_true_at_every_edge(dataset):
    wanted = [observation(e, t + 1) for e, steps in enumerate(LENGTHS) for t in range(steps)]
    assert dataset.next_obs.tolist() == wanted
    assert dataset.next_known.all()


def test_terminations_are_not_truncations(dataset):
    ends = np.cumsum(LENGTHS) - 1
    assert dataset.episode_ends.tolist() == ends.tolist()
    assert np.flatnonzero(dataset.terminated).tolist() == ends[0::2].tolist()
    assert np.flatnonzero(dataset.truncated).tolist() == ends[1::2].tolist()


def test_types_bounds_name_and_task(dataset):
    assert dataset.obs.dtype == np.float32
    assert (dataset.space.low.tolist(), dataset.space.high.tolist()) == ([-2], [2])
    assert dataset.name == "minari:test/toy-v0"
    assert dataset.task == Task(name="Pendulum-v1", env_id="Pendulum-v1", horizon=200)


def test_a_v5_environment_never_gets_d4rls_scores():
    create("test/hopper-v0", env="Hopper-v5")
    task = read_minari("test/hopper-v0").task
    assert task is TASKS["hopper-v5"]
    assert task.score(1000.0) is None


def test_nothing_is_printed(dataset, capsys):
    load("minari:test/toy-v0")
    assert capsys.readouterr() == ("", "")


def test_unbounded_actions_are_scaled_to_numbers():
    create("test/unbounded-v0", high=np.inf)
    assert np.isfinite(load("minari:test/unbounded-v0").transitions().action).all()


@pytest.mark.parametrize("error", [ValueError("No such dataset.\nmore"), OSError("no network")])
def test_what_minari_refuses_is_said_in_a_sentence(error, monkeypatch):
    def refuse(*args, **kwargs):
        raise error

    monkeypatch.setattr(minari, "download_dataset", refuse)
    first = str(error).splitlines()[0]
    with pytest.raises(DataError, match=f"'a/b-v0' could not be loaded: {first}.*id right") as got:
        load("minari:a/b-v0")
    assert "\n" not in str(got.value)


def test_a_malformed_id_is_refused():
    with pytest.raises(DataError, match="could not be loaded"):
        load("minari:not an id")


def fake(monkeypatch, episodes, space=None):
    """Let Minari give these episodes, as it does of data that are not in HDF5."""
    minari.storage.get_dataset_path("a/b-v0").joinpath("data").mkdir(parents=True)

    class Fake:
        action_space = space or gymnasium.spaces.Box(-1, 1, (1,))

        def iterate_episodes(self):
            return iter(episodes)

    monkeypatch.setattr(minari, "load_dataset", lambda *args, **kwargs: Fake())


def test_structured_observations_become_columns_with_names(monkeypatch):
    episode = SimpleNamespace(
        observations={"position": np.arange(6.0).reshape(3, 2), "goal": np.ones(3)},
        actions=np.zeros((2, 1)),
        rewards=np.zeros(2),
        terminations=np.array([False, True]),
        truncations=np.zeros(2, bool),
        infos={"camera": np.zeros(3)},
    )
    fake(monkeypatch, [episode])
    dataset = load("minari:a/b-v0")
    assert dataset.obs_names == ("position.0", "position.1", "goal")
    assert dataset.next_obs.tolist() == [[2, 3, 1], [4, 5, 1]]
    assert dataset.unused == ("infos",)


def test_other_actions_are_refused(monkeypatch):
    fake(monkeypatch, [], gymnasium.spaces.Text(3))
    with pytest.raises(DataError, match="has actions Text"):
        load("minari:a/b-v0")


def test_episodes_that_the_package_cannot_read(monkeypatch):
    def broken():
        yield {"observations": np.zeros((2, 1))}["rewards"]

    fake(monkeypatch, broken())
    with pytest.raises(DataError, match="'a/b-v0' could not be loaded: 'rewards'"):
        load("minari:a/b-v0")


@pytest.mark.parametrize("kind", ["MultiDiscrete", "Text", "Discrete"])
def test_other_actions_of_a_stored_dataset_are_refused(kind):
    create("test/toy-v0")
    about = minari.storage.get_dataset_path("test/toy-v0") / "data" / "metadata.json"
    space = json.dumps({"type": kind, "start": 1, "n": 3})
    about.write_text(json.dumps(json.loads(about.read_text()) | {"action_space": space}))
    with pytest.raises(DataError, match=f"actions are of the kind {kind}; only vectors"):
        load("minari:test/toy-v0")


def test_a_damaged_file_is_said_in_a_sentence():
    create("test/toy-v0")
    path = minari.storage.get_dataset_path("test/toy-v0") / "data" / "main_data.hdf5"
    path.write_bytes(path.read_bytes()[:3000])
    with pytest.raises(DataError, match="not a readable HDF5 file"):
        load("minari:test/toy-v0")


def test_without_episodes(monkeypatch):
    fake(monkeypatch, [])
    with pytest.raises(DataError, match="no episodes"):
        load("minari:a/b-v0")


def test_without_the_package_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "minari", None)
    with pytest.raises(MissingExtraError, match=r"pip install \"countmorl\[minari\]\""):
        load("minari:a/b-v0")


def test_the_extra_brings_what_the_default_remote_needs():
    requirements = importlib.metadata.requires("countmorl") or []
    (line,) = [r for r in requirements if re.match(r"minari\[.*extra == .minari\b", r)]
    assert "hf" in line.split("]")[0]
