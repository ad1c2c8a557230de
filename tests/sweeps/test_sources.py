import pytest

from countmorl.errors import ConfigError
from countmorl.sweeps.sources import TASKS, find_known_task, find_sources


def touch(folder, *names):
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).touch()
    return folder


def test_without_data_they_are_d4rls_own_by_name():
    assert len(TASKS) == 12
    assert find_sources(None, [])[:2] == ["halfcheetah-random-v2", "hopper-random-v2"]
    assert find_sources(None, ["hopper-medium"], version="v0") == ["hopper-medium-v0"]


def test_a_folder_is_searched_for_names_like_d4rls(tmp_path):
    folder = touch(
        tmp_path / "d",
        "hopper_medium_replay-recipe.hdf5",
        "hopper-medium.npz",
        "hopper_expert-v2.hdf5",
        "README.md",
        "walker2d_medium_expert-v2.hdf5",
    )
    wanted = ["hopper-medium-replay", "hopper_medium", "walker2d-medium-expert-v2"]
    found = find_sources([folder], wanted)
    assert [path.rpartition("/")[2] for path in found] == [
        "hopper_medium_replay-recipe.hdf5",
        "hopper-medium.npz",
        "walker2d_medium_expert-v2.hdf5",
    ]


def test_what_is_missing_is_named_with_what_is_there(tmp_path):
    folder = touch(tmp_path / "d", "hopper_medium-v2.hdf5", "notes.txt")
    with pytest.raises(ConfigError) as caught:
        find_sources([folder], [])
    said = str(caught.value)
    assert "holds no file for halfcheetah-random, hopper-random" in said
    assert "such as halfcheetah_random-v2.hdf5; found hopper_medium-v2.hdf5, notes.txt" in said
    assert said.endswith("--tasks hopper-medium")
    with pytest.raises(ConfigError, match=r"found nothing.$"):
        find_sources([touch(tmp_path / "empty")], ["hopper-medium"])


def test_of_several_files_of_a_task_the_one_of_the_version_counts(tmp_path):
    folder = touch(tmp_path / "d", "hopper_medium-v2.hdf5", "hopper_medium-v0.hdf5")
    (found,) = find_sources([folder], ["hopper-medium"], version="v0")
    assert found.endswith("hopper_medium-v0.hdf5")
    other = touch(tmp_path / "e", "hopper_medium-a.hdf5", "hopper_medium-b.hdf5")
    with pytest.raises(
        ConfigError, match=r"Several files could be hopper-medium: .*a.hdf5, .*b.hd"
    ):
        find_sources([other], ["hopper-medium"])


def test_files_of_ones_own_are_taken_as_they_are_once(tmp_path):
    log = tmp_path / "log.npz"
    log.touch()
    names = [str(log), "hopper-medium-v2", "minari:x/y-v0", str(log)]
    assert find_sources(names, []) == [str(log), "hopper-medium-v2", "minari:x/y-v0"]


def test_a_missing_file_among_ten(tmp_path):
    folder = touch(tmp_path / "d", *(f"{number}.npz" for number in range(9)))
    files = [str(folder / f"{number}.npz") for number in range(10)]
    with pytest.raises(ConfigError, match=r"There is no file .*9.npz, and no dataset of that name"):
        find_sources(files, [])
    with pytest.raises(ConfigError, match=r"Did you mean 'hopper-medium-v2'"):
        find_sources(["hopper-medum-v2"], [])


def test_an_unknown_task_is_told_with_a_suggestion():
    assert find_known_task("Hopper_Medium-v2") == "hopper-medium"
    with pytest.raises(
        ConfigError, match=r"No task named 'hoper-medium'. Did you mean 'hopper-med"
    ):
        find_known_task("hoper-medium")
