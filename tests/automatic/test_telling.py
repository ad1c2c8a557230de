from dataclasses import replace
from pathlib import Path

from auto_parts import TRIED
from countmorl.automatic.folder import AutoFolder
from countmorl.automatic.judging import Candidate
from countmorl.automatic.telling import _warning, reasons, trial_card
from countmorl.evaluation.base import Estimate, Refusal
from countmorl.evaluation.choice import choose_among
from countmorl.evaluation.verdict import Way, decide
from countmorl.runs.folder import Run
from countmorl.sweeps.plan import Sweep

CLONE = Candidate(
    name="clone epoch 2", label="clone", epoch=2, path=Path("clone"), run=Run(Path("clone"))
)
LOG = Estimate(value=10.0, interval=(9.0, 11.0), unit="u", made_by="b")


def judged(name: str, low: float, high: float):
    facts = {"gain": (low + high) / 2, "gain_low": low, "gain_high": high}
    sure = Estimate(value=0.0, interval=None, unit="u", made_by="m", facts=facts)
    return decide(name, LOG, {"fitted Q": sure, "model": sure}, Way(unseen=0.03, thin=0.1))


def test_why_one_is_taken():
    found = {each.name: each for each in (judged("a", 3, 4), judged("b", -1, 1))}
    said = reasons(choose_among(list(found.values())), found)
    assert said[0].startswith("a is better than the log, by at least 3")
    assert "3.0% of its way is pairs that were never logged" in said[1]
    assert "holds for all 2 that were judged" in said[2]


def test_why_none_is_taken():
    # The first is better by itself, but too little for one picked from three.
    found = {
        each.name: each for each in (judged("a", 0.1, 9), judged("b", -1, 1), judged("c", -3, -2))
    }
    said = reasons(choose_among(list(found.values())), found)
    assert said[0] == "1 of 3: better, but not by enough for one picked from so many."
    assert said[1:3] == ["1 of 3: not shown to be better.", "1 of 3: worse."]
    assert said[3].startswith("The first of them: a: better than the log")


def test_a_clone_that_is_worth_less_in_the_model_cannot_stand_in_for_the_log():
    facts = {"gain": -5.0, "gain_low": -9.0, "gain_high": 1.0}
    model = Estimate(value=5.0, interval=(4.0, 6.0), unit="u", made_by="m", facts=facts)
    clone = decide("clone epoch 2", LOG, {"model": model}, Way(unseen=0.0, thin=0.0))
    found, choice = {clone.name: clone}, choose_among([clone])
    said = _warning(choice, CLONE, found)
    assert said is not None
    assert said.startswith("in the model it is worth 5, and the log earned 10: go on")
    as_good = replace(clone, opinions={"model": replace(model, value=9.5)})
    said = _warning(choice, CLONE, {clone.name: as_good})
    assert said is not None
    assert said.startswith("for all that is known it may earn 9 less than the log, which earned 10")
    sure = replace(as_good, gain=(-0.4, 1.0))
    assert _warning(choice, CLONE, {clone.name: sure}) is None


def test_nobody_could_judge_it():
    refused = {"model": Refusal(made_by="m", why="no.")}
    one = decide("a", LOG, refused, Way(unseen=0.0, thin=0.0))
    assert reasons(choose_among([one]), {"a": one})[0] == "1 of 1: cannot be judged."


def test_a_policy_without_a_run(tmp_path):
    card = trial_card(AutoFolder(tmp_path), TRIED[1], None, {})
    assert (card["state"], card["epochs"], card["done"]) == ("no time for it", None, 0)


def test_a_policy_that_failed(tmp_path):
    (row,) = Sweep.of(["bc"], ["log.npz"]).rows
    card = trial_card(AutoFolder(tmp_path), TRIED[0], row, {row.name: "It diverged."})
    assert card["state"] == "failed: It diverged."
    assert card["epochs"] == row.config.epochs
