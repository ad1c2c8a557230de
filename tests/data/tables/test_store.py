import numpy as np
import pytest

from countmorl.data.tables import store
from countmorl.data.tables.store import Store


@pytest.mark.parametrize("held", [0, store.HELD])
def test_rows_come_back_in_any_order(tmp_path, monkeypatch, held):
    monkeypatch.setattr(store, "HELD", held)
    kept = Store(tmp_path / "numbers", 2, np.float32)
    kept.append(np.array([[1, 2], [3, 4]], order="F"))
    kept.append(np.array([[5, 6]]))
    kept.finish()
    assert kept.rows == 3
    assert kept.read(slice(1, 3)).tolist() == [[3, 4], [5, 6]]
    assert kept.read(np.array([2, 0])).tolist() == [[5, 6], [1, 2]]
    assert kept.column(1).tolist() == [2, 4, 6]
    kept.put(np.array([2, 0]), 1, np.array([60, 20]))
    assert kept.column(1).tolist() == [20, 4, 60]
    kept.close()


def test_a_store_of_nothing(tmp_path):
    kept = Store(tmp_path / "none", 0, np.float64)
    kept.finish()
    assert kept.read(slice(0, 4)).shape == (4, 0)
    assert kept.read(np.arange(3)).shape == (3, 0)
    kept.close()
