"""Dates as text, in the formats of logs."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from countmorl.runtime.dates import read_date

HERE = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("text", "written", "wanted"),
    [
        ("2024-12-31", "", datetime(2024, 12, 31)),
        (" 2024-12-31 14:30 ", "", datetime(2024, 12, 31, 14, 30)),
        ("31.12.2024", "%d.%m.%Y", datetime(2024, 12, 31)),
        ("02/03/2024", "%d/%m/%Y", datetime(2024, 3, 2)),
        ("02/03/2024", "%m/%d/%Y", datetime(2024, 2, 3)),
        ("31.12.2024 14:30:05", "%d.%m.%Y %H:%M:%S%.f", datetime(2024, 12, 31, 14, 30, 5)),
        ("31.12.2024 14:30:05.5", "%d.%m.%Y %T%.f", datetime(2024, 12, 31, 14, 30, 5, 500_000)),
        ("31.12.2024 14:30+02", "%d.%m.%Y %R%#z", datetime(2024, 12, 31, 14, 30, tzinfo=HERE)),
        ("31.12.2024 14:30 +0200", "%d.%m.%Y %R%#z", datetime(2024, 12, 31, 14, 30, tzinfo=HERE)),
        ("31.12.2024 14:30z", "%d.%m.%Y %H:%M%#z", datetime(2024, 12, 31, 14, 30, tzinfo=UTC)),
        ("2024-12-31", "%d.%m.%Y", datetime(2024, 12, 31)),
        ("2024-31-12", "%Y-%d-%m", datetime(2024, 12, 31)),
    ],
)
def test_by_hand(text, written, wanted):
    assert read_date(text, written) == wanted


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("31.12.2024", ""),
        ("12.31.2024", "%d.%m.%Y"),
        ("soon", "%d.%m.%Y"),
        ("2024-12-31", "%Y-%d-%m"),  # Year, day, month: the last day would be a month.
        ("31.12.2024 14:30", "%d.%m.%Y %H:%M%#z"),
        ("31.12.2024", "%d.%m.%Q"),
    ],
)
def test_what_is_none(text, written):
    assert read_date(text, written) is None
