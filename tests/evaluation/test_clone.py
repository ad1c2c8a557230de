"""The quick clone."""

import numpy as np
import pytest

from countmorl import load
from countmorl.evaluation.clone import cloned
from small_runs import vector_log
from worlds import chain_log


def test_the_clone_learns_what_was_done():
    log = vector_log() | {"action": np.full((300, 1), 1.5, np.float32)}
    dataset = load(log)
    found = cloned(dataset, updates=300, seed=0).act(dataset.obs[:9])
    assert found == pytest.approx(1.5, abs=0.1)


def test_its_chances_are_those_of_the_log():
    data = chain_log(200, on=0.7)
    found = cloned(data, updates=300, seed=0).chances(data.obs)
    assert found.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    assert found[:, 1].mean() == pytest.approx(0.7, abs=0.05)
