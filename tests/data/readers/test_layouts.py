import json

import h5py
import numpy as np
import pytest

from countmorl.data.sources import load
from countmorl.errors import DataError

LENGTHS = [2 + episode % 3 for episode in range(12)]  # More than ten: an order by name would show.


def obs_of(episode, rows):
    return np.stack([np.full(rows, 100.0 * episode), np.arange(float(rows))], axis=1)


@pytest.fixture
def minari_file(tmp_path):
    with h5py.File(tmp_path / "main_data.hdf5", "w") as file:
        for number, steps in enumerate(LENGTHS):
            group = file.create_group(f"episode_{number}")
            last = np.arange(steps) == steps - 1
            group["observations"] = obs_of(number, steps + 1)
            group["actions"] = np.full((steps, 1), number / 20)
            group["rewards"] = np.full(steps, float(number))
            group["terminations"] = last & (number % 2 == 0)
            group["truncations"] = last & (number % 2 == 1)
            group["infos/camera"] = np.zeros(steps + 1)
    return tmp_path / "main_data.hdf5"


@pytest.fixture
def d3rlpy_file(tmp_path):
    with h5py.File(tmp_path / "buffer.h5", "w") as file:
        file["columns"] = ["observations", "actions", "rewards", "terminated"]
        file["num_episodes"] = len(LENGTHS)
        file["version"] = "2.1"
        for number, steps in enumerate(LENGTHS):
            file[f"observations_{number}"] = obs_of(number, steps)
            file[f"actions_{number}"] = np.full((steps, 1), number / 20)
            file[f"rewards_{number}"] = np.full((steps, 1), float(number))
            file[f"terminated_{number}"] = number % 2 == 0
            file[f"embeddings_{number}"] = np.zeros(steps)
    return tmp_path / "buffer.h5"


class TestMinari:
    def test_episodes_in_their_order_with_final_observations(self, minari_file):
        dataset = load(minari_file)
        ends = np.cumsum(LENGTHS) - 1
        assert dataset.reward.tolist() == [
            n for n, steps in enumerate(LENGTHS) for _ in range(steps)
        ]
        assert dataset.episode_ends.tolist() == ends.tolist()
        assert np.flatnonzero(dataset.terminated).tolist() == ends[0::2].tolist()
        assert np.flatnonzero(dataset.truncated).tolist() == ends[1::2].tolist()
        assert dataset.next_known.all()
        assert dataset.next_obs[ends, 1].tolist() == LENGTHS
        assert dataset.unused == ("episode_*/infos",)

    def test_its_own_description_gives_task_and_bounds(self, minari_file):
        about = {
            "env_spec": json.dumps({"id": "Pendulum-v1", "max_episode_steps": 200}),
            "action_space": json.dumps({"type": "Box", "low": [-2.0], "high": [2.0]}),
        }
        minari_file.with_name("metadata.json").write_text(json.dumps(about))
        dataset = load(minari_file)
        assert (dataset.task.env_id, dataset.space.high.tolist()) == ("Pendulum-v1", [2])
        minari_file.with_name("metadata.json").unlink()
        with h5py.File(minari_file, "a") as file:
            file.attrs.update(about)
        assert load(minari_file).hash == dataset.hash

    @pytest.mark.parametrize("text", ["", "[]", '{"env_spec": 3}', '{"env_spec": "{}"}', "\xff"])
    def test_a_description_that_says_nothing(self, minari_file, text):
        minari_file.with_name("metadata.json").write_text(text)
        assert load(minari_file).task is None

    def test_discrete_actions(self, minari_file):
        with h5py.File(minari_file, "a") as file:
            file.attrs["env_spec"] = "{}"
            file.attrs["action_space"] = json.dumps({"type": "Discrete", "n": 5, "start": 0})
            for number, steps in enumerate(LENGTHS):
                del file[f"episode_{number}/actions"]
                file[f"episode_{number}/actions"] = np.full(steps, number % 3)
        dataset = load(minari_file)
        assert (dataset.discrete, dataset.action_dim) == (True, 5)

    def test_observations_in_groups_keep_their_names(self, minari_file):
        with h5py.File(minari_file, "a") as file:
            for number, steps in enumerate(LENGTHS):
                del file[f"episode_{number}/observations"]
                file[f"episode_{number}/observations/goal"] = np.ones(steps + 1)
                file[f"episode_{number}/observations/place"] = obs_of(number, steps + 1)
        assert load(minari_file).obs_names == ("goal", "place.0", "place.1")

    def test_links_and_other_things_are_refused(self, minari_file):
        with h5py.File(minari_file, "a") as file:
            file["episode_12"] = np.zeros(3)
        with pytest.raises(DataError, match=r"`episode_12`.*is an array"):
            load(minari_file)
        with h5py.File(minari_file, "a") as file:
            del file["episode_12"]
            del file["episode_3/rewards"]
            file["episode_3/rewards"] = h5py.ExternalLink("/etc/hostname", "/x")
        with pytest.raises(DataError, match="links to other files"):
            load(minari_file)


class TestD3rlpy:
    def test_episodes_in_their_order(self, d3rlpy_file):
        dataset = load(d3rlpy_file)
        ends = np.cumsum(LENGTHS) - 1
        assert dataset.obs[ends, 0].tolist() == [100.0 * n for n in range(12)]
        assert np.flatnonzero(dataset.terminated).tolist() == ends[0::2].tolist()
        assert np.flatnonzero(dataset.truncated).tolist() == ends[1::2].tolist()
        assert np.flatnonzero(~dataset.next_known).tolist() == ends.tolist()
        assert dataset.unused == ("embeddings_*",)

    def test_an_episode_without_rewards(self, d3rlpy_file):
        with h5py.File(d3rlpy_file, "a") as file:
            del file["rewards_4"]
        with pytest.raises(DataError, match="Episode 4 has no `reward`"):
            load(d3rlpy_file)

    def test_several_arrays_of_observations(self, d3rlpy_file):
        with h5py.File(d3rlpy_file, "a") as file:
            file["observations_0_0"] = np.zeros(3)
        with pytest.raises(DataError, match="several arrays of observations"):
            load(d3rlpy_file)
