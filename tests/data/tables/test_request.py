import pytest

from countmorl.data.tables.request import Request, Setting, matches, pair, request_of
from countmorl.errors import ConfigError
from countmorl.schema import Column, Schema


def test_one_word_is_as_good_as_a_list():
    request = request_of({"obs": "x", "action": ["a"], "missing": "carry", "action_low": 1})
    assert (request.obs, request.action, request.missing) == (("x",), ("a",), ("carry",))
    assert request.action_low == (1.0,)


def test_the_last_rule_that_names_a_column_counts():
    request = Request(missing=("carry", "lab_*=median", "lab_1=0"))
    assert [request.rule(name) for name in ("lab_1", "lab_2", "age")] == ["0", "median", "carry"]
    assert request.rule("died", bare=False) is None
    assert request.rule("r", "reward") == "carry"


def test_what_names_a_column_exactly_counts_more_than_a_wild_card():
    columns = {"lab_1": Setting(unit="mg"), "lab_*": Setting(unit="g", kind="number")}
    request = Request(columns=columns, categories=("ward",), scale=("pain=none, mild,severe",))
    assert request.setting("lab_1") == Setting(unit="mg", kind="number")
    assert request.setting("lab_2").unit == "g"
    assert request.setting("ward").kind == "category"
    assert request.setting("pain").values == ("none", "mild", "severe")


def test_options_change_what_a_schema_says():
    base = Request(obs=("x",), history=3, missing=("x=carry",), columns={"x": Setting(unit="m")})
    own = Request(history=1, missing=("y=0",), columns={"y": Setting(unit="s")})
    both = own.over(base, ["history", "missing", "columns"])
    assert (both.obs, both.history, both.missing) == (("x",), 1, ("x=carry", "y=0"))
    assert set(both.columns) == {"x", "y"}


def test_a_schema_asks_for_the_same_again():
    ward = Column(name="ward", kind="category", values=("a", "b"), missing="value", fill=1.0)
    schema = Schema(
        obs=(Column(name="lab", missing="median", fill=2.5), ward),
        action=(Column(name="dose"),),
        reward="r",
        history=2,
    )
    request = Request.of(schema)
    assert (request.obs, request.action, request.reward) == (("lab", "ward"), ("dose",), "r")
    assert request.setting("lab").fill == 2.5
    assert request.setting("ward").missing == "b"
    assert request.actions == "continuous"


def test_a_schema_keeps_how_dates_and_nothing_are_written():
    clock = Column(name="clock", kind="hour", expression="visit", date_format="%d/%m/%Y %H:%M")
    schema = Schema(obs=(clock,), action=(Column(name="dose"),), null=("?",))
    request = Request.of(schema)
    assert request.null == ("?",)
    assert request.setting("visit").date_format == "%d/%m/%Y %H:%M"
    assert request.setting("clock").expression == "visit"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"obss": ["x"]}, "Did you mean 'obs'"),
        ({"columns": {"x": {"kid": "number"}}}, "Column 'x'.*Did you mean 'kind'"),
        ({"columns": {"x": {"kind": "colour"}}}, "kind"),
        ({"columns": {"x": 3}}, "must be a table"),
        ({"columns": 3}, "must be a table"),
        ({"history": 0}, "at least 1"),
        ({"obs": [1]}, "obs"),
    ],
)
def test_what_is_not_known_is_refused(given, words):
    with pytest.raises(ConfigError, match=words):
        request_of(given)


def test_names_and_pairs():
    assert matches("lab_*", "lab_1")
    assert matches("temp [C]", "temp [C]")
    assert not matches("lab_*", "Lab_1")
    assert pair(" x = 1 ", "missing", "") == ("x", "1")
    with pytest.raises(ConfigError, match="NAME=VALUE"):
        pair("x=", "missing", "lab=carry")
