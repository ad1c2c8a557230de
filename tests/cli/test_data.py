import json
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from countmorl.data.names import D4RL
from countmorl.data.sources import load


@pytest.fixture
def data(log, save, tmp_path):
    return save(tmp_path / "log.hdf5", log())


class TestList:
    def test_table(self, run_cli):
        code, out, err = run_cli("data", "list")
        assert (code, err) == (0, "")
        for name in D4RL:
            assert name in out
        assert "402,000" in out
        assert "Hopper-v4" in out

    def test_json(self, run_cli, log, save):
        save(D4RL["hopper-medium-v2"].path, log(obs=11, action=3))
        code, out, _ = run_cli("data", "list", "--json")
        rows = {row["name"]: row for row in json.loads(out)}
        assert code == 0
        assert len(rows) == 30
        assert rows["hopper-medium-v2"] == {
            "name": "hopper-medium-v2",
            "rows": 1_000_000,
            "env": "Hopper-v4",
            "here": True,
        }
        assert not rows["hopper-medium-v0"]["here"]


class TestInfo:
    def test_card(self, run_cli, data):
        code, out, err = run_cli("data", "info", data)
        assert (code, err) == (0, "")
        card = dict(line.split(maxsplit=1) for line in out.splitlines() if "next" not in line)
        assert card["name"] == "log"
        assert card["rows"] == "60"
        assert card["episodes"] == "3 (3 finished)"
        assert card["length"] == "20.0 (from 20 to 20)"
        assert card["terminated"] == "2 rows"
        assert card["truncated"] == "1 rows"
        assert card["score"] == "no reference known"
        assert "not simulated" in card["task"]

    def test_score(self, run_cli, log, save, tmp_path):
        arrays = log(obs=11, action=3)
        arrays["rewards"][:] = 50
        path = save(tmp_path / "hopper_mine.hdf5", arrays)
        _, out, _ = run_cli("data", "info", path)
        # Every return is 1000: 100 * 1020.272305 / 3254.572305 = 31.3 points.
        assert "score         31.3 ± 0.0" in out
        assert "return        1000.0 ± 0.0 (from 1000.0 to 1000.0)" in out

    def test_json(self, run_cli, data):
        code, out, _ = run_cli("data", "info", data, "--json")
        card = json.loads(out)
        assert code == 0
        assert (card["rows"], card["episodes"], card["obs_dim"], card["action_dim"]) == (
            60,
            3,
            3,
            2,
        )
        assert len(card["obs_range"]["low"]) == 3

    def test_the_hash_is_that_of_the_dataset(self, run_cli, data):
        _, out, _ = run_cli("data", "info", data, "--json")
        assert json.loads(out)["hash"] == load(data).hash

    def test_exact_mode(self, run_cli, data):
        _, out, _ = run_cli("data", "info", data, "--mode", "d4rl-exact", "--json")
        assert json.loads(out)["rows"] == 58

    def test_how_the_log_was_understood(self, run_cli, log, save, tmp_path):
        arrays = log() | {"actions": np.arange(60) % 5, "camera": np.zeros(60)}
        path = save(tmp_path / "odd.npz", arrays)
        code, out, err = run_cli("data", "info", path)
        assert (code, err) == (0, "")
        assert "actions: one column of whole numbers from 0 to 4 without bounds: 5 discrete" in out
        assert "not used: camera" in out
        assert "not used: camera" in run_cli("data", "convert", path, "copy.hdf5")[2]
        card = json.loads(run_cli("data", "info", path, "--json")[1])
        assert (card["unused"], len(card["notes"])) == (["camera"], 1)
        out = run_cli("data", "info", path, "--actions", "continuous")[1]
        assert "actions: a quantity, as was said; bounds from the data; 40.0% of the rows" in out

    def test_no_name_of_a_file_moves_the_cursor(self, run_cli, log, save, tmp_path):
        path = save(tmp_path / "odd.hdf5", log() | {"odd\x1b[2J": np.zeros(60)})
        for words in (("info", path), ("check", path), ("convert", path, "copy.npz")):
            _, out, err = run_cli("data", *words)
            assert "odd\\x1b[2J" in out + err
            assert "\x1b" not in out + err

    def test_doses_are_no_choices(self, run_cli, log, save, tmp_path):
        path = save(tmp_path / "doses.npz", log(rows=500) | {"actions": np.arange(500) % 250})
        out = run_cli("data", "info", path)[1]
        assert "action        1 numbers, [0.0] to [249.0]" in out
        assert "one column of whole numbers from 0 to 249: taken as a quantity" in out


class TestDone:
    @pytest.fixture
    def path(self, log, save, tmp_path):
        arrays = log()
        arrays["done"] = arrays.pop("terminals") | arrays.pop("timeouts")
        return save(tmp_path / "log.npz", arrays)

    @pytest.mark.parametrize("command", ["info", "check", "convert"])
    def test_what_nothing_tells_is_asked(self, run_cli, path, command):
        out = ["copy.hdf5"] if command == "convert" else []
        code, _, err = run_cli("data", command, path, *out)
        assert (code, err.count("\n")) == (2, 1)
        assert "`--done terminated` or `--done ended`" in err
        assert run_cli("data", command, path, *out, "--done", "ended")[0] == 0

    def test_what_was_said_is_kept(self, run_cli, path, tiny):
        words = ("train", "bc", path, "--out", "run", *tiny)
        assert "--done" in run_cli(*words)[2]
        assert run_cli(*words, "--done", "terminated")[0] == 0
        config = json.loads(Path("run/config.json").read_text())
        assert config["data"]["options"]["done"] == "terminated"
        assert run_cli("resume", "run", "--epochs", "5")[0] == 0
        run_cli("data", "convert", path, "copy.hdf5", "--done", "terminated")
        assert load("copy.hdf5").terminated.sum() == 3


class TestCheck:
    def test_json(self, run_cli, log, save, tmp_path):
        arrays = log()
        arrays["rewards"][12] = np.nan
        arrays["timeouts"][19] = True
        code, out, _ = run_cli("data", "check", save(tmp_path / "log.npz", arrays), "--json")
        report = json.loads(out)
        assert (code, report["rows"], report["errors"]) == (1, 60, 1)
        assert [f["kind"] for f in report["findings"]] == ["not-finite", "both-flags"]
        assert report["findings"][0]["rows"] == [12]


class TestDownload:
    def test_what_is_here_is_not_fetched_again(self, run_cli, log, save):
        known = D4RL["hopper-medium-v2"]
        save(known.path, log(obs=11, action=3))
        code, out, err = run_cli("data", "download", known.name)
        assert (code, out, err) == (0, f"{known.name} is already at {known.path}\n", "")
        _, out, _ = run_cli("data", "download", known.name, "--json")
        wanted = {"name": known.name, "path": str(known.path), "downloaded": False}
        assert json.loads(out) == wanted


class TestConvert:
    def test_endings_in_capitals(self, run_cli, data, tmp_path):
        assert run_cli("data", "convert", data, tmp_path / "copy.NPZ")[0] == 0
        assert load(tmp_path / "copy.NPZ").hash == load(data).hash

    @pytest.mark.parametrize("ending", ["npz", "hdf5", "h5"])
    def test_the_contents_stay_the_same(self, run_cli, data, tmp_path, ending):
        out_path = tmp_path / f"copy.{ending}"
        code, out, err = run_cli("data", "convert", data, out_path)
        assert (code, err) == (0, "")
        assert out == f"60 rows in 3 episodes written to {out_path}\n"
        assert load(out_path).hash == load(data).hash

    def test_json(self, run_cli, data, tmp_path):
        _, out, _ = run_cli("data", "convert", data, tmp_path / "copy.npz", "--json")
        assert json.loads(out) == {
            "path": str(tmp_path / "copy.npz"),
            "rows": 60,
            "hash": load(data).hash,
        }

    def test_exact_mode(self, run_cli, data, tmp_path):
        run_cli("data", "convert", data, tmp_path / "copy.hdf5", "--mode", "d4rl-exact")
        assert len(load(tmp_path / "copy.hdf5")) == 58


class TestCollect:
    def test_random(self, run_cli, tmp_path):
        out_path = tmp_path / "pendulum.hdf5"
        code, out, _ = run_cli("data", "collect", "Pendulum-v1", out_path, "--rows", 250)
        assert code == 0
        assert out == f"250 rows in 2 episodes written to {out_path}\n"
        dataset = load(out_path)
        assert (dataset.task.env_id, dataset.name) == ("Pendulum-v1", "pendulum")
        with h5py.File(out_path) as file:
            assert file.attrs["env_id"] == b"Pendulum-v1"

    def test_a_run_of_ours(self, run_cli, log, save, tiny, tmp_path):
        data = save(tmp_path / "log.npz", log(action=1))
        assert run_cli("train", "bc", data, "--out", "run", *tiny)[0] == 0
        code, out, _ = run_cli(
            "data", "collect", "Pendulum-v1", "mine.npz", "--policy", "run", "--rows", 30, "--json"
        )
        assert (code, json.loads(out)["rows"]) == (0, 30)
        assert load("mine.npz").space.high.tolist() == [2]

    def test_a_tabular_run_in_its_grid_world(self, run_cli, tabular):
        words = ("data", "collect", "countmorl/Cliff-v0", "mine.hdf5", "--rows", 30)
        assert run_cli(*words, "--policy", tabular / "run")[0] == 0
        dataset = load("mine.hdf5")
        assert (dataset.discrete, dataset.obs_dim, dataset.action_dim) == (True, 1, 4)
        assert dataset.obs[0, 0] == 56
        assert dataset.task.env_id == "countmorl/Cliff-v0"

    def test_an_environment_of_ones_own(self, run_cli, own_env):
        code, out, _ = run_cli("data", "collect", own_env, "mine.hdf5", "--rows", 12)
        assert (code, out) == (0, "12 rows in 3 episodes written to mine.hdf5\n")
        assert load("mine.hdf5").task.env_id == own_env  # Known, since the user has named it.
        del sys.modules["own_envs"]
        task = load("mine.hdf5").task
        assert (task.env_id, task.available()) == (own_env, False)
        assert "own_envs" not in sys.modules

    def test_by_a_recipe(self, run_cli):
        words = ("data", "collect", "Pendulum-v1", "made", "--recipe", "random", "--rows", 30)
        code, out, _ = run_cli(*words)
        path = "made/pendulum-v1-random.hdf5"
        assert (code, out) == (0, f"30 rows in 1 episodes written to {path}\n")
        assert json.loads(run_cli(*words, "--json")[1])["path"] == path
        code, _, err = run_cli("data", "collect", "Pendulum-v1", "other", "--recipe", "medium")
        assert (code, "say which return to reach: --until" in err) == (2, True)
