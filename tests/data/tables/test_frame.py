import polars as pl
import pytest

from countmorl.data.tables.expressions import read_formula
from countmorl.data.tables.frame import Frame
from countmorl.data.tables.request import Request, Setting
from countmorl.data.tables.scan import open_table
from countmorl.errors import ConfigError, DataError


def frame(source, **how):
    request = Request(**how)
    return Frame(open_table(source, request), request)


@pytest.fixture
def csv(tmp_path):
    def write(text):
        (tmp_path / "log.csv").write_text(text)
        return tmp_path / "log.csv"

    return write


def test_what_is_asked_for_is_read(csv):
    found = frame(csv("id,x,died,day,w\n007,1,yes,2024-01-31,a\n8,2.5,no,2024-02-01,b\n"))
    assert found.meaning("x").holds == "number"
    assert found.meaning("day").holds == "time"
    found.flag("died")
    found.identity("id")
    read = found.lazy().collect()
    assert read["x"].to_list() == [1.0, 2.5]
    assert read["died\x1fflag"].to_list() == [True, False]
    assert read["id\x1fid"].to_list() == ["007", "8"]
    assert read["day"].dtype == pl.Datetime("us")
    assert "w" not in read.columns


def test_a_column_that_begins_late(csv):
    found = frame(csv("a,x\n" + "1,\n" * 12_000 + "1,5\n"))
    assert found.meaning("x").holds == "number"
    assert found.lazy().collect()["x"][-1] == 5.0


def test_words_for_nothing_count_in_every_format():
    found = frame(pl.DataFrame({"x": ["1.5", "NA", "", "miss"]}), null=("miss",))
    assert found.meaning("x").holds == "number"
    assert found.lazy().collect()["x"].to_list() == [1.5, None, None, None]


def test_whole_and_broken_numbers_of_several_files(tmp_path):
    pl.DataFrame({"x": [1, 2]}).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame({"x": [2.5]}).write_parquet(tmp_path / "b.parquet")
    found = frame(tmp_path)
    found.meaning("x")
    assert found.lazy().collect()["x"].to_list() == [1.0, 2.0, 2.5]


def test_what_expressions_hold(csv):
    found = frame(csv("x,w,day\n1,a,2024-01-31\n2,b,2024-02-01\n"))
    for text, holds in (("x / 2", "number"), ("x > 1", "boolean"), ("upper(w)", "text")):
        assert found.holds_of(read_formula(text, found.names, "x")) == holds
    assert found.holds_of(read_formula("extract(hour from day)", found.names, "x")) == "number"
    with pytest.raises(ConfigError, match="cannot be computed"):
        found.holds_of(read_formula("abs(w)", found.names, "x"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x\n1\n2\nabc\n", "row 3 of .*log.csv holds 'abc'.*--null 'abc'"),
        ("x\n1\nx\n2\n", "row 2 of .*repeats the header"),
        ("x;y\n1,5;a\n2;b\n", "decimal comma: row 1 of .*'1,5'. --decimal-comma"),
        ("x\n2024-02-28\n2024-02-29\n2024-02-30\n", "row 3 of .*'2024-02-30'.*not written as"),
        ("x\n1\n2\n1,234.5\n", "has 2 values"),
        ("x\n", "header but no rows"),
    ],
)
def test_mistakes_in_the_first_rows(csv, text, words):
    with pytest.raises(DataError, match=words):
        frame(csv(text)).meaning("x")


def test_what_is_said_to_be_words_may_be_anything(csv):
    said = {"x": Setting(kind="category")}
    assert frame(csv("x\n1\n2\nabc\n"), columns=said).meaning("x").holds == "text"


@pytest.mark.parametrize(("value", "words"), [("abc", "'abc'"), ("2,5", "decimal comma")])
def test_mistakes_far_behind_are_found_by_row(csv, value, words):
    found = frame(csv("a;x\n" + "1;1\n" * 11_000 + f"1;{value}\n" + "1;1\n"))
    found.meaning("x")
    with pytest.raises(pl.exceptions.PolarsError) as caught:
        found.lazy().collect()
    with pytest.raises(DataError, match=rf"row 11,001 of .*{words}"):
        found.explain(caught.value)


def test_mistakes_far_behind_in_json(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"x": 1}\n' * 11_000 + '{"x": "abc"}\n')
    found = frame(path)
    found.meaning("x")
    with pytest.raises(DataError, match=r"row 11,001 of .*'abc'"):
        found.explain(ValueError("cannot parse"))


def test_zones_that_are_mixed(csv):
    found = frame(csv("t\n2024-01-01T10:00:00\n2024-01-01T11:00:00Z\n"))
    holds = found.meaning("t").holds
    error = found.cannot_be("t", "elapsed", holds)
    assert "others do not: the first that differs stands in row 2" in str(error)
