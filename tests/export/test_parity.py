import numpy as np
import pytest

from bundles import made, parts_of
from countmorl.export.parity import compared, some_observations


def test_differences_are_found(tmp_path):
    bundle, obs = made(tmp_path / "bundle"), parts_of()[2][:50]

    def wrong(asked):
        action = bundle.policy.act(asked)
        found = bundle.counts.counts(asked, action)
        level = np.zeros(len(asked), int)
        return {"action": action + 0.25, "count": found.count + 1, "level": level}

    found = compared(bundle, wrong, obs)
    assert found.rows == found.counts_differ == 50
    assert 0 < found.levels_differ <= 50
    assert found.action_difference == pytest.approx(0.25)
    assert found.sentence.startswith("policy.onnx on 50 observations: actions differ by at most 0.")


def test_some_observations_are_logged_and_some_are_far():
    logged = parts_of()[2]
    obs = some_observations(logged, 200)
    assert obs.shape == (200, 4)
    assert (obs[:100, None] == logged[None]).all(axis=2).any(axis=1).all()
    assert obs[-1, 0] > 1000
