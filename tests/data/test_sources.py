import numpy as np
import pytest

from countmorl.data.names import D4RL
from countmorl.data.sources import describe_task, load, locate, read
from countmorl.envs.tasks import TASKS
from countmorl.errors import ConfigError, DataError
from countmorl.runs.options import DataOptions


def test_every_way_to_name_a_dataset_gives_the_same(log, save, tmp_path):
    wanted = load(log()).hash
    assert load(save(tmp_path / "log.npz", log())).hash == wanted
    assert load(str(save(tmp_path / "log.hdf5", log()))).hash == wanted
    assert load(save(tmp_path / "log.h5", log())).hash == wanted
    assert load(load(log())).hash == wanted


def test_a_d4rl_name_is_looked_up_in_d4rls_cache(log, save):
    known = D4RL["hopper-medium-v2"]
    save(known.path, log(obs=11, action=3))
    dataset = load("hopper-medium-v2")
    assert (dataset.name, dataset.task, len(dataset)) == ("hopper-medium-v2", TASKS["hopper"], 60)


def test_the_mode_reaches_the_reader(log, save):
    save(D4RL["hopper-medium-v2"].path, log(obs=11, action=3))
    # 60 rows, one timeout, and the last row is lost.
    assert len(load("hopper-medium-v2", mode="d4rl-exact")) == 58


def test_rows_and_task(log):
    dataset = load(log(obs=11, action=3), rows=25, task="hopper-v5")
    assert (len(dataset), dataset.task) == (25, TASKS["hopper-v5"])


def test_an_unknown_task_is_refused_before_anything_is_read():
    with pytest.raises(ConfigError, match="Did you mean 'hopper'"):
        load("/nowhere.hdf5", task="hoper")


def test_a_home_folder_is_found(log, save, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    save(tmp_path / "log.npz", log())
    assert len(load("~/log.npz")) == 60


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("hopper-medum-v2", "Did you mean 'hopper-medium-v2'.*countmorl data list"),
        ("hopper-medium-v1", "Did you mean 'hopper-medium-v[02]'"),
        ("nowhere.hdf5", "There is no file nowhere.hdf5"),
        ("nowhere.npz", "There is no file nowhere.npz"),
        (".", "is a folder"),
        ("notes.csv", "ending '.csv', which is not known. Known: .hdf5, .h5, .npz.*data import"),
    ],
)
def test_what_cannot_be_found_is_said(source, words, tmp_path):
    (tmp_path / "notes.csv").touch()
    with pytest.raises(DataError, match=words):
        load(source)


def test_read_does_not_check_values(log):
    arrays = log()
    arrays["rewards"][0] = np.nan
    assert np.isnan(read(arrays).reward[0])


def test_locate_makes_paths_absolute_and_leaves_names(tmp_path):
    assert locate("log.npz") == str(tmp_path / "log.npz")
    assert locate("hopper-medium-v2") == "hopper-medium-v2"
    assert locate("minari:a/b-v0") == "minari:a/b-v0"


def test_describe_task():
    assert describe_task(TASKS["hopper"]) == "hopper (Hopper-v4)"
    assert "not simulated" in describe_task(None)


@pytest.mark.parametrize("ending", ["NPZ", "HDF5", "H5"])
def test_endings_in_capitals(log, save, tmp_path, ending):
    path = save(tmp_path / f"log.{ending.lower()}", log()).rename(tmp_path / f"log.{ending}")
    assert load(path).hash == load(log()).hash


class Frame:
    """A table that would fill the screen."""

    columns = ("a", "b")

    def __repr__(self):
        return "row " * 1000


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("source", "words"),
    [
        (Frame(), r"countmorl\.from_table\(frame, obs="),
        (np.zeros((500, 500)), "object of type ndarray. Wanted a name, the path of a file"),
        (3, "object of type int"),
        (None, "object of type NoneType"),
        (b"log.npz", "object of type bytes"),
    ],
)
def test_wrong_types_are_answered_in_a_sentence(source, words):
    with pytest.raises(DataError, match=words) as error:
        load(source)
    assert len(str(error.value)) < 200


def test_what_nobody_tells_can_be_said(log):
    arrays = log()
    arrays["done"] = arrays.pop("terminals") | arrays.pop("timeouts")
    assert load(arrays, done="ended").truncated.sum() == 3
    assert load(arrays, options=DataOptions(done="terminated")).terminated.sum() == 3
    arrays = log(action=1) | {"actions": np.arange(60) % 30}
    assert not load(arrays).discrete
    assert load(arrays, actions="discrete").action_dim == 30


def test_side_information_of_named_data_is_not_said_aloud(log, save, capsys):
    known = D4RL["hopper-medium-v2"]
    save(known.path, log(obs=11, action=3) | {"infos": np.zeros(60)})
    assert load("hopper-medium-v2").unused == ("infos",)
    assert capsys.readouterr().err == ""
