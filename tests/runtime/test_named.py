"""Columns with names are put in order; nothing is taken by its place where it has a name."""

import numpy as np
import pytest

from countmorl.errors import DataError
from countmorl.runtime.named import Frame, as_numbers, in_order, names_of

COLUMNS = {"y": [1.0, 2.0], "extra": [0.0, 0.0], "x": [3.0, 4.0]}
ORDERED = [[3, 1], [4, 2]]


def frame(package):
    library = pytest.importorskip(package)
    return library.table(COLUMNS) if package == "pyarrow" else library.DataFrame(COLUMNS)


def structured():
    table = np.zeros(2, [(name, "f4") for name in COLUMNS])
    for name, column in COLUMNS.items():
        table[name] = column
    return table


def test_a_mapping():
    np.testing.assert_array_equal(in_order(COLUMNS, ("x", "y")), ORDERED)
    np.testing.assert_array_equal(in_order({"y": 1, "x": np.float32(3)}, ("x", "y")), [3, 1])


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_every_frame(package):
    given = frame(package)
    assert isinstance(given, Frame)
    assert names_of(given) == tuple(COLUMNS)
    np.testing.assert_array_equal(in_order(given, ("x", "y")), ORDERED)


def test_a_row_of_a_frame_and_an_array_with_fields():
    np.testing.assert_array_equal(in_order(frame("pandas").iloc[0], ("x", "y")), ORDERED[0])
    np.testing.assert_array_equal(in_order(structured(), ("x", "y")), ORDERED)


@pytest.mark.parametrize("given", [np.zeros((2, 3)), [1, 2], [[1], [2]], 3.0, "text", None])
def test_what_has_no_names(given):
    assert names_of(given) is None


def test_a_frame_made_of_an_array_has_none():
    assert names_of(pytest.importorskip("pandas").DataFrame(np.zeros((2, 3)))) is None


def test_a_missing_column_with_the_one_that_was_meant():
    with pytest.raises(DataError, match=r"no column 'lab_1'. Did you mean 'lab1'\?.*act_rows"):
        in_order({"lab1": 1.0, "x": 2.0}, ("x", "lab_1"))
    with pytest.raises(DataError, match="no column 'a', nor 2 others of 4"):
        in_order({"x": 1}, ("x", "a", "b", "c"))


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"x": [1.0], "y": [1.0, 2.0]}, "'y' has the shape"),
        ({"x": [[1.0]], "y": [[1.0]]}, "'x' has the shape"),
        ({"x": 1.0, "y": [2.0]}, "Wanted one number of each"),
        ({"x": 1.0, "y": "A"}, "'y' must hold numbers"),
        ({"x": 1.0, "y": None}, "'y' holds NaN"),
        ({"x": [1.0], "y": [np.inf]}, "'y' holds NaN or infinite"),
    ],
)
def test_columns_that_are_no_numbers(columns, words):
    with pytest.raises(DataError, match=words):
        in_order(columns, ("x", "y"))


@pytest.mark.parametrize("given", [[{"x": 1}], ["A"], [[1], [1, 2]]])
def test_what_is_no_array(given):
    with pytest.raises(DataError, match=r"arrays of numbers; got list.*`act_rows` take rows"):
        as_numbers(given)
