"""Counting by distance."""

import numpy as np
import pytest

from countmorl import load
from countmorl.data.holdout import draw_holdout, split
from countmorl.evaluation.support import Support
from worlds import chain_log, linear_log


def test_on_a_finite_world_counts_are_exact():
    data = chain_log(30)
    support = Support.of(data, None)
    obs = np.eye(4, dtype=np.float32)[[0, 1, 2]]
    act = np.eye(2, dtype=np.float32)[[1, 0, 1]]
    wanted = [
        int(((data.obs == o).all(axis=1) & (data.action == a).all(axis=1)).sum())
        for o, a in zip(obs, act, strict=True)
    ]
    assert support.counts(obs, act).tolist() == wanted
    assert support.counts(obs[:0], act[:0]).tolist() == []


def test_an_action_that_was_never_tried_counts_nothing():
    support = Support.of(chain_log(30, on=1.0), None)
    obs, act = np.eye(4, dtype=np.float32)[[0, 0]], np.eye(2, dtype=np.float32)
    never, always = support.counts(obs, act)
    assert (never, always > 0) == (0, True)


@pytest.mark.parametrize("aside", [True, False])
def test_nearly_all_of_the_log_is_seen_and_what_lies_apart_is_not(aside):
    data = linear_log(60, pull=0.8)
    taught, judged = split(data, draw_holdout(data, 0.1, 0) if aside else None)
    support = Support.of(taught, judged)
    seen = support.counts(data.obs, data.action)
    assert (seen > 0).mean() > 0.99
    assert support.counts(data.obs[:5], -np.ones((5, 1), np.float32)).sum() == 0
    assert support.counts(np.full((1, 1), 9, np.float32), np.ones((1, 1), np.float32))[0] == 0


def test_of_one_stream_blocks_stand_for_episodes():
    data = linear_log(1, 400)
    support = Support.of(data, None)
    assert (support.counts(data.obs, data.action) > 0).mean() > 0.99


def test_where_the_log_is_dense_near_is_nearer():
    """Rows at 0, 1, 2, ... hundredths, and at 100, 110, 120, ...: between those is still near."""
    line = np.concatenate([np.arange(200) / 100, 100 + 10 * np.arange(20)])
    rows = len(line)
    data = load(
        {
            "obs": line[:, None],
            "action": np.zeros((rows, 1)),
            "reward": np.zeros(rows),
            "truncated": np.ones(rows, bool),
            "action_low": -np.ones(1),
            "action_high": np.ones(1),
        }
    )
    support = Support.of(data, None)
    asked = np.array([[1.005], [1.0 + 5.0], [125.0], [50.0]], np.float32)
    dense, beside, sparse, between = support.counts(asked, np.zeros((4, 1), np.float32))
    assert (dense > 0, beside, sparse > 0, between) == (True, 0, True, 0)


def test_what_counts_nothing_lies_beyond_one():
    data = linear_log()
    support = Support.of(data, None)
    rng = np.random.default_rng(0)
    obs = rng.uniform(-3, 3, (400, 1)).astype(np.float32)
    counts, far = support.look(obs, rng.uniform(-1, 1, (400, 1)).astype(np.float32))
    assert 0 < (counts == 0).sum() < 400
    assert ((far > 1) == (counts == 0)).all()
    outward = np.linspace(0, 50, 20, dtype=np.float32)[:, None]
    assert (np.diff(support.look(outward, np.zeros((20, 1)))[1][5:]) > 0).all()
