"""`countmorl data import` and `data schema`, and what they say of bad tables."""

import gzip
import io
import json

import polars as pl
import pytest

import countmorl

HEADER = "p,t,x,y,a,r,d"
ASKED = ("--obs", "x", "y", "--action", "a", "--reward", "r", "--episode", "p")
LATE = 12_000
"""A row behind those by which columns are judged."""


def rows(count=20, change=None):
    """A clean table as CSV; `change` maps a row (from 0) to the values it has instead."""
    lines = [HEADER]
    for i in range(count):
        row = [i // 4, i % 4, i + 0.5, i * i % 97, i % 2 * 0.5, 1.0, "false"]
        lines.append(",".join(map(str, (change or {}).get(i) or row)))
    return "\n".join(lines) + "\n"


def with_value(place, value, row=5, count=20):
    """A clean table with one value of one row changed."""
    line = rows(count).splitlines()[row + 1].split(",")
    line[HEADER.split(",").index(place)] = value
    return rows(count, {row: line})


def column(place, make, count=20):
    """A clean table with one column made anew."""
    lines = [line.split(",") for line in rows(count).splitlines()[1:]]
    at = HEADER.split(",").index(place)
    for i, line in enumerate(lines):
        line[at] = make(i)
    return "\n".join([HEADER, *map(",".join, lines)]) + "\n"


class TestImport:
    def test_what_was_understood_is_printed(self, run_cli, tmp_path):
        (tmp_path / "log.csv").write_text(with_value("x", ""))
        code, out, err = run_cli(
            *("data", "import", "log.csv", "-o", "log.hdf5", *ASKED, "--time", "t"),
            *("--missing", "x=median", "--exogenous", "y"),
        )
        assert (code, err) == (0, "")
        assert "x       obs        number  2        1 set to the median" in out
        assert "y       exogenous  number  1" in out
        assert "episodes  5, cut by the id 'p'; ordered by 't'" in out
        assert "a from 0 to 0.5 (found; 50% lie on the lower bound, 50% on the upper)" in out
        assert out.endswith("20 steps with 3 numbers of observation written to log.hdf5\n")
        dataset = countmorl.load("log.hdf5")
        assert dataset.obs_names == ("x", "x.missing", "y")

    def test_no_column_moves_the_cursor(self, run_cli, tmp_path):
        (tmp_path / "log.csv").write_text(column("y", lambda _: "1").replace("y", "y\x1b[2J", 1))
        asked = ("--obs", "x", "y\x1b[2J", *ASKED[3:])
        code, out, err = run_cli("data", "import", "log.csv", "-o", "log.hdf5", *asked)
        assert code == 0
        assert "y\\x1b[2J" in out + err
        assert "\x1b" not in out + err

    def test_json(self, run_cli, tmp_path):
        (tmp_path / "log.csv").write_text(rows())
        code, out, _ = run_cli("data", "import", "log.csv", "--out", "log.h5", *ASKED, "--json")
        found = json.loads(out)
        assert (code, found["path"], found["steps"], found["episodes"]) == (0, "log.h5", 20, 5)
        assert found["schema"]["obs"][0]["name"] == "x"

    def test_options_may_be_repeated(self, run_cli, tmp_path):
        (tmp_path / "log.csv").write_text(with_value("x", "").replace("1.0,false", ",false", 1))
        code, _, _ = run_cli(
            *("data", "import", "log.csv", "-o", "log.hdf5", "--obs", "x", "--obs", "y"),
            *("--action", "a", "--reward", "r", "--missing", "x=carry", "--missing", "reward=0"),
            *("--kind", "y=number", "--history", "2"),
        )
        assert code == 0
        assert countmorl.load("log.hdf5").obs_names == ("x", "y", "x@-1", "y@-1", "a@-1")

    def test_discrete_actions_keep_their_names(self, run_cli, tmp_path):
        (tmp_path / "log.csv").write_text(rows())
        _, out, _ = run_cli("data", "import", "log.csv", "-o", "l.hdf5", *ASKED, "--discrete")
        assert "one of 2: 0 50%, 0.5 50%" in out
        assert countmorl.load("l.hdf5").action_names == ("0", "0.5")

    def test_how_likely_actions_were_is_kept_from_the_table_to_every_copy(self, run_cli, tmp_path):
        """The proposed schema knows the column by its name, an option names any."""
        likely = [0.2, 0.4, 0.8, 1.0] * 5
        lines = rows().replace(HEADER, "patient,t,x,y,action,reward,died").splitlines()
        table = [f"{a},{b}" for a, b in zip(lines, ["action_prob", *likely], strict=True)]
        (tmp_path / "log.csv").write_text("\n".join(table))
        run_cli("data", "schema", "log.csv", "-o", "log.toml")
        assert 'propensity = "action_prob"' in (tmp_path / "log.toml").read_text()
        words = ("data", "import", "log.csv", "--schema", "log.toml", "-o")
        code, _, err = run_cli(*words, "never.hdf5")
        assert (code, "say --discrete where the action is a choice" in err) == (2, True)
        code, out, err = run_cli(*words, "log.hdf5", "--discrete")
        assert (code, err) == (0, "")
        told = "propensity  logged: 0.6 (from 0.2 to 1)"
        assert told in out
        run_cli("data", "convert", "log.hdf5", "copy.npz")
        for name in ("log.hdf5", "copy.npz"):
            dataset = countmorl.load(name)
            assert dataset.propensity == pytest.approx(likely)
            assert dataset.obs_names == ("x", "y")
            _, out, _ = run_cli("data", "info", name)
            assert " ".join(told.split()) in " ".join(out.split())
        table[3] = table[3].removesuffix("0.8") + "1.4"
        (tmp_path / "log.csv").write_text("\n".join(table))
        code, _, err = run_cli(*words, "bad.hdf5", "--discrete", "--propensity", "action_prob")
        assert code == 2
        assert "The propensity 'action_prob' is 1.4 in row 3 of log.csv" in err
        assert not (tmp_path / "bad.hdf5").exists()

    def test_a_proposed_schema_imports_the_log(self, run_cli, tmp_path):
        text = rows().replace(HEADER, "patient,t,x,y,dose,reward,died")
        (tmp_path / "log.csv").write_text(text)
        code, out, _ = run_cli("data", "schema", "log.csv", "-o", "log.toml")
        assert (code, out) == (0, "Written: log.toml\n")
        code, _, err = run_cli(
            "data", "import", "log.csv", "-o", "log.hdf5", "--schema", "log.toml", "--json"
        )
        assert (code, err) == (0, "")
        schema = countmorl.load("log.hdf5").schema
        assert (schema.episode, schema.time, schema.reward) == ("patient", "t", "reward")
        assert [column.name for column in schema.obs] == ["x", "y"]

    @pytest.mark.parametrize(
        ("table", "options"),
        [
            (rows().replace(",", ";"), ()),
            (rows().replace(",", "|"), ()),
            (rows().replace(",", ";").replace(".", ","), ("--decimal-comma",)),
            (rows().replace("\n", "\r\n"), ()),
            ("\ufeff" + rows(), ()),
            (rows().replace(",", ", "), ("--separator", ",")),
            (column("t", lambda i: f"0{i % 9 + 1}/03/2024"), ("--date-format", "%d/%m/%Y")),
            (with_value("d", ""), ("--terminated", "d", "--missing", "d=false")),
            (column("d", lambda i: "yes" if i % 4 == 3 else "No"), ("--terminated", "d")),
            (with_value("x", "None"), ("--null", "None", "--missing", "x=0")),
            (rows() + "\n\n", ()),
        ],
    )
    def test_tables_that_are_odd_but_clear(self, run_cli, tmp_path, table, options):
        header = table.splitlines()[0]
        if ", " in header:
            table = table.replace(header, HEADER)
        (tmp_path / "log.csv").write_text(table)
        code, _, err = run_cli("data", "import", "log.csv", "-o", "log.hdf5", *ASKED, *options)
        assert (code, err) == (0, "")
        assert len(countmorl.load("log.hdf5")) == 20


BAD = {
    "empty": ("", (), "log.csv is empty"),
    "header only": (HEADER + "\n", (), "log.csv has a header but no rows"),
    "one row": (rows(1), (), "log.csv has one row"),
    "no header": (rows().split("\n", 1)[1], (), "add a header"),
    "two headers": (rows() + rows(), (), "row 21 of log.csv repeats the header"),
    "two headers late": (rows(LATE) + rows(), (), "row 12,001 of log.csv repeats the header"),
    "duplicate columns": (rows().replace("x,y", "x,x"), (), "'x' more than once (places 3, 4)"),
    "wrong name": (rows(), ("--obs", "lab"), "log.csv: `obs` names 'lab', which is no column"),
    "no match": (rows(), ("--obs", "lab_*"), "`obs` names 'lab_*'"),
    "wrong missing": (rows(), ("--missing", "z=0"), "`missing` names 'z'"),
    "a word": (with_value("x", "abc"), (), "row 6 of log.csv holds 'abc'"),
    "a word late": (with_value("x", "abc", 11_000, LATE), (), "row 11,001 of log.csv holds 'abc'"),
    "decimal comma": (
        rows().replace(",", ";").replace(".", ","),
        (),
        "decimal comma: row 1 of log.csv holds '0,5'. --decimal-comma",
    ),
    "thousands": (with_value("x", '"1,234.5"'), (), "row 6 of log.csv holds '1,234.5'"),
    "open quote": (with_value("x", '"3.5'), (), "log.csv: a quote that is opened in row 6"),
    "quote within": (with_value("x", '"3"5'), (), "log.csv: a quote that is opened in row 6"),
    "long line": (with_value("d", "false,9"), (), "log.csv: line 7 (row 6) has 8 values"),
    "comma in a number": (with_value("x", "1,5"), (), "log.csv: line 7 (row 6) has 8 values"),
    "short line": (rows(20, {5: ["1", "1", "2.5"]}), (), "'y' in 1 of 20 rows, first in row 6"),
    "not utf-8": (with_value("d", "é").encode("latin-1"), (), "line 7 (row 6) is not UTF-8"),
    "utf-16": (rows().encode("utf-16"), (), "UTF-16"),
    "binary": (bytes(range(256)) * 9, (), "not a text file"),
    "missing": (with_value("x", "NA"), (), "'x' in 1 of 20 rows, first in row 6 of log.csv"),
    "missing id": (with_value("p", ""), (), "The episode 'p' is missing in row 6 of log.csv"),
    "missing time": (with_value("t", ""), ("--time", "t"), "The time 't' is missing in row 6"),
    "nothing to carry": (with_value("x", "", 8), ("--missing", "carry"), "row 9 of log.csv"),
    "missing flag": (with_value("d", ""), ("--terminated", "d"), "--missing d=false"),
    "no such rule": (rows(), ("--missing", "x=soon"), "got 'soon'"),
    "empty column": (column("x", lambda i: ""), (), "Column 'x' of log.csv is empty in every row"),
    "infinite": (with_value("x", "inf"), (), "'x' is infinite in row 6 of log.csv"),
    "too large": (with_value("x", "1e300"), (), "'x' holds 1e+300 in row 6 of log.csv"),
    "gigantic": (column("x", lambda i: str(10**50 + i)), (), "'x' holds 1e+50 in row 1 of log.csv"),
    "nanoseconds": (column("x", lambda i: f"{17 * 10**17 + i}"), (), "'x' holds numbers from 1.7e"),
    "too many words": (column("x", lambda i: f"w{i}", 200), (), "next comes in row 51 of log.csv"),
    "too many actions": (column("a", lambda i: f"w{i}", 900), (), "more than 256 different words"),
    "one action": (column("a", lambda i: "stay"), (), "'stay' in every row"),
    "mixed actions": (rows(), ("--action", "d"), "not both: a (number), d (category)"),
    "wild action": (with_value("a", "9999", 3000, 5000), (), "9999 in row 3,001 of log.csv"),
    "outside": (rows(), ("--action-low", "0.2"), "is 0 in row 1 of log.csv, outside its bounds"),
    "no flag": (with_value("d", "maybe"), ("--terminated", "d"), "row 6 of log.csv holds 'maybe'"),
    "number as flag": (rows(), ("--terminated", "y"), "'y' must be true or false, or 1 and 0"),
    "words as time": (column("t", lambda i: "mon"), ("--time", "t"), "cannot be read as a time"),
    "no such day": (
        column("t", lambda i: f"2024-02-{i + 12}"),
        ("--time", "t"),
        "row 19 of log.csv holds '2024-02-30'",
    ),
    "two ways": (column("t", lambda i: "01/03/2024"), ("--time", "t"), "--date-format"),
    "mixed zones": (
        column("t", lambda i: f"2024-01-01T10:00:00{'Z' * (i == 7)}"),
        ("--time", "t"),
        "row 8 of log.csv",
    ),
    "gap without time": (rows(), ("--gap", "2h"), "--time"),
    "gap with a unit": (rows(), ("--gap", "2h", "--time", "t"), "Time is a plain number"),
    "select": (rows(), ("--obs", "z = (select 1)"), "'select'"),
    "reads a file": (rows(), ("--obs", "z = read_csv('x')"), "'read_csv'"),
    "aggregate": (rows(), ("--obs", "z = x - avg(x)"), "'avg', which is not a function of one row"),
    "by zero": (rows(), ("--obs", "z = 1 / (y - 4)"), "'z' is infinite in row 3 of log.csv"),
    "lag at a start": (rows(), ("--obs", "z = lag(x)"), "no value at an episode's edge"),
    "seen and done": (rows(), ("--obs", "a"), "both in `obs` and in `action`"),
    "scale": (rows(), ("--scale", "x=low,high"), "'0.5' in row 1 of log.csv"),
    "kind": (rows(), ("--kind", "x=colour"), "kind"),
    "both kinds": (rows(), ("--discrete", "--continuous"), "not both"),
    "exogenous": (rows(), ("--exogenous", "sun"), "`exogenous` names 'sun'"),
    "history": (rows(), ("--history", "0"), "at least 1"),
    "schema": (rows(), ("--schema", "absent.toml"), "There is no schema file"),
    "no rows at all": ("\n\n\n", (), "log.csv is empty"),
    "another page": ("<html>\n<body>\n", (), "`obs` names 'x', which is no column"),
    "old ends of lines": (rows().replace("\n", "\r"), (), "Lines of log.csv end as on old Macs"),
    "wrong separator": (rows(), ("--separator", ";"), "There is: p,t,x,y,a,r,d"),
    "long separator": (rows(), ("--separator", "::"), "must be one plain character"),
    "nameless column": (rows().replace("x,y", "x,"), (), "`obs` names 'y'"),
    "points and commas": (column("x", lambda i: f'"1.{100 + i},5"'), (), "--decimal-comma"),
    "a unit": (with_value("x", "5 mg"), (), "row 6 of log.csv holds '5 mg'"),
    "a currency": (with_value("x", "$5"), (), "row 6 of log.csv holds '$5'"),
    "percents": (column("r", lambda i: f"{i}%"), (), "'r' cannot be read as a number"),
    "reward of words": (column("r", lambda i: "good"), (), "(row 1 of log.csv holds 'good')"),
    "infinite reward": (with_value("r", "inf"), (), "The reward is inf in row 6 of log.csv"),
    "missing reward": (with_value("r", ""), (), "'r' in 1 of 20 rows, first in row 6"),
    "missing action": (with_value("a", "null"), (), "'a' in 1 of 20 rows, first in row 6"),
    "no such hour": (
        column("t", lambda i: f"2024-01-01T{i + 10}:00:00"),
        ("--time", "t"),
        "row 15 of log.csv holds '2024-01-01T24:00:00'",
    ),
    "two ways to write dates": (
        column("t", lambda i: f"2024-01-{i + 1:02}" if i < 15 else f"{i}.01.2024"),
        ("--time", "t"),
        "row 16 of log.csv holds '15.01.2024'",
    ),
    "another date format": (
        column("t", lambda i: f"2024-01-{i + 1:02}"),
        ("--time", "t", "--date-format", "%d.%m.%Y"),
        "not written as %d.%m.%Y",
    ),
    "a million words": (
        column("x", lambda i: f"w{i % 7}" if i < LATE else f"w{i}", LATE + 100),
        (),
        "next comes in row 12,044 of log.csv",
    ),
    "words as flags": (
        column("y", lambda i: "u" if i % 2 else "v"),
        ("--terminated", "y"),
        "row 1 of log.csv holds 'v'",
    ),
    "median of words": (
        column("x", lambda i: "u" if i % 2 else "v"),
        ("--missing", "x=median"),
        "has no median",
    ),
    "words in a sum": (
        column("y", lambda i: "u" if i % 2 else "v"),
        ("--obs", "z = x * y"),
        "'x * y'",
    ),
    "half an expression": (rows(), ("--obs", "z = x +"), "'x +' of 'z' cannot be computed"),
    "two expressions": (rows(), ("--obs", "z = x; y"), "must not hold a ';'"),
    "a slip in a function": (rows(), ("--obs", "z = abbs(x)"), "Did you mean 'abs'"),
    "a slip in an expression": (rows(), ("--reward", "r + lab"), "names 'lab'"),
    "lead at an end": (rows(), ("--obs", "z = lead(x)"), "first in row 4 of log.csv"),
    "scale without steps": (rows(), ("--kind", "x=scale"), "--scale x=low,middle,high"),
    "the same step twice": (rows(), ("--scale", "x=0.5,0.5"), "holds a value twice"),
    "empty bounds": (
        rows(),
        ("--action-low", "5", "--action-high", "1"),
        "The bounds of 'a' are empty",
    ),
    "bounds for others": (rows(), ("--action-low", "0", "0", "0"), "wants one number, or 1; got 3"),
    "negative gap": (rows(), ("--time", "t", "--gap", "-2"), "got '-2'"),
    "all dropped": (
        column("x", lambda i: "" if i % 2 else "1.5"),
        ("--missing", "x=drop", "--obs", "z = nullif(x, 1.5)", "--missing", "z=drop"),
        "A value is missing in every row",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_tables_end_in_a_sentence_and_nothing_is_written(run_cli, tmp_path, name):
    content, options, words = BAD[name]
    (tmp_path / "log.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    code, out, err = run_cli("data", "import", "log.csv", "-o", "log.hdf5", *ASKED, *options)
    assert (code, out) == (2, "")
    assert words in err
    assert len(err.strip().splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["log.csv"]


JSON = "".join(f'{{"p": 1, "x": {i}, "y": 1.5, "a": {i % 2}, "r": 0}}\n' for i in range(9))


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("log.parquet", b"PAR1 cut off", "log.parquet is not a readable parquet file"),
        ("log.feather", b"nothing", "log.feather is not a readable arrow file"),
        ("log.jsonl", JSON.encode() + b'{"p": 1,', "log.jsonl: line 10 is not JSON"),
        ("log.jsonl", JSON.replace("8", '"b"').encode(), "row 9 of log.jsonl holds 'b'"),
        ("log.jsonl", JSON.replace("1.5", '{"z": 1}').encode(), "'y' holds values of type Struct"),
        (
            "log.csv.gz",
            gzip.compress(rows(3000).encode(), mtime=0)[:90],
            "log.csv.gz cannot be read",
        ),
        ("log.xlsx", b"PK", "Save it as CSV"),
        ("log.json", b"[]", "one object on every line"),
        ("log.jsonl", b"", "log.jsonl is empty"),
        ("log.jsonl", b"[1]\n[2]\n", "log.jsonl: line 1 is not an object"),
        ("log.jsonl", JSON.splitlines()[0].encode(), "log.jsonl has one row"),
        ("log.jsonl", JSON.replace("1.5", "1" * 40).encode(), "'y' holds a number of 40 digits"),
        ("log.jsonl", JSON.replace(": 8", ": true").encode(), "true or false, the latter first in"),
        ("log.parquet.gz", b"", "has the ending '.gz'"),
    ],
    ids=str,
)
def test_bad_files(run_cli, tmp_path, file, content, words):
    (tmp_path / file).write_bytes(content)
    code, out, err = run_cli("data", "import", file, "-o", "log.hdf5", *ASKED)
    assert (code, out) == (2, "")
    assert words in err


def parquet(**columns):
    """A clean table as Parquet, with some columns made anew."""
    frame = pl.read_csv(io.StringIO(rows())).with_columns(**columns)
    frame.write_parquet(file := io.BytesIO())
    return file.getvalue()


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"logs/notes.txt": b"x"}, "The folder logs holds no table"),
        ({"logs/a.csv": rows(), "logs/b.parquet": parquet()}, "several formats (csv, parquet)"),
        (
            {"logs/a.csv": rows(), "logs/b.csv": rows().replace("x", "w", 1)},
            "b.csv has no column 'x', which other files",
        ),
        (
            {"logs/a.csv": rows(), "logs/b.csv": with_value("x", "abc")},
            "b.csv holds 'abc'",
        ),
        ({"logs/a.csv": rows(), "logs/b.csv": b""}, "b.csv is empty"),
        (
            {"logs/a.parquet": parquet(), "logs/b.parquet": parquet(x=pl.lit("u"))},
            "b.parquet holds 'u'",
        ),
        ({"logs/a.parquet": parquet(x=pl.concat_list("x", "y"))}, "'x' holds values of type List"),
        ({"logs/a.parquet": parquet(x=pl.lit(None))}, "'x' of logs/a.parquet is empty"),
        ({"logs/a.csv": rows(), "s.toml": "obs = ["}, "s.toml is not a readable schema file"),
        ({"logs/a.csv": rows(), "s.toml": "rewrad = 'r'"}, "s.toml: Request has no setting"),
        (
            {"logs/a.csv": rows(), "s.toml": "[columns.x]\nvalues = ['0.5']\nkind = 'category'"},
            "'x' holds '1.5' in row 2 of logs/a.csv, which is none of its values",
        ),
    ],
)
def test_bad_folders(run_cli, tmp_path, files, words):
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    schema = ("--schema", "s.toml") if "s.toml" in files else ()
    code, out, err = run_cli("data", "import", "logs", "-o", "log.hdf5", *ASKED, *schema)
    assert (code, out) == (2, "")
    assert words in err
    assert not (tmp_path / "log.hdf5").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Name a log"),
        (("log.csv",), "--out log.hdf5"),
        (("log.csv", "-o", "log.csv"), "exists already|ending"),
        (("log.csv", "-o", "out.npz"), "wanted .hdf5"),
        (("absent.csv", "-o", "o.hdf5"), "There is no file absent.csv"),
        (("log.csv", "-o", "o.hdf5", "--rewrad", "r"), "Did you mean '--reward'"),
        (("log.csv", "-o", "here.hdf5"), "exists already"),
    ],
)
def test_wrong_words(run_cli, tmp_path, words, said):
    import re

    (tmp_path / "log.csv").write_text(rows())
    (tmp_path / "here.hdf5").write_bytes(b"mine")
    out = () if "-o" in words or words in ((), ("log.csv",)) else ("-o", "o.hdf5")
    code, _, err = run_cli("data", "import", *words, *out, *(ASKED if words else ("-o", "o.h5")))
    assert code == 2
    assert re.search(said, err)
    assert (tmp_path / "here.hdf5").read_bytes() == b"mine"


class TestSchema:
    def test_it_is_printed_with_what_is_known(self, run_cli, tmp_path):
        (tmp_path / "log.csv").write_text(rows())
        code, out, err = run_cli("data", "schema", "log.csv")
        assert (code, err) == (0, "")
        assert '    "x",  # numbers from 0.5 to 19.5\n' in out
        assert 'reward = "r"  # numbers from 1 to 1\n' in out
        assert "# terminated = ...  a column or an expression" in out
        assert "#   d: it is 'false' in all of the first 20 rows" in out

    def test_json(self, run_cli, tmp_path):
        (tmp_path / "log.csv").write_text(rows())
        _, out, _ = run_cli("data", "schema", "log.csv", "--json")
        found = json.loads(out)
        assert found["schema"]["action"] == ["a"]
        assert found["columns"]["y"].startswith("numbers from 0")

    def test_an_existing_file_is_not_written_over(self, run_cli, tmp_path):
        (tmp_path / "log.csv").write_text(rows())
        (tmp_path / "mine.toml").write_text("mine")
        code, _, err = run_cli("data", "schema", "log.csv", "-o", "mine.toml")
        assert code == 2
        assert "exists already" in err
        assert (tmp_path / "mine.toml").read_text() == "mine"
