"""Choosing among policies, or none."""

import pytest

from countmorl.evaluation.base import Estimate, Refusal
from countmorl.evaluation.choice import choose_among
from countmorl.evaluation.verdict import Way, decide

LOG = Estimate(value=50.0, interval=(48.0, 52.0), unit="return", made_by="log")


def judged(name, gain, reach, unseen=0.0):
    facts = {"gain": gain, "gain_low": gain - reach, "gain_high": gain + reach}
    said = Estimate(value=50 + gain, unit="return", made_by="x", facts=facts)
    return decide(name, LOG, {"fitted Q": said, "model": said}, Way(unseen=unseen, thin=0.0))


def test_the_highest_lower_end_is_taken_not_the_highest_value():
    choice = choose_among([judged("bold", 9, 8), judged("sure", 5, 1), judged("bad", -5, 1)])
    assert choice.taken.name == "sure"
    assert [each.judgement.name for each in choice.ranked] == ["sure", "bold", "bad"]
    # Three looks: z(1 - 0.025 / 3) / z(0.975) = 2.394 / 1.96 of the reach is taken off.
    assert choice.ranked[0].sure == pytest.approx(5 - 2.394 / 1.96, abs=1e-3)
    assert choice.sentence == "take sure: better than the log by at least 3.779."


def test_who_looks_at_many_must_be_surer():
    barely = judged("barely", 5, 4.9)
    assert choose_among([barely]).taken is barely
    many = choose_among([barely, *(judged(f"{n}", -5, 1) for n in range(20))])
    assert many.taken is None
    assert many.sentence == (
        "keep what you have: none of 21 policies is shown to be better than the log."
    )
    assert many.as_dict()["taken"] is None


def test_what_cannot_be_judged_comes_last_and_one_alone_may_be_kept_back():
    refused = decide(
        "mute", LOG, {"model": Refusal(made_by="x", why="no.")}, Way(unseen=0.0, thin=0.0)
    )
    choice = choose_among([refused, judged("far", 9, 1, unseen=0.9), judged("bad", -5, 1)])
    assert [each.judgement.name for each in choice.ranked] == ["bad", "far", "mute"]
    alone = choose_among([refused])
    assert (
        alone.sentence == "keep what you have: the policy is not shown to be better than the log."
    )
    assert alone.ranked[0].sure is None
