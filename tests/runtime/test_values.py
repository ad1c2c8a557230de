"""Raw values, one by one: what each means, and what is refused."""

import math
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import get_args

import numpy as np
import pytest

from countmorl.errors import DataError
from countmorl.runtime.values import (
    READ,
    is_missing,
    plain,
    shown,
    spread,
    to_boolean,
    to_hour,
    to_number,
    to_place,
    to_time,
    to_weekday,
)
from countmorl.schema import NULLS, Column, Kind

LAB = Column(name="lab")
WARD = Column(name="ward", kind="category", values=("A", "B", "1", "true", "2.0"))
WHEN = Column(name="t", kind="elapsed")
EAST = timezone(timedelta(hours=2))


class TestMissing:
    @pytest.mark.parametrize(
        "value",
        [None, float("nan"), np.nan, np.float32("nan"), np.datetime64("NaT"), "", " ", *NULLS],
    )
    def test_what_is_missing(self, value):
        assert is_missing(LAB, plain(value))

    @pytest.mark.parametrize("value", [0, 0.0, False, "0", "x", np.int64(0), np.array(0.0)])
    def test_what_is_not(self, value):
        assert not is_missing(LAB, plain(value))

    def test_a_category_may_be_called_so(self):
        column = Column(name="kind", kind="category", values=("", "nan"))
        assert not is_missing(column, "")
        assert not is_missing(column, "nan")
        assert is_missing(column, None)

    def test_a_log_has_words_of_its_own(self):
        assert is_missing(LAB, "?", ("?", "-"))
        assert not is_missing(LAB, "?")

    def test_the_marks_of_pandas(self):
        pandas = pytest.importorskip("pandas")
        assert plain(pandas.NA) is plain(pandas.NaT) is None


class TestNumbers:
    @pytest.mark.parametrize(
        "value", [4.5, np.float32(4.5), np.array(4.5), "4.5", " 4.5 ", Decimal("4.5")]
    )
    def test_every_way_to_write_one(self, value):
        assert to_number(LAB, plain(value)) == 4.5

    def test_booleans_are_numbers(self):
        assert [to_number(LAB, value) for value in (True, "True", " false")] == [1, 1, 0]

    @pytest.mark.parametrize(
        "value", ["abc", "1_000", [1], np.ones(1), np.ones(2), datetime(2024, 1, 1), {}, 10**400]
    )
    def test_what_is_none(self, value):
        with pytest.raises(DataError, match="'lab' must be a number, got"):
            to_number(LAB, plain(value))

    def test_a_decimal_comma_is_seen(self):
        with pytest.raises(DataError, match=r"got '1,5'. Write a decimal point"):
            to_number(LAB, "1,5")

    @pytest.mark.parametrize("value", [math.inf, "-inf", "1e999"])
    def test_infinite_ones(self, value):
        with pytest.raises(DataError, match="must be a finite number"):
            to_number(LAB, value)


class TestBooleans:
    FLAG = Column(name="flag", kind="boolean")

    @pytest.mark.parametrize(
        "value", [True, 1, 1.0, "true", "True", "1", "1.0", " Yes", "y", np.bool_(True)]
    )
    def test_true(self, value):
        assert to_boolean(self.FLAG, plain(value)) == 1

    @pytest.mark.parametrize("value", [False, 0, 0.0, "false", "FALSE", "0", "no", "F"])
    def test_false(self, value):
        assert to_boolean(self.FLAG, plain(value)) == 0

    @pytest.mark.parametrize("value", [2, 0.5, "maybe", [], datetime(2024, 1, 1)])
    def test_neither(self, value):
        with pytest.raises(DataError, match="'flag' must be true or false, got"):
            to_boolean(self.FLAG, value)


class TestPlaces:
    @pytest.mark.parametrize(
        ("value", "place"), [("A", 0), ("B", 1), (1, 2), (1.0, 2), ("1", 2), (2, 4), (True, 3)]
    )
    def test_by_how_the_log_spelled_it(self, value, place):
        assert to_place(WARD, value) == place

    @pytest.mark.parametrize(
        ("values", "value", "place"),
        [
            (("A", "B"), " B ", 1),
            (("1", "2.5"), "2.50", 1),
            (("1", "2.5"), "1.0", 0),
            (("1", "2.5"), "01", 0),
            (("false", "true"), "TRUE", 1),
            (("2024-01-02 00:00:00.000000",), "2024-01-02", 0),
            (("2024-01-02 00:00:00.000000",), date(2024, 1, 2), 0),
        ],
    )
    def test_by_what_the_importer_made_of_it(self, values, value, place):
        column = Column(name="w", kind="category", values=values)
        assert to_place(column, value) == place

    def test_unknown_ones_are_refused_with_the_known(self):
        with pytest.raises(DataError, match=r"'ward' is 'a'.*Did you mean 'A'\? It knows: A, B, 1"):
            to_place(WARD, "a")

    def test_not_all_of_a_long_list_are_named(self):
        column = Column(name="x", kind="category", values=tuple(map(str, range(30))))
        with pytest.raises(DataError, match=r"18, 19, ... \(30 in all\)"):
            to_place(column, "thirty")

    def test_or_are_others(self):
        column = Column(name="w", kind="category", values=("A", "B"), unknown="other")
        assert to_place(column, "Z") == 2
        known = Column(name="w", kind="category", values=("other", "B"), unknown="other")
        assert to_place(known, "Z") == 0

    def test_a_scale_has_no_other(self):
        column = Column(name="s", kind="scale", values=("low", "high"), unknown="other")
        assert to_place(column, "high") == 1
        with pytest.raises(DataError, match="did not know"):
            to_place(column, "middle")

    def test_what_is_no_category_at_all(self):
        with pytest.raises(DataError, match="'ward' must be a category"):
            to_place(WARD, ["A"])


class TestTimes:
    @pytest.mark.parametrize(
        "value",
        [
            datetime(2024, 1, 1, 18, 30, 36),
            "2024-01-01T18:30:36",
            "2024-01-01 18:30:36",
            np.datetime64("2024-01-01T18:30:36", "ns"),
            datetime(2024, 1, 1, 18, 30, 36, tzinfo=EAST),
            "2024-01-01T18:30:36+02:00",
            time(18, 30, 36),
        ],
    )
    def test_the_hour_by_its_own_clock(self, value):
        assert to_hour(Column(name="t", kind="hour"), plain(value)) == pytest.approx(18.51)

    @pytest.mark.parametrize(
        ("value", "day"), [("2024-01-01", 0), (date(2024, 1, 7), 6), (datetime(2024, 1, 3, 23), 2)]
    )
    def test_the_day_of_the_week(self, value, day):
        assert to_weekday(Column(name="t", kind="weekday"), value) == day

    @pytest.mark.parametrize("value", ["31/12/2024", "noon", 5, 1.7e9, True, None])
    def test_what_is_no_date(self, value):
        with pytest.raises(
            DataError, match=r"'t' must be a date, got .* Write dates as 2024-03-31"
        ):
            to_hour(Column(name="t", kind="hour"), value)

    @pytest.mark.parametrize(
        ("first", "second", "passed"),
        [
            ("2024-01-01T10:00", "2024-01-02T11:30", 25.5),
            (date(2024, 1, 1), datetime(2024, 1, 1, 6), 6),
            ("2024-01-01T10:00+02:00", datetime(2024, 1, 1, 10, tzinfo=UTC), 2),
            (timedelta(minutes=30), timedelta(hours=2), 1.5),
            (np.timedelta64(30, "m"), np.timedelta64(2, "h"), 1.5),
            (3, 7.5, 4.5),
            ("3", "7.5", 4.5),
            (10**18 + 1, 10**18 + 4, 3),
        ],
    )
    def test_dates_differ_in_hours_and_numbers_as_they_are(self, first, second, passed):
        start, now = (to_time(WHEN, plain(value)) for value in (first, second))
        assert start.kind == now.kind
        assert now.at - start.at == pytest.approx(passed)

    def test_a_zone_is_another_kind_of_date(self):
        kinds = {to_time(WHEN, v).kind for v in ("2024-01-01", "2024-01-01T00:00Z", 3)}
        assert len(kinds) == 3

    @pytest.mark.parametrize("value", ["soon", "inf", math.inf, True, 10**400, "1_0", [1]])
    def test_what_is_no_time(self, value):
        with pytest.raises(DataError, match="'t' must be a date"):
            to_time(WHEN, value)


class TestSpread:
    def test_by_hand(self):
        assert spread(LAB, 4.5) == (4.5,)
        column = Column(name="w", kind="category", values=("A", "B"), unknown="other")
        assert spread(column, 2) == (0, 0, 1)
        filled = Column(name="w", kind="category", values=("A", "B"), missing="median", fill=1)
        assert spread(filled, 1) == (0, 1)
        assert spread(Column(name="t", kind="hour"), 6) == pytest.approx((1, 0))
        angle = 2 * math.pi / 7
        wanted = (math.sin(angle), math.cos(angle))
        assert spread(Column(name="t", kind="weekday"), 1) == pytest.approx(wanted)


def test_every_kind_is_read():
    assert set(READ) | {"elapsed"} == set(get_args(Kind))


def test_long_values_are_cut():
    assert len(shown("x" * 1000)) == 60
