import numpy as np

from countmorl.data.tables.store import Store


def test_rows_come_back_in_any_order(tmp_path):
    store = Store(tmp_path / "numbers", 2, np.float32)
    store.append(np.array([[1, 2], [3, 4]], order="F"))
    store.append(np.array([[5, 6]]))
    store.finish()
    assert store.rows == 3
    assert store.read(slice(1, 3)).tolist() == [[3, 4], [5, 6]]
    assert store.read(np.array([2, 0])).tolist() == [[5, 6], [1, 2]]
    assert store.column(1).tolist() == [2, 4, 6]
    store.put(np.array([2, 0]), 1, np.array([60, 20]))
    assert store.column(1).tolist() == [20, 4, 60]
    store.close()


def test_a_store_of_nothing(tmp_path):
    store = Store(tmp_path / "none", 0, np.float64)
    store.finish()
    assert store.read(slice(0, 4)).shape == (4, 0)
    assert store.read(np.arange(3)).shape == (3, 0)
    store.close()
