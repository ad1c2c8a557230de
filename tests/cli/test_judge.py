"""`countmorl judge`."""

import json

import pytest

from countmorl.evaluation.base import Estimate, Refusal
from countmorl.evaluation.verdict import Way, decide

LOG = Estimate(value=50.0, interval=(48.0, 52.0), unit="discounted return (0.9)", made_by="log")


def judgement(low=1.0):
    facts = {"gain": low + 1, "gain_low": low, "gain_high": low + 2}
    said = Estimate(value=52.0, interval=(51.0, 53.0), unit=LOG.unit, made_by="x", facts=facts)
    refused = Refusal(made_by="x", why="it has not converged.")
    opinions = {"fitted Q": said, "model": said, "weighted": refused}
    notes = ("no episodes were set aside",)
    return decide("run", LOG, opinions, Way(unseen=0.01, thin=0.2), notes=notes)


@pytest.fixture
def told(monkeypatch, trained):
    """What the judges say, without their work."""

    def tell(found):
        asked = {}

        def judged(runs, **options):
            asked.update(options, runs=[run.path for run in runs])
            return [found]

        monkeypatch.setattr("countmorl.cli.judge.judge_runs", judged)
        return asked

    return tell


def test_the_table_and_the_sentence(run_cli, told, trained):
    asked = told(judgement())
    code, out, _ = run_cli("judge", trained / "run", "--horizon", 5, "--seed", 3)
    assert code == 0
    assert (asked["runs"], asked["horizon"], asked["seed"]) == ([trained / "run"], 5, 3)
    lines = out.splitlines()
    assert lines[0].split("  ")[0] == "policy"
    assert "the log" in lines[1]
    assert "48 to 52" in lines[1]
    assert "+1 to +3" in lines[2]
    assert "note: no episodes were set aside." in lines
    assert "weighted gives no number of run: it has not converged." in lines
    assert "run: 1.0% of its way is unseen, 20.0% thin." in lines
    assert lines[-1].startswith("run: better than the log, by at least 1")


@pytest.mark.parametrize(
    ("low", "words", "code"), [(1, (), 0), (-1, (), 0), (1, ("--require-better",), 0)]
)
def test_exit_codes(run_cli, told, trained, low, words, code):
    told(judgement(low))
    assert run_cli("judge", trained / "run", *words)[0] == code


def test_what_is_not_shown_to_be_better_can_be_required(run_cli, told, trained):
    told(judgement(-1))
    code, out, _ = run_cli("judge", trained / "run", "--require-better", "--json")
    assert code == 3
    (found,) = json.loads(out)
    assert found["verdict"] == "not shown to be better"
    assert found["opinions"]["weighted"]["refused"] == "it has not converged."


def test_a_folder_that_is_none(run_cli, tmp_path):
    code, _, err = run_cli("judge", tmp_path / "nothing")
    assert (code, err) == (2, f"countmorl: There is no run folder {tmp_path / 'nothing'}.\n")
