import gzip

import polars as pl
import pytest

from countmorl.data.tables.request import Request
from countmorl.data.tables.scan import as_frame, find_files, format_of, open_table
from countmorl.errors import DataError

FRAME = pl.DataFrame({"x": [1.5, 2.5], "w": ["a", "b"]})


def table(source, **how):
    return open_table(source, Request(**how))


def everything(found):
    return pl.concat([part.open({}) for part in found.parts]).collect()


@pytest.fixture
def files(tmp_path):
    FRAME.write_csv(tmp_path / "log.csv")
    FRAME.write_csv(tmp_path / "log.tsv", separator="\t")
    FRAME.write_parquet(tmp_path / "log.parquet")
    FRAME.write_ndjson(tmp_path / "log.jsonl")
    FRAME.write_ndjson(tmp_path / "log.ndjson")
    for ending in ("arrow", "feather", "ipc"):
        FRAME.write_ipc(tmp_path / f"log.{ending}")
    for name in ("log.csv", "log.jsonl"):
        packed = gzip.compress((tmp_path / name).read_bytes())
        (tmp_path / f"{name}.gz").write_bytes(packed)
    return tmp_path


@pytest.mark.parametrize(
    "ending", "csv tsv parquet jsonl ndjson arrow feather ipc csv.gz jsonl.gz".split()
)
def test_every_format_gives_the_same_table(files, ending):
    found = table(files / f"log.{ending}")
    assert found.names == ("x", "w")
    assert everything(found).cast({"x": pl.Float64}).equals(FRAME)
    assert found.rows in (2, 3)
    assert found.peek(["w"], 1).to_dicts() == [{"w": "a"}]


def test_frames_of_other_libraries():
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    rows = FRAME.to_dicts()
    columns = FRAME.to_dict(as_series=False)
    for source in (FRAME, FRAME.lazy(), FRAME.to_arrow(), pandas.DataFrame(columns), rows, columns):
        assert as_frame(source).collect().equals(FRAME)


def test_what_a_frame_needs_to_be_read_is_said(monkeypatch):
    def lacks(_):
        raise ImportError("pyarrow is required for converting a pandas dataframe")

    monkeypatch.setattr("narwhals.from_native", lacks)
    with pytest.raises(DataError, match="cannot be read: pyarrow is required"):
        as_frame(object())


@pytest.mark.parametrize("source", [3, [1, 2], object()])
def test_what_is_no_table(source):
    with pytest.raises(DataError, match="A table is a path"):
        as_frame(source)


def test_folders_and_wild_cards_are_read_in_the_order_of_names(tmp_path):
    inside = tmp_path / "logs" / "deep"
    inside.mkdir(parents=True)
    for name in ("b.csv", "a.csv", "_SUCCESS", ".hidden.csv"):
        (inside / name).write_text("x\n1\n")
    names = [path.name for path in find_files([tmp_path / "logs"])]
    assert names == ["a.csv", "b.csv"]
    assert [path.name for path in find_files([f"{inside}/[ab].csv"])] == ["a.csv", "b.csv"]


def test_several_files_are_one_table_and_rows_are_found_in_theirs(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n3,4\n")
    (tmp_path / "b.csv").write_text("y,x,z\n6,5,0\n")
    found = table([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert (len(found.parts), found.names) == (2, ("x", "y"))
    assert {name: file.name for name, file in found.absent.items()} == {"z": "a.csv"}
    assert found.where(1) == f"row 2 of {tmp_path / 'a.csv'}"
    assert found.where(2) == f"row 1 of {tmp_path / 'b.csv'}"
    assert table(FRAME).where(1) == "row 2"


def test_folders_that_name_a_column(tmp_path):
    for year in (2023, 2024):
        folder = tmp_path / f"year={year}"
        folder.mkdir()
        FRAME.write_parquet(folder / "part.parquet")
    found = table(tmp_path)
    assert found.names == ("x", "w", "year")


@pytest.mark.parametrize(
    ("name", "words"),
    [("log.xlsx", "Save it as CSV"), ("log.json", "one object on every line"), ("log", "''")],
)
def test_unknown_endings(tmp_path, name, words):
    with pytest.raises(DataError, match=words):
        format_of(tmp_path / name)
    with pytest.raises(DataError, match="ending"):
        format_of(tmp_path / "log.parquet.gz")


def test_what_cannot_be_found(tmp_path):
    (tmp_path / "empty").mkdir()
    for source, words in (
        (tmp_path / "absent.csv", "There is no file"),
        (f"{tmp_path}/*.csv", "No file matches"),
        (tmp_path / "empty", "holds no table"),
    ):
        with pytest.raises(DataError, match=words):
            find_files([source])


def test_mixed_formats_and_damaged_files(files):
    with pytest.raises(DataError, match="several formats"):
        find_files([files / "log.csv", files / "log.parquet"])
    for name, content, words in (
        ("bad.parquet", b"PAR1 and no more", "not a readable parquet file"),
        ("bad.arrow", b"ARROW", "not a readable arrow file"),
        ("bad.jsonl", b'{"a": 1}\n{"a":\n', "line 2 is not JSON"),
        ("none.parquet", b"", "is empty"),
    ):
        (files / name).write_bytes(content)
        with pytest.raises(DataError, match=words):
            table(files / name)
