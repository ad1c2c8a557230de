"""What acts has the three sizes and one method; nothing else is asked of it."""

import subprocess
import sys

import numpy as np
import pytest

from countmorl import load, load_policy
from countmorl.runtime.base import PolicyLike, Sized
from countmorl.runtime.tabular import TabularPolicy

SIZES = ("obs_dim", "action_dim", "discrete")


def members(protocol):
    return {name for base in protocol.__mro__ for name in vars(base) if name in (*SIZES, "act")}


def test_a_policy_is_what_has_sizes_and_acts():
    assert members(Sized) == set(SIZES)
    assert members(PolicyLike) == {*SIZES, "act"}


@pytest.mark.parametrize("kind", ["network", "table"])
def test_every_policy_of_ours_acts_for_one_and_for_many(kind, trained):
    table = TabularPolicy(probabilities=np.eye(2), counts=np.eye(2), info={})
    policy = load_policy(trained / "run") if kind == "network" else table
    assert all(hasattr(policy, name) for name in members(PolicyLike))
    obs, rng = np.zeros((4, policy.obs_dim)), np.random.default_rng(0)
    assert len(policy.act(obs)) == len(policy.act(obs, rng=rng)) == 4
    np.testing.assert_array_equal(policy.act(obs[0]), policy.act(obs)[0])


def test_a_dataset_has_the_sizes_of_its_policies(log, trained):
    dataset, policy = load(log()), load_policy(trained / "run")
    assert all(getattr(dataset, name) == getattr(policy, name) for name in SIZES)


def test_nothing_that_runs_in_production_needs_jax():
    program = (
        "import sys, countmorl; countmorl.load_policy; import countmorl.runtime.base; "
        "print(sorted({'jax', 'equinox', 'optax', 'gymnasium', 'h5py'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "[]", "")
