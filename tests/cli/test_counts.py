import json
import shutil

import numpy as np
import pytest

from countmorl import train
from monitored import walks
from small_runs import QUIET, small


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("counts")
    np.savez(folder / "log.npz", **walks())
    np.savez(folder / "new.npz", **walks(episodes=5, seed=7))
    train(small("count-morl"), folder / "log.npz", out=folder / "run", **QUIET)
    return folder


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path / "site")


def test_from_site_to_site(run_cli, folder, tmp_path):
    shutil.copytree(folder / "run", tmp_path / "other")
    assert "Nothing was added" in run_cli("counts", "show", folder / "run")[1]
    code, out, err = run_cli("counts", "add", folder / "run", folder / "new.npz")
    assert (code, err) == (0, "")
    assert "of the last one's pairs were unseen before." in out
    assert "100 rows were added to the training's counts." in out
    assert run_cli("counts", "export", folder / "run", "-o", "c.safetensors")[0] == 0
    code, out, _ = run_cli("counts", "merge", tmp_path / "other", "c.safetensors", "--json")
    assert (code, json.loads(out)["rows"]) == (0, 100)
    _, out, _ = run_cli("counts", "show", tmp_path / "other", "--json")
    assert [log["name"] for log in json.loads(out)["logs"]] == ["new.npz"]


def test_what_was_added_is_counted(run_cli, folder):
    def count() -> dict:
        return json.loads(run_cli("count", folder / "run", folder / "new.npz", "--json")[1])

    before = count()
    run_cli("counts", "add", folder / "run", folder / "new.npz")
    assert count()["estimates"]["AVG"] > before["estimates"]["AVG"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("add", "run", "log.npz"), "is the log that the run was trained on"),
        (("add", "run", "nowhere.npz"), "There is no file"),
        (("add", "nowhere", "new.npz"), "There is no run folder"),
        (("merge", "run", "new.npz"), "not a readable safetensors file"),
        (("merge", "run", "nowhere"), "There is no file"),
        (("export", "run", "-o", "x"), "Nothing was added"),
        (("drop", "run"), "There is no command 'counts drop'"),
    ],
)
def test_bad_input(run_cli, folder, words, said):
    paths = [folder / w if w in ("run", "nowhere") or w.endswith("npz") else w for w in words]
    code, out, err = run_cli("counts", *paths)
    assert (code, out) == (2, "")
    assert said in err
