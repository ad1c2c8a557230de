"""The nearest logged row, and the column that differs."""

import numpy as np

from countmorl import load
from countmorl.coverage.nearest import Nearest
from worlds import chain_log, linear_log


def test_the_column_that_is_farthest_and_its_side():
    data = linear_log(40)
    found = Nearest.of(data)(np.float32([[0.0], [5.0]]), np.float32([[-0.9], [0.0]]))
    assert found.column.tolist() == [1, 0] or found.column[1] == 0
    assert found.side[1] == 1
    assert found.value[1] == 5
    assert found.logged[1] <= data.obs.max()


def test_a_logged_pair_is_its_own_nearest():
    data = linear_log(20)
    found = Nearest.of(data)(data.obs[:30], data.action[:30])
    np.testing.assert_allclose(data.obs[found.row], data.obs[:30], atol=1e-3)
    np.testing.assert_allclose(found.value, found.logged, atol=1e-2)


def test_another_discrete_action_is_what_differs():
    data = chain_log(30, on=1.0)
    nearest = Nearest.of(data)
    stay, start = np.eye(2, dtype=np.float32)[[0]], np.eye(4, dtype=np.float32)[[0]]
    found = nearest(start, stay)
    assert found.side.tolist() == [0]
    assert nearest.name(int(found.column[0]), start, stay) == "action[0]"


def test_columns_have_the_logs_names():
    data = linear_log(20)
    nearest = Nearest.of(data)
    assert nearest.name(0, data.obs, data.action) == "obs[0]"
    assert nearest.name(1, data.obs, data.action) == "action[0]"
    assert len(Nearest.of(load(linear_log(5))).rows) == 150
