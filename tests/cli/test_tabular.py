import json
import re

import numpy as np
import pytest

from countmorl.cli import main


@pytest.fixture
def call(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_from_data_to_certificate(call):
    code, out, _ = call("gridworld-data", "bridge", "b.npz", "--rows", 5000, "--slip", 0.1)
    assert (code, "5,000 rows" in out) == (0, True)
    known = ("--value-range", -1, 1, "--successors", 4)
    code, out, _ = call("train", "tabular", "b.npz", "--out", "run", *known)
    assert code == 0
    assert "with 95% confidence" in out
    code, out, _ = call("train", "tabular", "b.npz", "--out", "again", "--json", *known)
    result = json.loads(out)
    assert result["certificate"]["pairs"] == 256
    assert result["rows"] == 5000


def test_a_certificate_that_says_nothing_says_so(call):
    call("gridworld-data", "cliff", "c.hdf5", "--rows", 300)
    code, out, _ = call("train", "tabular", "c.hdf5", "--out", "run")
    assert code == 0
    assert "This certificate says nothing" in out


def test_theory_prints_a_table_and_writes_a_figure(call, tmp_path):
    code, out, _ = call("theory", "--instances", 30, "--out", "t.png")
    assert code == 0
    assert "Every corrected statement holds." in out
    assert "Altered and caught: no union, paper's, halved, no penalty." in out
    assert (tmp_path / "t.png").exists()


def test_study_and_maps(call, tmp_path):
    short = ("--sizes", 300, "--seeds", 2, "--worlds", "cliff")
    code, out, _ = call("gridworld-study", *short, "--out", "s.png")
    assert code == 0
    assert "cliff: the true discounted optimum has 0.84   8%" in out
    code, out, _ = call("gridworld-study", *short, "--json")
    assert {row["method"] for row in json.loads(out)} >= {"plain", "penalty", "optimum"}
    assert call("gridworld-maps", "cliff", "--rows", 500, "--out", "m.png")[0] == 0
    assert call("gridworld-worlds", "--out", "w.png")[0] == 0
    assert {path.name for path in tmp_path.glob("*.png")} == {"s.png", "m.png", "w.png"}


FAST = ("--fit-rows", 100, "--model-epochs", 1, "--updates", 5, "--epochs", 1, "--starts", 1)


def test_too_few_bits_are_named_with_their_collisions(call, tmp_path):
    code, out, err = call("gridworld", "bridge", "--bits", 4, "--seeds", 1, *FAST)
    assert code == 2
    assert "160,000" in out
    assert "d = 4 is too small: it has 16 codes, and the counts of bridge need 157." in err
    assert re.search(r"pairs share \d+ codes: \w+ in row \d, column \d = ", err)
    drawn = {path.name for path in (tmp_path / "gridworld").iterdir()}
    assert drawn == {"counts.png", "maps-bridge.png"}


def test_wrong_counts_are_no_success(call):
    code, out, err = call("gridworld", "bridge", "--seeds", 1, "--json", "--out", "x", *FAST)
    assert code == 1
    assert "1 of 1 fits have wrong counts" in err
    (result,) = json.loads(out)["results"]
    assert result["errors"].keys() == {"members", "LC", "AVG", "UC"}
    assert result["wrong_pairs"] > 0
    assert len(result["true"]) == len(result["members"][0]) == 256


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("gridworld-data", "brigde", "x.npz"), "Did you mean 'bridge'?"),
        (("gridworld-maps", "lake"), "No grid world named 'lake'"),
        (("gridworld-study", "--worlds", "clif"), "Did you mean 'cliff'?"),
        (("gridworld-data", "cliff", "x.csv"), "has the ending '.csv'"),
        (("gridworld-maps", "cliff", "--slip", "2"), "between 0 and 1"),
        (("gridworld-maps", "cliff", "--rows", "999999"), "at most 140,000"),
        (("gridworld-maps", "cliff", "--seed", "-1"), "at least 0"),
        (("gridworld", "brigde"), "Did you mean 'bridge'? Known: empty, bridge, cliff, zigzag. Or"),
        (("gridworld", "cliff", "--bits", "200"), "from 1 to 128"),
        (("gridworld", "cliff", "--seeds", "0"), "`seeds` must be at least 1"),
        (("gridworld", "cliff", "--noise", "-1"), "`fit_noise` must be at least 0"),
        (("gridworld", "cliff", "--beta", "-1"), "`beta` must be at least 0"),
        (("theory", "--delta", "2"), "probability of failure"),
        (("theory", "--seed", "-1"), "at least 0"),
        (("theory", "--out", "x.doc"), "wanted .png"),
        (("train", "tabular", "continuous.npz"), "are continuous"),
        (("train", "tabular", "missing.npz"), "no file"),
    ],
)
def test_bad_input_is_a_sentence(call, tmp_path, arguments, words):
    np.savez(
        tmp_path / "continuous.npz",
        observations=np.linspace(0, 1, 5),
        actions=np.zeros(5),
        rewards=np.zeros(5),
    )
    code, _, err = call(*arguments)
    assert code == 2
    assert words in err
    assert len(err.strip().splitlines()) <= 2


@pytest.mark.parametrize(
    "command",
    [
        "theory",
        "gridworld",
        "gridworld-data",
        "gridworld-maps",
        "gridworld-study",
        "gridworld-worlds",
        "train tabular",
    ],
)
def test_help(call, command):
    code, out, _ = call(*command.split(), "--help")
    assert code == 0
    assert "usage:" in out
