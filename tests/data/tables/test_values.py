from datetime import datetime

import polars as pl
import pytest

from countmorl.data.tables.values import (
    Meaning,
    canonical,
    hour_of,
    meaning_of,
    mixed_zones,
    most_are,
    wall_clock,
)
from countmorl.errors import DataError


@pytest.mark.parametrize(
    ("values", "holds", "format"),
    [
        (["1", "-2.5e3", None], "number", None),
        ([" 1 ", "2"], "number", None),
        (["True", "false"], "boolean", None),
        (["2024-01-31", "2024-02-01"], "time", "%Y-%m-%d"),
        (["31.01.2024 10:30"], "time", "%d.%m.%Y %H:%M"),
        (["2024-01-31T10:00:00.5"], "time", "%Y-%m-%dT%H:%M:%S%.f"),
        (["2024-01-31 10:00:00+02:00"], "time", "%Y-%m-%d %H:%M:%S%.f%#z"),
        (["13/02/2024", "01/02/2024"], "time", "%d/%m/%Y"),
        (["icu", "ward"], "text", None),
        ([None], "nothing", None),
    ],
)
def test_what_text_holds(values, holds, format):
    found = meaning_of(pl.Series(values, dtype=pl.String), "x")
    assert (found.holds, found.format) == (holds, format)


def test_what_types_hold():
    day = datetime(2024, 1, 31)
    for values, holds in (([1, 2], "number"), ([True], "boolean"), ([day], "time")):
        assert meaning_of(pl.Series(values), "x").holds == holds
    assert meaning_of(pl.Series([None]), "x").holds == "nothing"
    assert meaning_of(pl.Series(["a"], dtype=pl.Categorical), "x").holds == "text"
    with pytest.raises(DataError, match="'x' holds values of type List"):
        meaning_of(pl.Series([[1]]), "x")


def test_dates_that_can_be_read_in_two_ways_are_asked_about():
    with pytest.raises(DataError, match=r"two ways.*--date-format"):
        meaning_of(pl.Series(["01/02/2024"]), "visit")
    said = meaning_of(pl.Series(["01/02/2024"]), "visit", date_format="%m/%d/%Y")
    assert said.format == "%m/%d/%Y"


def test_a_mistake_does_not_make_words_of_numbers():
    assert most_are(pl.Series(["1", "2", "x"])) == Meaning("number")
    assert most_are(pl.Series(["2024-02-28", "2024-02-29", "2024-02-30"])).format == "%Y-%m-%d"
    assert most_are(pl.Series(["a", "b", "3"])) is None


def read(values, meaning, dtype=None, **how):
    column = pl.Series("x", values, dtype=dtype)
    chosen = canonical(pl.col("x"), column.dtype, meaning, **how)
    return column.to_frame().select(chosen).to_series().to_list()


def test_canonical_values():
    assert read([" 1.5", None, "2"], Meaning("number")) == [1.5, None, 2.0]
    assert read(["1,5"], Meaning("number", comma=True)) == [1.5]
    assert read([1.0, float("nan")], Meaning("number")) == [1.0, None]
    assert read(["Yes", "0", None], Meaning("boolean")) == [True, False, None]
    assert read([1, 0, None], Meaning("boolean")) == [True, False, None]
    assert read([2, 1], Meaning("boolean"), strict=False) == [None, True]
    assert read([1.0, 2.5], Meaning("text")) == ["1", "2.5"]
    hours = pl.Series([5_400_000_000]).cast(pl.Duration("us"))
    assert read(hours, Meaning("number")) == [1.5]


def test_zones_are_brought_to_utc_and_clocks_are_not():
    zoned = Meaning("time", "%Y-%m-%dT%H:%M:%S%.f%#z")
    text = ["2024-01-31T10:30:00+02:00", "2024-01-31T10:30:00Z"]
    assert [each.hour for each in read(text, zoned)] == [8, 10]
    frame = pl.DataFrame({"x": text})
    clock = wall_clock(pl.col("x"), pl.String(), zoned)
    assert frame.select(hour_of(clock)).to_series().to_list() == [10.5, 10.5]
    typed = pl.Series("x", [datetime(2024, 6, 1, 10)]).dt.replace_time_zone("Europe/Berlin")
    assert read(typed, Meaning("time"))[0].hour == 8
    local = typed.to_frame().select(wall_clock(pl.col("x"), typed.dtype, Meaning("time")))
    assert local.to_series()[0].hour == 10


def test_mixed_zones():
    assert not mixed_zones(pl.Series([], dtype=pl.String))  # A table whose only line is torn.
    assert mixed_zones(pl.Series(["2024-01-01T10:00:00", "2024-01-01T10:00:00Z"]))
    assert not mixed_zones(pl.Series(["2024-01-01T10:00:00Z", "2024-01-01T10:00:00+01:00"]))
    assert not mixed_zones(pl.Series(["mon", "tue"]))
