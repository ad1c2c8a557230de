from dataclasses import replace
from pathlib import Path

import pytest

from countmorl.automatic.judging import Candidate, given, remembered
from countmorl.errors import RunError
from countmorl.evaluation.base import DOUBTED, Estimate, Refusal
from countmorl.evaluation.choice import choose_among
from countmorl.evaluation.verdict import Judgement, Way
from countmorl.runs.folder import Run

SURE = Estimate(value=1.0, interval=(0.5, 1.5), unit="u", made_by="m", facts={"gain": 0.25})
JUDGEMENT = Judgement(
    name="td3-bc epoch 2",
    verdict="worse",
    sentence="worse than the log.",
    behaviour=Estimate(value=2.0, interval=None, unit="u", made_by="b"),
    opinions={"fitted Q": SURE, "model": Refusal(made_by="m", why="no.", facts={"cut": 1.0})},
    way=Way(unseen=0.1, thin=0.2),
    gain=(-2.0, -1.0),
    notes=("a note",),
)


@pytest.mark.parametrize("gain", [(-2.0, -1.0), None])
def test_a_judgement_comes_back_as_it_was(gain):
    values = JUDGEMENT.as_dict() | {"gain": None if gain is None else list(gain)}
    found = remembered(JUDGEMENT.name, values)
    assert found.as_dict() == values
    assert found.opinions == JUDGEMENT.opinions
    assert found.gain == gain


@pytest.mark.parametrize(
    "broken",
    [
        {"opinions": 3},
        {"gain": [1.0]},
        {"gain": ["a", "b"]},
        {"behaviour": {}},
        {"behaviour": SURE.as_dict() | {"value": "much"}},
        {"behaviour": SURE.as_dict() | {"facts": {"gain": None}}},
        {"verdict": "the best"},
        {"unseen": None},
        {"name": "another policy"},
    ],
)
def test_a_damaged_one_is_said(broken):
    with pytest.raises(RunError, match="Remove `judgements` from it"):
        remembered(JUDGEMENT.name, JUDGEMENT.as_dict() | broken)


def candidate(label):
    path = Path(label)
    return Candidate(name=f"{label} epoch 2", label=label, epoch=2, path=path, run=Run(path))


def judged(label, verdict, gain):
    facts = {"gain": gain, "gain_low": gain - 1, "gain_high": gain + 1}
    opinion = Estimate(value=2.0 + gain, interval=None, unit="u", made_by="m", facts=facts)
    opinions = {"fitted Q": opinion, "model": opinion}
    return replace(JUDGEMENT, name=f"{label} epoch 2", verdict=verdict, opinions=opinions)


FOUND = [candidate(label) for label in ("clone", "clone-best", "td3-bc")]


@pytest.mark.parametrize(
    ("better", "gains", "wanted"),
    [
        (True, (0.0, 0.5), "td3-bc"),
        (False, (0.0, 0.5), "clone-best"),
        (False, (0.5, 0.0), "clone"),
    ],
)
def test_what_was_taken_is_handed_out_or_the_better_clone(better, gains, wanted):
    verdicts = [
        judged("clone", "not shown to be better", gains[0]),
        judged("clone-best", "not shown to be better", gains[1]),
        judged("td3-bc", "better" if better else "worse", 9.0 if better else -9.0),
    ]
    assert given(FOUND, choose_among(verdicts)) == candidate(wanted)


def test_a_clone_that_nobody_can_judge_may_be_worth_more_in_the_model():
    plain, best = (
        judged("clone", "not shown to be better", -1.0),
        judged("clone-best", "worse", 0.5),
    )
    assert given(FOUND, choose_among([plain, best])) == candidate("clone")
    doubted = Refusal(made_by="m", why="no.", facts={DOUBTED + "low": 1.5, DOUBTED + "value": 3.0})
    best = replace(best, verdict="cannot be judged", gain=None, opinions={"model": doubted})
    assert given(FOUND, choose_among([plain, best])) == candidate("clone-best")


def test_where_no_clone_was_judged_the_plain_one_is_handed_out():
    choice = choose_among([judged("td3-bc", "worse", -9.0)])
    assert given(FOUND, choice) == candidate("clone")
    assert given(FOUND[2:], choice) is None
