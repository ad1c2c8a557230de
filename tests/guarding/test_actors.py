"""What a guard's record says of who acted."""

import numpy as np

from countmorl.guarding.actors import Recorded, actor_of_guard
from countmorl.runtime.guard import Guard, GuardSettings
from countmorl.spaces import ActionSpace
from guarding.test_thresholds import Told
from runtime.test_guard import Always

SPACE = ActionSpace(low=np.full(1, -1, np.float32), high=np.full(1, 1, np.float32))


def guard(**settings):
    return Guard(
        policy=Always(1.0),
        counts=Told(),
        settings=GuardSettings(threshold=5.0, **settings),
        clone=Always(0.0),
    )


def test_rates_and_switches_of_what_was_under_way():
    recorded = Recorded(guard())
    for counts in ([9, 0], [0, 0], [9, 9], [9, 0]):
        recorded(np.float32(counts)[:, None])
    # The second stream was over after two steps: of six steps three fell back.
    under_way = np.array([[1, 1], [1, 1], [1, 0], [1, 0]], bool)
    assert recorded.rate(under_way) == 0.5
    assert recorded.switches(under_way) == 100 * 2 / 6


def test_rollouts_begin_anew_and_single_rows_have_no_memory():
    actor, recorded = actor_of_guard(guard(dwell=3), SPACE, "guarded")
    rows = np.float32([[0], [9]])
    assert actor(rows).tolist() == actor(rows).tolist() == [[0], [1]]
    begun = actor.begun()
    assert begun(rows).tolist() == [[0], [1]]
    assert begun(rows + 9).tolist() == [[0], [1]]
    assert recorded().rate(np.ones((2, 2), bool)) == 0.5
    assert actor.begun()(rows + 9).tolist() == [[1], [1]]
