import json

import numpy as np
import pytest

from countmorl import train
from countmorl.cli.monitor import ALARM
from monitored import walks
from small_runs import QUIET, small


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run beside its log, one of the same kind, and one that has drifted."""
    folder = tmp_path_factory.mktemp("monitored")
    np.savez(folder / "log.npz", **walks())
    np.savez(folder / "same.npz", **walks(episodes=20, seed=1))
    np.savez(folder / "drift.npz", **walks(episodes=20, seed=2, unit=1000.0))
    train(small("bc"), folder / "log.npz", out=folder / "run", **QUIET)
    return folder


def test_the_same_kind(run_cli, folder):
    code, out, err = run_cli("monitor", folder / "run", folder / "same.npz")
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == "No alarm: 400 steps of 20 episodes look like the training's."
    assert "ALARM" not in out


def test_a_drift_ends_with_a_code_of_its_own(run_cli, folder):
    code, out, err = run_cli("monitor", folder / "run", folder / "drift.npz")
    assert (code, err) == (ALARM, "")
    assert "- Obs[0] is" in out
    assert out.splitlines()[-1].startswith("ALARM: 400 steps of 20 episodes")


def test_json(run_cli, folder):
    code, out, _ = run_cli("monitor", folder / "run", folder / "drift.npz", "--json")
    found = json.loads(out)
    assert (code, found["alarm"], found["rows"]) == (ALARM, True, 400)
    assert "obs[0]" in [each["name"] for each in found["columns"]]
    assert {"kind", "column", "sentence"} == set(found["alarms"][0])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere", "same.npz"), "There is no run folder"),
        (("run", "nowhere.csv"), "no names of columns"),
        (("run", "nowhere.npz"), "There is no file"),
        (("run", "same.npz", "--false-alarms", "2"), "from 0.001 to 0.5"),
        (("run", "same.npz", "--missing", "r=0"), "are for tables"),
        (("run",), "wants LOG"),
    ],
)
def test_bad_input(run_cli, folder, words, said):
    paths = [folder / w if w in ("run", "nowhere") or w.endswith("z") else w for w in words]
    code, out, err = run_cli("monitor", *paths)
    assert (code, out) == (2, "")
    assert said in err
