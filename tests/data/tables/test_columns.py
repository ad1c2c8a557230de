import polars as pl
import pytest

from countmorl.data.tables.columns import (
    Item,
    as_value,
    resolve,
    resolve_exogenous,
    source_of,
    with_rule,
)
from countmorl.data.tables.frame import Frame
from countmorl.data.tables.request import Request, Setting
from countmorl.data.tables.scan import open_table
from countmorl.errors import ConfigError, DataError
from countmorl.schema import Column

NAMES = ("id", "t", "lab_1", "lab_2", "dose", "r", "temp [C]")


def names(items, what="obs", **how):
    request = Request(**how)
    return [(i.name, i.expression) for i in resolve(items, NAMES, request, what)]


def test_names_wild_cards_and_expressions():
    assert names(["lab_*", "t", "lab_1"]) == [("lab_1", None), ("lab_2", None), ("t", None)]
    assert names(["temp [C]"]) == [("temp [C]", None)]
    assert names(["f = dose * 2"]) == [("f", "dose * 2")]
    assert names(['"a b" = dose']) == [("a b", "dose")]
    columns = {"f": Setting(expression="dose + 1")}
    assert names(["f"], columns=columns) == [("f", "dose + 1")]


def test_a_wild_card_does_not_mean_what_has_a_part_already():
    found = names(["*"], episode="id", time="t", reward="r", action=("dose",))
    assert [name for name, _ in found] == ["lab_1", "lab_2", "temp [C]"]
    assert names(["t"], time="t") == [("t", None)]


@pytest.mark.parametrize(
    ("items", "words"),
    [(["lab_3"], "Did you mean 'lab_"), (["x_*"], r"'x_\*'"), ([], "No column of `obs`")],
)
def test_names_that_mean_nothing(items, words):
    with pytest.raises(ConfigError, match=words):
        names(items)


FRAME = pl.DataFrame(
    {
        "x": [1.0, 2.0],
        "b": [True, False],
        "w": ["a", "b"],
        "t": ["2024-01-31", "2024-02-01"],
        "none": [None, None],
    }
)


def source(name, *, action=False, expression=None, **how):
    request = Request(**how)
    frame = Frame(open_table(FRAME, request), request)
    return source_of(Item(name, expression), frame, request, is_action=action)


def test_kinds_by_what_columns_hold():
    kinds = {name: source(name).column.kind for name in ("x", "b", "w", "t")}
    assert kinds == {"x": "number", "b": "boolean", "w": "category", "t": "elapsed"}
    assert source("up", expression="x > 1").column.kind == "boolean"
    assert source("t", columns={"t": Setting(kind="hour")}).column.kind == "hour"


def test_a_column_under_a_second_name():
    for expression in ("w", ' "w" '):
        again = source("again", expression=expression)
        assert (again.column.kind, again.formula) == ("category", None)
        assert again.column.expression == expression
    clock = source("clock", expression="t", columns={"clock": Setting(kind="hour")})
    assert clock.column.numbers == ("clock.hour.sin", "clock.hour.cos")


def test_how_dates_are_written_is_kept_where_it_must_be_known():
    assert source("t").column.date_format == ""
    said = {"t": Setting(date_format="%Y-%d-%m")}
    with pytest.raises(DataError, match="row 1 holds '2024-01-31'"):
        source("t", columns=said)
    request = Request()
    frame = Frame(open_table(pl.DataFrame({"t": ["31.01.2024", "01.02.2024"]}), request), request)
    column = source_of(Item("t"), frame, request, is_action=False).column
    assert column.date_format == "%d.%m.%Y"


def test_kinds_of_actions():
    assert source("x", action=True).column.kind == "number"
    assert source("w", action=True).column.kind == "category"
    assert source("b", action=True).column.kind == "category"
    assert source("x", action=True, actions="discrete").column.kind == "category"
    assert source("b", action=True, actions="continuous").column.kind == "number"


def test_what_does_not_fit_is_refused():
    with pytest.raises(DataError, match=r"'none' .* is empty in every row"):
        source("none")
    with pytest.raises(DataError, match=r"'w' cannot be read as a time: it holds words .row 1"):
        source("w", columns={"w": Setting(kind="hour")})
    with pytest.raises(DataError, match="'w' cannot be read as a number"):
        source("w", action=True, actions="continuous")
    with pytest.raises(ConfigError, match="--scale w=low"):
        source("w", columns={"w": Setting(kind="scale")})


def test_rules_for_missing_values():
    number = Column(name="x")
    assert with_rule(number, "carry", is_action=False).missing == "carry"
    assert with_rule(number, "1.5", is_action=False).fill == 1.5
    assert with_rule(number, None, is_action=False) is number
    scale = Column(name="s", kind="scale", values=("low", "high"))
    assert with_rule(scale, "high", is_action=False).fill == 1.0
    with pytest.raises(ConfigError, match="Did you mean 'high'"):
        with_rule(scale, "hihg", is_action=False)
    with pytest.raises(ConfigError, match="has no median"):
        with_rule(Column(name="w", kind="category"), "median", is_action=False)
    with pytest.raises(ConfigError, match="has no median"):
        with_rule(number, "median", is_action=True)
    assert source("w", missing=("w=gone",)).filler == "gone"
    assert [as_value(each, "x") for each in ("True", False, "0", 2.5)] == [1, 0, 0, 2.5]
    with pytest.raises(ConfigError, match="got 'soon'"):
        as_value("soon", "x")


def test_exogenous_columns():
    assert resolve_exogenous(("lab_*", "t"), NAMES) == ("lab_1", "lab_2", "t")
    with pytest.raises(ConfigError, match="`exogenous` names 'rain'"):
        resolve_exogenous(("rain",), NAMES)
