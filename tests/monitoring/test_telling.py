import json

import numpy as np
import pytest

from countmorl.monitoring.telling import SIZES, baseline_card
from countmorl.monitoring.training import made_of
from monitored import dataset


@pytest.fixture(scope="module")
def card():
    log = dataset()
    return baseline_card(made_of(log, np.arange(60) % 10 == 0)), log


def test_every_column_has_its_middle_and_its_range(card):
    found, log = card
    first = found["columns"][0]
    assert (found["rows"], found["episodes"], found["blocks"]) == (1200, 60, False)
    assert first["name"] == log.obs_names[0]
    assert (first["low"], first["high"]) == (log.obs[:, 0].min(), log.obs[:, 0].max())
    assert first["share"] == pytest.approx((log.obs[:, 0] <= first["at"]).mean())
    assert first["share"] == pytest.approx(0.5, abs=0.06)
    assert found["reward"] == pytest.approx(log.reward.mean(), abs=1e-3)
    assert json.loads(json.dumps(found)) == found


def test_larger_logs_notice_smaller_moves(card):
    found, _ = card
    moves = [found["columns"][0]["noticed"][str(size)] for size in SIZES]
    assert moves == sorted(moves, reverse=True)
    assert 0 < moves[-1] < moves[0]
