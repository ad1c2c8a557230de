import polars as pl
import pytest

from countmorl.data.tables.words import Words, label
from countmorl.errors import DataError
from countmorl.schema import Column


def words(most=50, **how):
    return Words(Column(name="ward", kind="category", **how), most, lambda row: f"row {row + 1}")


def test_words_are_numbered_as_they_come_and_ordered_at_last():
    found = words()
    assert found.read(pl.Series(["b", None, "a", "b "]), 0).to_list() == [0.0, None, 1.0, 0.0]
    assert found.read(pl.Series(["c", "a", ""]), 4).to_list() == [2.0, 1.0, None]
    names, places = found.ordered()
    assert names == ("a", "b", "c")
    assert places.tolist() == [1, 0, 2]
    assert found.ordered("none")[0] == ("a", "b", "c", "none")


def test_numbers_and_truth_values():
    found = words()
    found.read(pl.Series([10.0, 9.0, float("nan"), 2.5]), 0)
    assert found.ordered()[0] == ("2.5", "9", "10")
    assert [label(each) for each in (True, 1.0, 0.5, " x ", 3)] == ["true", "1", "0.5", "x", "3"]


def test_words_that_the_schema_knows():
    found = words(values=("x", "y"), unknown="other")
    assert found.read(pl.Series(["y", "z", "x"]), 0).to_list() == [1.0, 2.0, 0.0]
    assert found.ordered()[0] == ("x", "y")
    strict = words(values=("left", "right"))
    with pytest.raises(DataError, match=r"'rigth' in row 12.*Did you mean 'right'"):
        strict.read(pl.Series(["left", "rigth"]), 10)


def test_too_many():
    with pytest.raises(DataError, match=r"more than 2 different words.*row 103"):
        words(most=2).read(pl.Series(["a", "b", "c"]), 100)


def test_a_column_without_any():
    assert words().read(pl.Series([None, None], dtype=pl.String), 0).is_nan().all()
