import numpy as np

from countmorl.data.batches import Form, batches
from countmorl.monitoring.foretold import Foretold
from countmorl.monitoring.watched import columns_of, step_parts, watch
from monitored import walks

FORM = Form(obs_dim=2, action_dim=1, discrete=False)


def test_what_is_watched_and_in_which_order():
    names = [(column.name, column.part) for column in columns_of(FORM, counted=True)]
    assert names == [
        ("obs[0]", "seen"),
        ("obs[1]", "seen"),
        ("action[0]", "done"),
        ("reward", "paid"),
        ("obs[0]", "followed"),
        ("obs[1]", "followed"),
        ("reward", "followed"),
        ("count", "counted"),
    ]
    assert [c.name for c in columns_of(FORM, counted=True) if c.fitted][-1] == "count"


def test_values_stand_in_that_order_and_unknown_successors_are_none():
    log = walks(episodes=3, length=4)
    del log["next_obs"]
    (batch,) = batches(log, FORM)
    fitted = Foretold.fit(*step_parts(batch, FORM))
    values = watch(batch, FORM, fitted, lambda obs, action: np.arange(12.0))
    assert values.shape == (12, 8)
    assert np.array_equal(values[:, :2], batch.obs)
    assert np.array_equal(values[:, 2], batch.action[:, 0])
    assert np.array_equal(values[:, 7], np.arange(12.0))
    assert np.isnan(values[:, 4]).nonzero()[0].tolist() == [3, 7, 11]
    assert not np.isnan(values[:, 6]).any()
