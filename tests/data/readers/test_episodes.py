from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from countmorl.data.dataset import Dataset
from countmorl.data.readers.episodes import read_episodes
from countmorl.data.sources import load
from countmorl.errors import DataError
from countmorl.runs.options import DataOptions


def episode(steps=3, *, start=0.0, final=True, **more):
    """An episode whose observations count on; with the final one, or without."""
    obs = start + np.arange(2.0 * (steps + final)).reshape(-1, 2)
    return {
        "observations": obs,
        "actions": np.linspace(-0.5, 0.5, steps)[:, None],
        "rewards": np.arange(1.0, steps + 1),
        **more,
    }


def at(flag):
    return np.flatnonzero(flag).tolist()


class TestDictionaries:
    def test_with_final_observations_every_next_one_is_known(self):
        dataset = load([episode(terminated=True), episode(2, start=100.0, terminated=False)])
        assert dataset.next_known.all()
        assert dataset.obs[:, 0].tolist() == [0, 2, 4, 100, 102]
        assert dataset.next_obs[:, 0].tolist() == [2, 4, 6, 102, 104]
        assert (at(dataset.terminated), at(dataset.truncated)) == ([2], [4])
        assert dataset.episode_ends.tolist() == [2, 4]
        assert dataset.name == "episodes"

    def test_without_them_the_last_one_is_unknown(self):
        dataset = load([episode(final=False), episode(2, final=False)])
        assert dataset.next_known.tolist() == [True, True, False, True, False]
        assert at(dataset.truncated) == [2, 4]

    def test_both_kinds_side_by_side(self):
        dataset = load([episode(final=False), episode(2, start=50.0)])
        assert dataset.next_known.tolist() == [True, True, False, True, True]
        assert dataset.next_obs[:, 0].tolist() == [2, 4, 4, 52, 54]

    def test_next_observations_of_ones_own(self):
        log = episode(final=False)
        dataset = load([log | {"next_obs": log["observations"] + 9}])
        assert dataset.next_obs[:, 0].tolist() == [9, 11, 13]

    def test_flags_for_every_step(self):
        flags = {"terminations": [False, False, True], "truncations": [False] * 3}
        assert at(load([episode(**flags)]).terminated) == [2]

    def test_done_asks_as_everywhere(self):
        with pytest.raises(DataError, match="--done"):
            load([episode(done=[False, False, True])])
        assert at(load([episode(done=True)], done="terminated").terminated) == [2]
        assert at(load([episode(done=True)], done="ended").truncated) == [2]

    def test_one_column_may_be_flat_and_lists_will_do(self):
        dataset = load([{"obs": [1.0, 2.0, 3.0], "action": [0.1, 0.2], "reward": [1, 2]}])
        assert (dataset.obs.shape, dataset.action.shape) == ((2, 1), (2, 1))

    def test_what_is_not_used_is_named_once(self, capsys):
        episodes = [episode(infos={"x": 1}, seed=3), episode(infos={})]
        assert load(episodes).unused == ("infos", "seed")
        assert "not used: infos, seed." in capsys.readouterr().err


class TestNames:
    def test_dictionaries_of_columns_keep_their_names(self):
        obs = {
            "speed": np.arange(4.0),
            "arm": {"angle": np.ones((4, 2)), "on": np.array([True] * 4)},
        }
        log = episode() | {"observations": obs, "actions": {"valve": [0.0, 2.0, 1.0]}}
        dataset = load([log, log])
        assert dataset.obs_names == ("speed", "arm.angle.0", "arm.angle.1", "arm.on")
        assert dataset.action_names == ("valve",)
        assert dataset.obs[1].tolist() == [1, 1, 1, 1]

    def test_discrete_actions_beside_named_observations(self):
        log = episode() | {"observations": {"x": np.arange(4.0)}, "actions": [0, 1, 2]}
        dataset = load([log])
        assert (dataset.discrete, dataset.action_names) == (
            True,
            ("0", "1", "2"),
        )

    def test_columns_that_differ_are_said(self):
        one = episode() | {"observations": {"x": np.zeros(4)}}
        other = episode() | {"observations": {"y": np.zeros(4)}}
        with pytest.raises(
            DataError, match="`obs` of episode 1 has the columns y, but the first one has x"
        ):
            load([one, other])
        with pytest.raises(DataError, match="without names"):
            load([one, episode()])


@dataclass
class EpisodeData:
    """What Minari's and d3rlpy's episodes look like."""

    id: int
    observations: Any
    actions: Any
    rewards: Any
    terminations: Any
    truncations: Any
    infos: Any


def test_objects_with_attributes():
    last, never = np.array([False, False, True]), np.zeros(3, bool)
    log = episode()
    parts = (log["observations"], log["actions"], log["rewards"])
    episodes = [EpisodeData(i, *parts, last, never, {"q": [1]}) for i in range(2)]
    dataset = load(episodes)
    assert (at(dataset.terminated), dataset.unused) == ([2, 5], ("infos",))


class TestSteps:
    def steps(self, rewards=(1.0, 2.0, 0.0), actions=(0.3, -0.3, 0.0), terminal=True):
        """Three steps as RLDS has them: the last one is the final observation."""
        count = len(rewards)
        return {
            "observation": {"x": np.arange(float(count)), "v": np.ones(count)},
            "action": np.array(actions)[:, None],
            "reward": np.array(rewards),
            "discount": np.ones(count),
            "is_first": np.arange(count) == 0,
            "is_last": np.arange(count) == count - 1,
            "is_terminal": (np.arange(count) == count - 1) & terminal,
        }

    def test_an_empty_last_step_is_the_final_observation(self):
        episodes = [{"steps": self.steps()}, {"steps": self.steps(terminal=False)}]
        dataset = load(episodes)
        assert dataset.obs[:, 0].tolist() == [0, 1, 0, 1]
        assert dataset.next_obs[:, 0].tolist() == [1, 2, 1, 2]
        assert dataset.reward.tolist() == [1, 2, 1, 2]
        assert (at(dataset.terminated), at(dataset.truncated)) == ([1], [3])
        assert any("a final observation" in note for note in dataset.notes)
        assert (dataset.obs_names, dataset.unused) == (("x", "v"), ("discount",))

    def test_a_last_step_that_was_acted_in_is_a_step(self):
        dataset = load([{"steps": self.steps()}, {"steps": self.steps(rewards=(0, 0, 5.0))}])
        assert len(dataset) == 6
        assert at(dataset.terminated) == [2, 5]
        assert dataset.reward[5] == 5
        assert dataset.next_known.tolist() == [True, True, False] * 2

    def test_lists_of_steps(self):
        arrays = self.steps()
        nested = [
            {
                k: {n: v[i] for n, v in value.items()} if isinstance(value, dict) else value[i]
                for k, value in arrays.items()
            }
            for i in range(3)
        ]
        wanted = load([{"steps": arrays}])
        assert load([{"steps": nested}]).hash == wanted.hash
        assert load([nested]).hash == wanted.hash
        assert load({"steps": nested}).hash == wanted.hash

    def test_by_the_discount_alone(self):
        arrays = self.steps() | {"discount": np.array([1.0, 1.0, 0.0])}
        del arrays["is_terminal"]
        dataset = load([{"steps": arrays}])
        assert (at(dataset.terminated), dataset.unused) == ([1], ())

    def test_a_step_that_lacks_something(self):
        steps = [{"observation": 1.0, "action": 0.1, "reward": 0.0}, {"observation": 2.0}]
        with pytest.raises(DataError, match="Step 1 of episode 0 has no `action`"):
            load([steps])


@pytest.mark.parametrize(
    ("episodes", "words"),
    [
        ([], "has no episodes"),
        ([3], "Episode 0 is of type int; wanted a dictionary"),
        (["abc"], "Episode 0 is of type str"),
        (
            [episode(), {"observations": np.zeros((2, 2))}],
            "Episode 1 has no `action`.*got observations",
        ),
        (
            [episode(), episode(terminated=True)],
            "Episode 0 has no `terminated`, which episode 1 has",
        ),
        (
            [episode() | {"rewards": np.zeros(5)}],
            "`reward` of episode 0 has 5 rows but `action` has 3",
        ),
        ([episode() | {"observations": np.zeros((9, 2))}], "`obs` of episode 0 has 9 rows"),
        ([episode(), episode() | {"observations": np.zeros((4, 3))}], "`obs` of different sizes"),
        ([episode() | {"actions": np.zeros((0, 1)), "rewards": []}], "Episode 0 has no steps"),
        ([episode() | {"actions": ["left"] * 3}], "countmorl.from_table"),
        ([episode() | {"observations": [[1.0], [1.0, 2.0]]}], "rows of different lengths"),
        ([episode() | {"observations": {}}], "a dictionary with nothing in it"),
        ([episode(is_last=[])], "`ended` of episode 0 has 0 rows but `action` has 3"),
        ([episode(terminated="yes")], "`terminated` must hold only true and false"),
        ([episode() | {"actions": 3.0}], "Episode 0 has no steps"),
        ([episode() | {"rewards": 3.0}], "`reward` has shape"),
        ([episode() | {"obs": np.zeros(4)}], "Episode 0 holds two arrays of `obs`"),
    ],
)
def test_what_does_not_fit_is_named(episodes, words):
    with pytest.raises(DataError, match=words):
        load(episodes)


def test_what_is_known_of_all_episodes_is_added():
    fields = read_episodes(
        [episode()],
        name="mine",
        more={"action_low": np.array(-3.0), "action_high": np.array(3.0)},
        options=DataOptions(),
    )
    assert Dataset.of(fields).space.high.tolist() == [3]
    assert fields.name == "mine"
