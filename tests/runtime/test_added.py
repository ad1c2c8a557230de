import numpy as np
import pytest

from countmorl.errors import DataError, RunError
from countmorl.files import read_arrays, write_arrays
from countmorl.runtime.added import ADDED_FILE, Added, AddedLog, added_to, summed, tables_of

ALL = np.ones((2, 3), bool)


def log(mark: str = "a", rows: int = 3) -> AddedLog:
    return AddedLog(name=f"{mark}.csv", hash=mark * 8, rows=rows, counted=rows)


def added(codes: list[int], mark: str = "a", known: np.ndarray = ALL, of: str = "run") -> Added:
    """Two members that give three pairs the same codes."""
    words = np.array([codes, codes], np.uint32)[..., None]
    return Added(codes=of, tables=tables_of(words, known), logs=(log(mark),))


def seen(found: Added, member: int = 0) -> dict[int, int]:
    table = found.tables[member]
    return (
        {}
        if table is None
        else dict(zip(table.words[:, 0].tolist(), table.counts.tolist(), strict=True))
    )


def test_counts_add_up():
    both = added([5, 5, 7]).merge(added([7, 8, 9], "b"))
    assert seen(both) == seen(both, 1) == {5: 2, 7: 2, 8: 1, 9: 1}
    assert [each.name for each in both.logs] == ["a.csv", "b.csv"]


def test_what_a_member_cannot_tell_is_not_counted_by_it():
    known = np.array([[True, False, True], [False, False, False]])
    first = added([5, 6, 7], known=known)
    assert (seen(first), first.tables[1]) == ({5: 1, 7: 1}, None)
    assert seen(first.merge(added([5, 5, 5], "b")), 1) == {5: 3}
    assert summed(first.tables, first.tables)[1] is None


def test_a_file_comes_back(tmp_path):
    known = np.array([[True, True, True], [False, False, False]])
    added([5, 5, 7], known=known).save(tmp_path / ADDED_FILE)
    found = added_to(tmp_path, "run")
    assert found is not None
    assert (seen(found), found.tables[1]) == ({5: 2, 7: 1}, None)
    assert found.logs == (log(),)
    assert added_to(tmp_path / "elsewhere", "run") is None


class TestBadInput:
    def test_a_log_twice(self):
        with pytest.raises(DataError, match=r"'a\.csv' was added already, as 'a\.csv'"):
            added([5, 5, 7]).merge(added([1, 2, 3]))

    def test_other_codes(self, tmp_path):
        with pytest.raises(DataError, match="of other codes"):
            added([1, 2, 3]).merge(added([1, 2, 3], "b", of="another"))
        added([1, 2, 3]).save(tmp_path / ADDED_FILE)
        with pytest.raises(DataError, match="of other codes"):
            added_to(tmp_path, "another")

    @pytest.mark.parametrize(
        "change",
        [
            lambda arrays, meta: meta.update(kind="policy"),
            lambda arrays, meta: meta.update(members=0),
            lambda arrays, meta: meta.update(members=10**9),
            lambda arrays, meta: meta.pop("logs"),
            lambda arrays, meta: meta.update(logs=[{"name": "x"}]),
            lambda arrays, meta: arrays.pop("0.counts"),
            lambda arrays, meta: arrays.update({"0.words": np.zeros((2, 1), np.float32)}),
            lambda arrays, meta: arrays.update({"0.counts": np.array([-1, 1])}),
        ],
    )
    def test_forged_files(self, tmp_path, change):
        path = tmp_path / ADDED_FILE
        added([5, 5, 7]).save(path)
        arrays, meta = read_arrays(path)
        change(arrays, meta)
        write_arrays(path, arrays, meta)
        with pytest.raises(RunError, match=r"added.safetensors (holds no|does not hold)"):
            Added.load(path)
