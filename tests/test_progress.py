import pytest

from countmorl import progress
from countmorl.progress import EpochReport, byte_progress, count_progress, duration, number


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (9.4, "9 s"),
        (59.4, "59 s"),
        (59.6, "1:00"),
        (245, "4:05"),
        (3599.7, "1:00:00"),
        (7445, "2:04:05"),
        (360000, "100:00:00"),
    ],
)
def test_duration(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.12345, "0.123"),
        (9.876, "9.88"),
        (10, "10.0"),
        (-3214.56, "-3214.6"),
        (1e6, "1e+06"),
    ],
)
def test_number(value, text):
    assert number(value) == text


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test turns by hand."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


class TestEpochReport:
    def test_a_line_an_epoch_on_stderr(self, capsys, clock):
        report = EpochReport("policy", 10, 0)
        clock[0] += 4
        report(2, {"loss": 0.5, "return": 321.04})
        out, err = capsys.readouterr()
        # Two epochs took 4 s, so the other eight take 16 s.
        assert (out, err) == ("", "policy  2/10  loss 0.5  return 321.0  16 s left\n")

    def test_a_resumed_run_counts_only_its_own_epochs(self, capsys, clock):
        report = EpochReport("policy", 10, 6)
        clock[0] += 3
        report(7, {})
        assert "9 s left" in capsys.readouterr().err

    def test_quiet_says_nothing(self, capsys):
        EpochReport("policy", 10, 0, quiet=True)(1, {"loss": 1.0})
        assert capsys.readouterr() == ("", "")


def test_counting_speaks_every_ten_seconds(capsys, clock):
    with count_progress("collecting", 3000) as tell:
        tell(1000)
        assert capsys.readouterr().err == ""
        clock[0] += 11
        tell(500)
    # 1,500 of 3,000 in 11 s: 11 s are left.
    assert capsys.readouterr().err == "collecting: 1,500 of 3,000, 11 s left\n"


@pytest.mark.parametrize(("total", "size"), [(12_300_000, " of 12 MB"), (None, "")])
def test_a_transfer_is_announced_once(capsys, total, size):
    with byte_progress("file", 0, total) as tell:
        tell(1000)
        tell(1000)
    assert capsys.readouterr() == ("", f"file: downloading{size}\n")
