import polars as pl
import pytest

from countmorl.data.tables.layout import lay_out, no_rows
from countmorl.data.tables.request import Request, Setting
from countmorl.data.tables.scan import open_table
from countmorl.errors import ConfigError, CountMorlError

FRAME = pl.DataFrame(
    {
        "id": ["a", "a"],
        "t": [0, 1],
        "x": [1.0, 2.0],
        "a": [0.5, 0.1],
        "r": [1.0, 0.0],
        "d": [0, 1],
        "w": ["u", "v"],
    }
)
ASKED = {"obs": ("x",), "action": ("a",), "reward": "r"}


def laid_out(**how):
    request = Request(**(ASKED | how))
    return lay_out(open_table(FRAME, request), request)


def test_every_part_is_found():
    layout = laid_out(
        episode="id", time="t", terminated="d", truncated="x > 1", missing=("d=false",)
    )
    assert [source.column.name for source in layout.columns] == ["x", "a"]
    assert layout.flags["terminated"].column.fill == 0
    assert layout.flags["truncated"].holds == "boolean"
    assert (layout.dated, layout.time is None, layout.episode is None) == (False, False, False)
    assert laid_out(missing=("carry",), terminated="d").flags["terminated"].column.fill is None
    assert laid_out(missing=("reward=0",)).reward.column.fill == 0
    assert laid_out(missing=("r=0",)).reward.column.fill == 0
    said = {"r": Setting(missing=0.0), "terminated": Setting(missing=False)}
    layout = laid_out(columns=said, terminated="d")
    assert (layout.reward.column.fill, layout.flags["terminated"].column.fill) == (0, 0)
    assert laid_out(columns=said, missing=("r=2",)).reward.column.fill == 2


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"reward": None}, "the table: No reward"),
        ({"reward": "w"}, "'w' cannot be read as a number"),
        ({"reward": "rr"}, "'rr'"),
        ({"obs": ("a", "x")}, "both in `obs` and in `action`"),
        ({"time": "w"}, "cannot be read as a time"),
        ({"time": "when"}, "`time` names 'when'"),
        ({"episode": "patient"}, "'patient'"),
        ({"episode": "lag(t)"}, "cannot look at other rows"),
        ({"obs": ("x", "last = lag(w)")}, "lag and lead are for numbers, but 'w'"),
        ({"obs": ("x", "last = cast(lag(x) as varchar)")}, "lag and lead are for numbers"),
        ({"flag": "lag(x) is null"}, "cannot look at other rows"),
        ({"terminated": "upper(w)"}, "gives words"),
        ({"terminated": "d", "missing": ("d=carry",)}, "true or false"),
        ({"missing": ("lba=carry",)}, "`missing` names 'lba'"),
        ({"categories": ("q",)}, "`categories` names 'q'"),
        ({"scale": ("q=a,b",)}, "`scale` names 'q'"),
        ({"columns": {"q": Setting(unit="m")}}, "`columns` names 'q'"),
    ],
)
def test_what_does_not_exist_or_fit(how, words):
    with pytest.raises(CountMorlError, match=words):
        laid_out(**how)


def test_sentences_name_the_table():
    with pytest.raises(ConfigError, match=r"^the table: "):
        laid_out(obs=("y",))


def test_tables_that_are_too_short():
    table = open_table(FRAME, Request())
    assert "has no rows" in str(no_rows(table, 0))
    assert "has one row" in str(no_rows(table, 1))
