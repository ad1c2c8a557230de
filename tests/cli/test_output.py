import json

import pytest

from countmorl.cli.output import points, print_json, print_pairs, print_table


def test_json_is_one_line(capsys):
    print_json({"a": [1, None], "b": "x\ny"})
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert json.loads(out) == {"a": [1, None], "b": "x\ny"}


def test_pairs_are_aligned(capsys):
    print_pairs({"a": 1, "long name": "two"})
    assert capsys.readouterr().out == "a          1\nlong name  two\n"


def test_table(capsys):
    print_table(("name", "rows"), [("x", "1"), ("longer", "23")])
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == ["name    rows", "x       1", "longer  23"]


def test_a_table_in_a_pipe_is_not_cut_off(capsys):
    print_table(("name",), [("a" * 150,)])
    assert "a" * 150 in capsys.readouterr().out


@pytest.mark.parametrize(
    ("mean", "spread", "text"),
    [(None, None, "no reference known"), (12.34, None, "12.3"), (12.34, 0.56, "12.3 ± 0.6")],
)
def test_points(mean, spread, text):
    assert points(mean, spread) == text
