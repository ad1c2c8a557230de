import pytest

from countmorl.automatic.budget import JUDGING, TRAINING, Clock, seconds_of
from countmorl.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("30m", 1800), ("2h", 7200), ("1h30m", 5400), (" 5M ", 300), ("1h1m1s", 3661)],
)
def test_budgets_as_people_write_them(text, seconds):
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "30", "m", "1.5h", "-5m", "30 minutes", "5m3h", "1d"])
def test_what_is_no_time_is_refused(text):
    with pytest.raises(ConfigError, match="must be a time such as 90s"):
        seconds_of(text)


@pytest.mark.parametrize("text", ["0s", "5s", "0h0m59s"])
def test_too_little_time(text):
    with pytest.raises(ConfigError, match="too small to do anything"):
        seconds_of(text)


def test_too_much_time():
    with pytest.raises(ConfigError, match="at most 30 days"):
        seconds_of("721h")


def test_what_was_spent_before_counts(monkeypatch):
    monkeypatch.setattr("time.monotonic", lambda: 130.0)
    clock = Clock(budget=100, before=20, began=100)
    assert clock.spent == 50
    assert clock.left() == 50
    assert clock.left(TRAINING) == pytest.approx(100 * TRAINING - 50)
    assert clock.left(JUDGING) == pytest.approx(100 * JUDGING - 50)
