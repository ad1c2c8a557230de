import polars as pl
import pytest

from countmorl.data.tables.expressions import quoted, read_formula
from countmorl.errors import ConfigError

NAMES = ("output", "temperature", "set point", "order", "d")
FRAME = pl.DataFrame(
    {"output": [10.0, 8.0], "temperature": [360.0, 350.0], "set point": [1.0, 2.0], "d": [1, 0]}
)


def value(text):
    return FRAME.select(read_formula(text, NAMES, "`reward`").expr).to_series().to_list()


def test_by_hand():
    assert value("output - 0.02 * abs(temperature - 350)") == [9.8, 8.0]
    assert value('"set point" * 2') == [2.0, 4.0]
    assert value("CASE WHEN d = 1 THEN output ELSE 0 END") == [10.0, 0.0]
    assert value("output >= 9 AND d <> 0") == [True, False]
    assert value("coalesce(nullif(output, 8), -1)") == [10.0, -1.0]
    assert value("cast(d AS double) / 4") == [0.25, 0.0]


def test_the_columns_that_are_needed():
    formula = read_formula('output + lag("set point", 2) - lead(output)', NAMES, "x")
    assert formula.columns == ("output", "set point")
    assert [(s.column, s.by) for s in formula.shifts] == [("set point", 2), ("output", -1)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("output +", "cannot be computed"),
        ("outptu * 2", "Did you mean 'output'"),
        ("(select 1)", "'select'"),
        ("output from x", "'x'"),
        ("read_csv('x')", "read_csv"),
        ("read_parquet('x')", "read_parquet"),
        ("sum(output)", "not a function of one row"),
        ("max(output) over ()", "max"),
        ("row_number() over ()", "row_number"),
        ("columns('o')", "columns"),
        ("output; drop table x", "';'"),
        ("__import__('os')", "__import__"),
        ("other.output", "'other'"),
        ("lag(output - 1)", "wants a column"),
        ("lag(outptu)", "Did you mean 'output'"),
        ("lag(output, 0)", "wants a column"),
        ("lag(output", "wants a column"),
        ("output, d", "must not hold a ','"),
    ],
)
def test_what_is_no_value_of_a_row_is_refused(text, words):
    with pytest.raises(ConfigError, match=words):
        read_formula(text, NAMES, "`reward`")


def test_names_with_quotes():
    assert quoted('a"b') == '"a""b"'
