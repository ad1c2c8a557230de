import shutil

import pytest

from asked import ask
from countmorl import load, load_policy
from countmorl.errors import RunError
from countmorl.serving.app import make_app
from countmorl.serving.opened import opened


def test_a_run_is_served(trained):
    answers = opened(trained / "run")
    row = load(trained / "log.hdf5").obs[0]
    _, _, said = ask(make_app(answers), "POST", "/act", {"obs": row.tolist()})
    assert said["action"] == pytest.approx(load_policy(trained / "run").act(row).tolist())
    assert said["level"] is None
    contract = ask(make_app(answers), "GET", "/contract")[2]
    assert contract["observation"] == ["obs[0]", "obs[1]", "obs[2]"]
    assert contract["discrete"] is False


def test_no_folder(tmp_path):
    with pytest.raises(RunError, match="There is no folder"):
        opened(tmp_path / "nowhere")


def test_a_folder_without_a_policy(trained, tmp_path):
    folder = shutil.copytree(trained / "run", tmp_path / "run")
    (folder / "policy.safetensors").unlink()
    with pytest.raises(RunError, match="holds no policy"):
        opened(folder)
