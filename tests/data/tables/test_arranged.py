import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countmorl.data.tables import arranged as module
from countmorl.data.tables.arranged import Arranged, arranged
from countmorl.data.tables.store import Store


def stored(folder, numbers):
    store = Store(folder / "numbers", numbers.shape[1], numbers.dtype.type)
    store.append(numbers)
    store.finish()
    return store


@given(data=st.data())
def test_rows_of_any_order_are_those_of_the_store(tmp_path_factory, data):
    count = data.draw(st.integers(1, 40))
    rows = np.array(data.draw(st.permutations(range(count))))
    rows = rows[: data.draw(st.integers(1, count))]
    block = data.draw(st.integers(1, 12))
    numbers = np.arange(3 * count, dtype=np.float32).reshape(count, 3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PART", data.draw(st.integers(1, 200)))
        store = stored(tmp_path_factory.mktemp("store"), numbers)
        found = Arranged(store, rows)
    for start in range(0, len(rows), block):
        stop = min(start + block, len(rows))
        assert np.array_equal(found.read(slice(start, stop)), numbers[rows[start:stop]])
    store.close()


def test_more_parts_than_a_byte_can_number(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PART", 1)
    numbers, rows = np.arange(300.0)[:, None], np.arange(300)[::-1]
    store = stored(tmp_path, numbers)
    assert np.array_equal(Arranged(store, rows).read(slice(0, 300)), numbers[::-1])
    store.close()


def test_nothing_is_written_where_there_is_nothing_to_arrange(tmp_path):
    store = stored(tmp_path, np.zeros((2, 1)))
    assert arranged(store, None) is store
    store.close()
    empty = stored(tmp_path, np.zeros((2, 0)))
    assert arranged(empty, np.array([1, 0])) is empty
    empty.close()
    assert len(list(tmp_path.iterdir())) == 1
