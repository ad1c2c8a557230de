"""The rules from opinions to a sentence."""

import json

import pytest

from countmorl.evaluation.base import Estimate, Refusal
from countmorl.evaluation.verdict import UNSEEN, Way, decide, disagreements, surely

LOG = Estimate(value=50.0, interval=(48.0, 52.0), unit="discounted return (0.9)", made_by="log")
KNOWN = Way(unseen=0.01, thin=0.1)


def said(low, high):
    facts = {"gain": (low + high) / 2, "gain_low": low, "gain_high": high}
    return Estimate(value=50.0 + low, unit=LOG.unit, made_by="somebody", facts=facts)


NONE = Refusal(made_by="somebody", why="it has not converged.")


@pytest.mark.parametrize(
    ("opinions", "verdict"),
    [
        ({"fitted Q": said(1, 9), "model": said(2, 5)}, "better"),
        ({"fitted Q": said(1, 9), "model": said(-2, 5)}, "not shown to be better"),
        ({"fitted Q": said(1, 9), "model": NONE}, "not shown to be better"),
        ({"fitted Q": said(-9, -1), "model": said(-5, -2)}, "worse"),
        ({"fitted Q": said(-9, -1), "model": NONE}, "worse"),
        ({"fitted Q": said(-9, -1), "model": said(1, 2)}, "not shown to be better"),
        ({"fitted Q": NONE, "model": NONE}, "cannot be judged"),
        ({"fitted Q": said(float("nan"), 9), "model": said(1, 2)}, "cannot be judged"),
        # What is learned in the model, and what is only weighted, have no say.
        ({"own critics": said(5, 9), "weighted": said(5, 9), "model": NONE}, "cannot be judged"),
        (
            {"fitted Q": said(1, 9), "model": said(2, 5), "doubly robust": said(-1, 1)},
            "not shown to be better",
        ),
    ],
)
def test_the_call(opinions, verdict):
    found = decide("mine", LOG, opinions, KNOWN)
    assert found.verdict == verdict
    assert found.sentence.startswith(verdict)
    json.dumps(found.as_dict())


def test_the_sentences():
    better = decide("mine", LOG, {"fitted Q": said(1, 9), "model": said(2, 5)}, KNOWN)
    assert better.gain == (2, 9)
    assert better.sentence == (
        "better than the log, by at least 2 (4% of what it earned), at most 9 (discounted return "
        "(0.9); model with 95 % certainty, and fitted Q and model agree)."
    )
    worse = decide("mine", LOG, {"fitted Q": said(-9, -5)}, KNOWN)
    assert worse.sentence.startswith("worse than the log, by at least 5 (10% of what it earned)")
    alone = decide("mine", LOG, {"fitted Q": said(1, 9)}, KNOWN)
    assert "fitted Q alone could judge it, and two have to agree" in alone.sentence
    open_ = decide("mine", LOG, {"fitted Q": said(-9, 11), "model": said(1, 2)}, KNOWN)
    assert "its gain may be anything from -9 to 11" in open_.sentence


def test_the_model_leads_where_others_are_less_sure():
    """The critics' 60 % interval is 4 +- 1.7 and 4 +- 4.1."""
    found = decide("mine", LOG, {"fitted Q": said(-1, 9), "model": said(1, 2)}, KNOWN)
    assert (found.verdict, found.gain) == ("better", (1, 9))
    unsure = decide("mine", LOG, {"fitted Q": said(-8, 16), "model": said(1, 2)}, KNOWN)
    assert (unsure.verdict, unsure.gain) == ("not shown to be better", (-8, 16))
    other = {"fitted Q": said(-1, 9), "doubly robust": said(1, 2)}
    assert decide("mine", LOG, other, KNOWN).verdict == "not shown to be better"
    assert surely({"fitted Q": said(-1, 9), "model": said(1, 3)}, 1.5) == 0.5


def test_where_nobody_can_follow_nothing_is_said():
    sure = {"fitted Q": said(1, 9), "model": said(2, 5)}
    lost = decide("mine", LOG, sure, Way(unseen=0.62, thin=0.7))
    assert lost.sentence == ("cannot be judged: 62% of its steps are pairs that were never logged.")
    assert decide("mine", LOG, sure, Way(unseen=UNSEEN, thin=1.0)).verdict == "better"


def test_rewards_that_are_all_alike_and_a_log_without_a_value():
    sure = {"fitted Q": said(1, 9), "model": said(2, 5)}
    alike = decide("mine", LOG, sure, KNOWN, alike=True)
    assert alike.sentence.startswith("cannot be judged: every logged reward is the same")
    short = Refusal(made_by="log", why="9 rows of one stream say nothing of its mean.")
    found = decide("mine", short, {}, KNOWN)
    assert found.sentence == "cannot be judged: 9 rows of one stream say nothing of its mean."


def test_disagreement_is_named():
    found = decide("mine", LOG, {"fitted Q": said(1, 9), "model": said(-5, -2)}, KNOWN)
    assert found.notes == ("fitted Q says better than the log, model says worse",)
    assert disagreements({"model": said(1, 2)}) == []
