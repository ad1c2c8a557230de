import pytest

from countmorl.monitoring.report import Alarm, Moved, Report, moved_sentence

COLUMN = Moved(
    name="glucose", part="seen", at=120.0, before=0.3, now=0.55, moved=9.0, psi=0.4, alarm=True
)


@pytest.mark.parametrize(
    ("changes", "whole", "sentence"),
    [
        (
            {},
            False,
            "glucose is lower: 55.0% of the rows are at or below 120, in training 30.0% were.",
        ),
        ({"now": 0.1}, False, "glucose is higher: 10.0% of the rows"),
        ({"name": "ward=C"}, True, "ward=C in 45.0% of the rows, in training in 70.0%."),
        (
            {"part": "counted", "at": 0.0},
            False,
            "55.0% of the pairs of observation and action were",
        ),
        ({"part": "counted"}, False, "55.0% of the pairs were logged 120 times or less, where 30"),
        ({"part": "followed"}, False, "after the same observations and actions glucose goes lower"),
        ({"part": "followed", "name": "reward"}, False, "actions rewards are lower than in"),
    ],
)
def test_sentences(changes, whole, sentence):
    column = Moved(**{**COLUMN.__dict__, **changes})
    assert sentence in moved_sentence(column, whole)


def test_the_whole_in_a_sentence_and_as_json():
    alarm = Alarm(kind="moved", column="glucose", sentence="x.")
    about = {"log": "l", "rows": 1000, "episodes": 1, "columns": (COLUMN,), "limit": 4.0}
    about |= {"false_alarms": 0.01, "unseen": None, "unseen_before": None, "notes": ()}
    about |= {"reward": 1.0, "reward_before": 2.0}
    found = Report(**about, alarms=(alarm, alarm))
    text = "ALARM: 1,000 steps of 1 episode are unlike the training's in 2 ways."
    assert found.sentence == text
    assert found.as_dict()["alarm"] is True
    assert found.as_dict()["columns"][0]["psi"] == 0.4
    assert Report(**about, alarms=()).as_dict()["alarm"] is False
