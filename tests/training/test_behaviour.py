import numpy as np
import pytest

from countmorl import load
from countmorl.agents.clone import cloned
from countmorl.dynamics.layout import Layout
from countmorl.dynamics.termination import KnownTermination, known_rule
from countmorl.pessimism import NoPessimism
from countmorl.rollouts import PenalizedModel
from countmorl.training import behaviour
from countmorl.training.behaviour import imagined_pairs
from models import small_ensemble
from small_runs import numbered_log, vector_log


def pairs_of(log, **sizes):
    dataset = load(log)
    inputs, targets = dataset.obs_dim + dataset.action_dim, dataset.obs_dim + 1
    ensemble = small_ensemble(inputs=inputs, targets=targets)
    never = KnownTermination(known_rule("never"))
    model = PenalizedModel(ensemble, NoPessimism(), never, Layout.of(dataset))
    clone = cloned(dataset, updates=5, seed=0)
    return dataset, np.asarray(imagined_pairs(model, clone, dataset, **sizes))


def test_rollouts_begin_in_the_log_and_are_the_same_every_time(monkeypatch):
    monkeypatch.setattr(behaviour, "PAIRS", 30)
    dataset, pairs = pairs_of(vector_log(), horizon=3, seed=0)
    assert pairs.shape == (30, 3)
    logged = {tuple(row) for row in dataset.obs}
    assert all(tuple(row) in logged for row in pairs[:10, :2])
    assert not any(tuple(row) in logged for row in pairs[10:, :2])
    np.testing.assert_array_equal(pairs_of(vector_log(), horizon=3, seed=0)[1], pairs)
    assert (pairs_of(vector_log(), horizon=3, seed=1)[1] != pairs).any()


def test_discrete_actions_are_drawn_as_they_were_logged(monkeypatch):
    monkeypatch.setattr(behaviour, "PAIRS", 300)
    _, pairs = pairs_of(numbered_log(), horizon=1, seed=0)
    np.testing.assert_allclose(pairs[:, 1:].mean(axis=0), 1 / 3, atol=0.1)


def test_vectors_are_drawn_as_far_from_the_clone_as_they_were_logged(monkeypatch):
    """Of actions that are chance a clone tells the mean alone; what it imagines is all of them."""
    monkeypatch.setattr(behaviour, "PAIRS", 300)
    dataset, pairs = pairs_of(vector_log(), horizon=1, seed=0)
    logged = dataset.space.scaled(dataset.action).std()
    assert pairs[:, 2].std() == pytest.approx(logged, rel=0.15)
