import json
import re

import pytest

FAST = ("--fit-rows", 100, "--model-epochs", 1, "--updates", 5, "--epochs", 1, "--starts", 1)
ONE = ("study", "counts", "bridge", "--seeds", 1, *FAST)


@pytest.mark.slow
def test_too_few_bits_are_named_with_their_collisions(run_cli, tmp_path):
    code, out, err = run_cli(*ONE, "--bits", 4)
    assert code == 2
    assert "160,000" in out
    assert "d = 4 is too small: it has 16 codes, and the counts of bridge need 157." in err
    assert re.search(r"pairs share \d+ codes: \w+ in row \d, column \d = ", err)
    drawn = {path.name for path in (tmp_path / "gridworld").iterdir()}
    assert drawn == {"counts.png", "maps-bridge.png"}


@pytest.mark.slow
def test_wrong_counts_are_no_success(run_cli):
    code, out, err = run_cli(*ONE, "--json", "--out", "x")
    assert code == 1
    assert "1 of 1 fits have wrong counts" in err
    (result,) = json.loads(out)["results"]
    assert result["errors"].keys() == {"members", "LC", "AVG", "UC"}
    assert result["wrong_pairs"] > 0
    assert len(result["true"]) == len(result["members"][0]) == 256


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("brigde", "Did you mean 'bridge'? Known: empty, bridge, cliff, zigzag. Or all."),
        ("cliff --bits 200", "from 1 to 128"),
        ("cliff --seeds 0", "`seeds` must be at least 1"),
        ("cliff --noise -1", "`fit_noise` must be at least 0"),
        ("cliff --beta -1", "`beta` must be at least 0"),
    ],
)
def test_bad_input_is_a_sentence(run_cli, words, sentence):
    code, _, err = run_cli("study", "counts", *words.split())
    assert (code, err.count("\n")) == (2, 1)
    assert sentence in err
