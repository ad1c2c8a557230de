import re
from pathlib import Path

import pytest

from countmorl.data.names import D4RL, HOME, cache_folder
from countmorl.envs.tasks import TASKS


def test_all_names():
    kinds_v2 = ["random", "medium", "medium-replay", "medium-expert", "expert", "full-replay"]
    kinds_v0 = ["random", "medium", "medium-replay", "medium-expert"]
    wanted = {
        f"{env}-{kind}-{version}"
        for env in ("halfcheetah", "hopper", "walker2d")
        for version, kinds in (("v2", kinds_v2), ("v0", kinds_v0))
        for kind in kinds
    }
    assert set(D4RL) == wanted
    assert len(D4RL) == 30
    assert all(known.name == name for name, known in D4RL.items())


@pytest.mark.parametrize(
    ("name", "address", "rows"),
    [
        ("hopper-medium-v2", "gym_mujoco_v2/hopper_medium-v2.hdf5", 1_000_000),
        ("hopper-medium-replay-v2", "gym_mujoco_v2/hopper_medium_replay-v2.hdf5", 402_000),
        (
            "halfcheetah-medium-replay-v2",
            "gym_mujoco_v2/halfcheetah_medium_replay-v2.hdf5",
            202_000,
        ),
        ("walker2d-medium-replay-v2", "gym_mujoco_v2/walker2d_medium_replay-v2.hdf5", 302_000),
        ("walker2d-full-replay-v2", "gym_mujoco_v2/walker2d_full_replay-v2.hdf5", 1_000_000),
        ("walker2d-medium-expert-v2", "gym_mujoco_v2/walker2d_medium_expert-v2.hdf5", 2_000_000),
        ("halfcheetah-expert-v2", "gym_mujoco_v2/halfcheetah_expert-v2.hdf5", 1_000_000),
        ("halfcheetah-random-v0", "gym_mujoco/halfcheetah_random.hdf5", 1_000_000),
        ("halfcheetah-medium-replay-v0", "gym_mujoco/halfcheetah_mixed.hdf5", 101_000),
        ("hopper-medium-replay-v0", "gym_mujoco/hopper_mixed.hdf5", 200_920),
        ("walker2d-medium-replay-v0", "gym_mujoco/walker_mixed.hdf5", 100_930),
        ("hopper-medium-expert-v0", "gym_mujoco/hopper_medium_expert.hdf5", 1_200_919),
        ("walker2d-medium-v0", "gym_mujoco/walker2d_medium.hdf5", 1_000_000),
    ],
)
def test_address_and_rows(name, address, rows, monkeypatch):
    monkeypatch.delenv("COUNTMORL_D4RL_MIRROR")
    known = D4RL[name]
    assert known.url == f"https://rail.eecs.berkeley.edu/datasets/offline_rl/{address}"
    assert known.path.name == address.split("/")[-1]
    assert known.rows == rows


def test_files_have_distinct_names_and_d4rls_server():
    assert len({known.path for known in D4RL.values()}) == 30
    assert HOME == "https://rail.eecs.berkeley.edu/datasets/offline_rl"


def test_each_dataset_is_judged_on_the_v4_environment_of_its_robot():
    assert D4RL["walker2d-expert-v2"].task is TASKS["walker2d"]
    assert {known.task.env_id for known in D4RL.values()} == {
        "HalfCheetah-v4",
        "Hopper-v4",
        "Walker2d-v4",
    }


@pytest.mark.parametrize("name", D4RL)
def test_every_file_has_a_size_and_a_digest(name):
    known = D4RL[name]
    # 32 or 64 bits for each number of a row, packed to no less than a tenth.
    numbers = known.rows * (2 * known.task.dims[0] + known.task.dims[1] + 1)
    assert numbers / 10 < known.size < 8 * numbers
    assert re.fullmatch("[0-9a-f]{64}", known.sha256)


def test_a_mirror_replaces_the_server(monkeypatch):
    monkeypatch.setenv("COUNTMORL_D4RL_MIRROR", "http://mirror:1/d4rl/")
    assert D4RL["hopper-random-v0"].url == "http://mirror:1/d4rl/gym_mujoco/hopper_random.hdf5"


def test_the_cache_is_d4rls_own(monkeypatch):
    monkeypatch.setenv("D4RL_DATASET_DIR", "/big/disk")
    assert cache_folder() == Path("/big/disk")
    monkeypatch.delenv("D4RL_DATASET_DIR")
    monkeypatch.setenv("HOME", "/home/someone")
    assert D4RL["hopper-medium-v2"].path == Path(
        "/home/someone/.d4rl/datasets/hopper_medium-v2.hdf5"
    )
