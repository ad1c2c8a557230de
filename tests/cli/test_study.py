import json

import pytest

from countmorl.cli.study import COMMANDS
from countmorl.data.sources import load


def test_its_commands_are_listed(run_cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = run_cli("study")
    assert (code, err) == (0, "")
    listed = [line.split()[0] for line in out.splitlines() if line.startswith(" ")]
    assert listed == list(COMMANDS)


class TestLog:
    def test_a_q_learners_log(self, run_cli):
        code, out, _ = run_cli("study", "log", "bridge", "b.hdf5", "--rows", 500, "--slip", 0.1)
        assert (code, out.startswith("500 rows in ")) == (0, True)
        dataset = load("b.hdf5")
        assert (len(dataset), dataset.task.env_id) == (500, "countmorl/Bridge-v0")
        assert (dataset.discrete, dataset.action_dim, dataset.obs[0, 0]) == (True, 4, 24)

    def test_the_seed_decides(self, run_cli):
        hashes = []
        for number, seed in enumerate((0, 0, 1)):
            words = ("study", "log", "cliff", f"{number}.npz", "--rows", 300, "--seed", seed)
            hashes.append(json.loads(run_cli(*words, "--json")[1])["hash"])
        assert hashes[0] == hashes[1] != hashes[2]


def test_figures_are_written(run_cli, tmp_path):
    assert run_cli("study", "maps", "cliff", "--rows", 500, "--out", "m.png")[0] == 0
    code, out, _ = run_cli("study", "worlds", "--out", "w.png")
    assert (code, out) == (0, "Written: w.png\n")
    assert json.loads(run_cli("study", "worlds", "--out", "w.png", "--json")[1]) == {
        "path": "w.png"
    }
    for name in ("m.png", "w.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("log brigde x.npz", "Did you mean 'bridge'?"),
        ("log cliff x.csv", "has the ending '.csv'"),
        ("log cliff x.npz --rows 0", "`rows` must be at least 1, got 0"),
        ("maps lake", "No grid world named 'lake'"),
        ("maps cliff --slip 2", "between 0 and 1"),
        ("maps cliff --rows 999999", "at most 140,000"),
        ("maps cliff --seed -1", "at least 0"),
        ("maps cliff --out x.doc", "wanted .png"),
        ("worlds --out x.doc", "wanted .png"),
        ("worlds --out file/x.png", "is not a folder"),
    ],
)
def test_bad_input_is_a_sentence(run_cli, tmp_path, words, sentence):
    (tmp_path / "file").touch()
    code, _, err = run_cli("study", *words.split())
    assert (code, err.count("\n")) == (2, 1)
    assert sentence in err
