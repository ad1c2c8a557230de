"""Rows of a log as numbers, worked out by hand."""

import math
from datetime import datetime

import numpy as np
import pytest

from countmorl.errors import DataError
from countmorl.runtime.rows import Memory, Rows, as_row
from countmorl.schema import Column, Schema

ACTION = (Column(name="dose", fill=0.5),)


def rows(*columns, **more):
    return Rows(Schema(obs=columns, action=ACTION, **more))


def number(name="x", **more):
    return Column(name=name, **more)


CLINIC = rows(
    Column(name="lab", missing="median", fill=4.0, unit="mmol/l"),
    Column(name="smoker", kind="boolean"),
    Column(name="ward", kind="category", values=("A", "B"), unknown="other"),
    Column(name="pain", kind="scale", values=("none", "some", "much")),
    Column(name="t", kind="hour"),
    Column(name="t", kind="weekday"),
    Column(name="weight", missing="value", fill=70.0),
)
VISIT = {
    "lab": 4.2,
    "smoker": True,
    "ward": "B",
    "pain": "much",
    "t": datetime(2024, 1, 2, 6),
    "weight": None,
    "patient": 17,
}


class TestByHand:
    def test_a_visit(self):
        angle = 2 * math.pi / 7
        wanted = [4.2, 0, 1, 0, 1, 0, 2, 1, 0, math.sin(angle), math.cos(angle), 70]
        got = CLINIC.numbers(VISIT)
        assert got.dtype == np.float32
        assert len(got) == len(CLINIC.schema.now)
        np.testing.assert_allclose(got, wanted, atol=1e-6)

    def test_what_is_missing_and_what_is_other(self):
        got = CLINIC.numbers(VISIT | {"lab": float("nan"), "ward": "Z"})
        np.testing.assert_array_equal(got[:6], [4.0, 1, 1, 0, 0, 1])

    def test_the_order_of_a_row_does_not_matter(self):
        turned = dict(reversed(VISIT.items()))
        np.testing.assert_array_equal(CLINIC.numbers(turned), CLINIC.numbers(VISIT))

    def test_text_of_a_csv_gives_the_same(self):
        text = {k: "" if v is None else str(v) for k, v in VISIT.items()}
        np.testing.assert_array_equal(CLINIC.numbers(text), CLINIC.numbers(VISIT))

    def test_several_rows(self):
        assert CLINIC.table([VISIT, VISIT]).shape == (2, 12)
        assert CLINIC.table([]).shape == (0, 12)

    def test_what_fills_a_category_or_an_hour(self):
        """A fill is a place or an hour, before it is spread."""
        filled = rows(
            Column(name="ward", kind="category", values=("A", "B"), missing="median", fill=1),
            Column(name="t", kind="hour", missing="value", fill=6),
        )
        got = filled.numbers({"ward": None, "t": None})
        np.testing.assert_allclose(got, [0, 1, 1, 1, 0], atol=1e-6)


class TestRefused:
    @pytest.mark.parametrize(
        ("column", "words"),
        [
            (number(), "'x' is missing. The log had no missing ones"),
            (number(missing="drop"), "rows without it were dropped"),
            (number(missing="median"), "does not say which number"),
            (number(missing="value"), "does not say which number"),
            (number(missing="carry"), r"carried forward.*`policy.session\(\)`"),
        ],
    )
    def test_missing_values(self, column, words):
        with pytest.raises(DataError, match=words):
            rows(column).numbers({"x": None})

    def test_a_slip_in_a_name(self):
        with pytest.raises(DataError, match=r"has no 'lab_1'. Did you mean 'lab1'\?$"):
            rows(number("lab_1")).numbers({"lab1": 3})

    def test_where_it_may_be_missing_none_says_so(self):
        with pytest.raises(DataError, match=r"has no 'x'. Give None where it is not known"):
            rows(number(missing="carry")).numbers({})

    def test_no_more_names_than_one_reads(self):
        wide = rows(*(number(f"x{i}") for i in range(300)))
        with pytest.raises(DataError, match="'x3', 'x4' and 295 more"):
            wide.numbers({})

    def test_a_computed_column_is_given(self):
        computed = rows(number("rise", expression="b - a"))
        np.testing.assert_array_equal(computed.numbers({"rise": 3}), [3])
        with pytest.raises(DataError, match=r"computed as b - a.*under the name 'rise'"):
            computed.numbers({"a": 1, "b": 2})

    def test_one_that_is_another_under_a_second_name_is_found(self):
        second = rows(number("again", expression='"the x"'), number("late", expression="t"))
        np.testing.assert_array_equal(second.numbers({"the x": 3, "t": 4}), [3, 4])
        np.testing.assert_array_equal(second.numbers({"again": 5, "the x": 3, "t": 4}), [5, 4])

    def test_dates_in_the_format_of_the_log(self):
        clock = rows(Column(name="t", kind="weekday", date_format="%d/%m/%Y"))
        np.testing.assert_array_equal(
            clock.numbers({"t": "02/01/2024"}), clock.numbers({"t": "2024-01-02"})
        )
        with pytest.raises(DataError, match=r"'t' must be a date.*Write dates as %d/%m/%Y"):
            clock.numbers({"t": "01/31/2024"})

    def test_words_for_nothing(self):
        filled = rows(number(missing="value", fill=7), null=("?",))
        assert filled.table([{"x": "?"}, {"x": "NA"}, {"x": 2}]).ravel().tolist() == [7, 7, 2]

    def test_numbers_beyond_32_bits(self):
        with pytest.raises(DataError, match=r"'y' is 1e\+39, more than a number of 32 bits"):
            rows(number(), number("y")).numbers({"x": 1, "y": 1e39})

    @pytest.mark.parametrize("row", [[1, 2], "x", 3, None, np.zeros(2)])
    def test_what_is_no_row(self, row):
        with pytest.raises(DataError, match="A row is a mapping of names to values"):
            as_row(row)

    def test_a_frame_is_no_row_but_its_rows_are(self):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame({"x": [1.0, 2.0], "y": [3.0, 4.0]})
        with pytest.raises(DataError, match="got DataFrame"):
            as_row(frame)
        got = rows(number("y"), number("x")).numbers(frame.iloc[1])
        np.testing.assert_array_equal(got, [4, 2])


class TestMemory:
    def play(self, reader, *given):
        memory, found = Memory(), []
        for row in given:
            numbers, memory = reader.next(row, memory)
            found.append(numbers.tolist())
        return found

    def test_values_are_carried_forward(self):
        carry = rows(number(missing="carry"), number("y"))
        given = [{"x": 1, "y": 0}, {"x": None, "y": 1}, {"x": None, "y": 2}, {"x": 5, "y": 3}]
        assert self.play(carry, *given) == [[1, 0], [1, 1], [1, 2], [5, 3]]

    def test_but_not_from_nowhere(self):
        with pytest.raises(DataError, match="episode's first row, so there is no value to carry"):
            self.play(rows(number(missing="carry")), {"x": None})

    def test_categories_are_carried_whole(self):
        ward = Column(name="w", kind="category", values=("A", "B"), missing="carry")
        assert self.play(rows(ward), {"w": "B"}, {"w": None}) == [[0, 1], [0, 1]]

    def test_time_passes_in_hours(self):
        clock = rows(Column(name="t", kind="elapsed", missing="carry"))
        times = ["2024-01-01T22:00", "2024-01-01T22:30", None, "2024-01-03T00:00"]
        assert self.play(clock, *({"t": t} for t in times)) == [[0], [0.5], [0.5], [26]]

    def test_numbers_of_time_stay_as_they_are(self):
        clock = rows(Column(name="t", kind="elapsed"))
        assert self.play(clock, {"t": 100}, {"t": 130.5}) == [[0], [30.5]]

    def test_only_the_clock_of_the_log_never_runs_back(self):
        """Other dates, such as of the last visit, may lie before the first row's."""
        clock, given = Column(name="t", kind="elapsed"), [{"t": 5}, {"t": 4}]
        assert self.play(rows(clock), *given) == [[0], [-1]]
        with pytest.raises(DataError, match="'t' lies before the episode's first row"):
            self.play(rows(clock, time="t"), *given)

    @pytest.mark.parametrize(
        ("first", "second", "words"),
        [
            (5, "2024-01-01", "a date without a time zone now and was a number"),
            ("2024-01-01", "2024-01-02T00:00Z", "with a time zone now and was a date without"),
        ],
    )
    def test_times_of_two_forms(self, first, second, words):
        with pytest.raises(DataError, match=words):
            self.play(rows(Column(name="t", kind="elapsed")), {"t": first}, {"t": second})

    def test_when_it_is_needed(self):
        assert rows(number(missing="carry")).needs_session is None
        assert "last 3 observations" in rows(number(), history=3).needs_session
        assert "'t' is the time since" in rows(Column(name="t", kind="elapsed")).needs_session
