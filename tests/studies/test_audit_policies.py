import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from countmorl.data.sources import load
from countmorl.runs.folder import Run
from countmorl.runtime.policy import Policy
from countmorl.spaces import ActionSpace
from countmorl.studies.audit_policies import Actor, Chance, policies_of
from small_runs import numbered_log

ONES = np.ones(2, np.float32)


def policy(head, outputs):
    """A network without hidden layers: its outputs are its biases, whatever is observed."""
    space = ActionSpace.numbered(2) if head == "categorical" else ActionSpace(low=-ONES, high=ONES)
    return Policy(
        weights=(np.zeros((3, len(outputs)), np.float32),),
        biases=(np.array(outputs, np.float32),),
        head=head,
        obs_mean=np.zeros(3, np.float32),
        obs_std=np.ones(3, np.float32),
        space=space,
    )


OBS = jnp.zeros((400, 3))


def test_a_network_acts_as_its_policy_does():
    found = Actor.of(policy("tanh", [0.5, -0.5]))(OBS, key=jr.key(0))
    np.testing.assert_allclose(found[0], np.tanh([0.5, -0.5]), rtol=1e-6)


def test_samples_and_noise():
    sampled = Actor.of(policy("tanh_normal", [0, 0, -20, -1.0]))(OBS, key=jr.key(0))
    assert np.abs(sampled[:, 0]).max() < 1e-6
    assert 0.2 < sampled[:, 1].std() < 0.5
    noisy = Actor.of(policy("tanh", [0, 9.0]), 0.3)(OBS, key=jr.key(0))
    assert noisy[:, 0].std() == pytest.approx(0.3, abs=0.04)
    assert noisy.max() <= 1


def test_discrete_actions():
    sure = policy("categorical", [99, 0])
    assert Actor.of(sure)(OBS, key=jr.key(0)).mean(axis=0).tolist() == [1, 0]
    share = float(Actor.of(sure, 0.3)(OBS, key=jr.key(0))[:, 1].mean())
    assert share == pytest.approx(0.15, abs=0.05)
    chance = Chance(2, discrete=True)(OBS, key=jr.key(0))
    assert (chance.sum(axis=1) == 1).all()


def test_chance_is_even():
    found = Chance(2, discrete=False)(OBS, key=jr.key(0))
    assert found.std() == pytest.approx(3**-0.5, abs=0.03)


def test_policies_by_name(tmp_path):
    run = Run(tmp_path)
    policy("categorical", [1, 2]).save(run.policy_path)
    for epoch in (1, 2, 3, 10, 20):
        policy("categorical", [1, 2]).save(run.kept_policy_path(epoch))
    names = list(policies_of(run, load(numbered_log()), updates=1, seed=0))
    kept = ["epoch 1", "epoch 3", "epoch 20"]
    assert names == ["run", *kept, "clone", "clone + 0.1", "clone + 0.3", "random"]
