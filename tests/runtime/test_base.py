"""What acts has the three sizes and one method; nothing else is asked of it."""

import subprocess
import sys

import numpy as np
import pytest

from countmorl import load, load_policy
from countmorl.runtime.base import PolicyLike, Sized
from countmorl.runtime.policy import Policy
from countmorl.runtime.tabular import TabularPolicy
from countmorl.schema import Column, Schema
from countmorl.spaces import ActionSpace

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


PRODUCTION = """
import importlib, pkgutil, sys
import countmorl, countmorl.runtime as room

for module in pkgutil.iter_modules(room.__path__):
    importlib.import_module(f"countmorl.runtime.{module.name}")
policy = countmorl.load_policy(sys.argv[1])
assert policy.act_rows([{"x": "1.5", "t": "2024-01-01T10:00"}]) == [policy.session().act_row(
    {"x": 1.5, "t": "2024-01-01T10:00"})]
heavy = {"jax", "jaxlib", "equinox", "optax", "gymnasium", "h5py", "scipy"}
tables = {"polars", "narwhals", "pandas", "pyarrow"}
print(sorted((heavy | tables) & set(sys.modules)))
"""


def test_nothing_that_runs_in_production_needs_jax_or_a_package_of_tables(tmp_path):
    schema = Schema(
        obs=(Column(name="x"), Column(name="t", kind="hour")),
        action=(Column(name="offer", kind="category", values=("none", "mail")),),
    )
    Policy(
        weights=(np.ones((3, 2), np.float32),),
        biases=(np.zeros(2, np.float32),),
        head="categorical",
        obs_mean=np.zeros(3, np.float32),
        obs_std=np.ones(3, np.float32),
        space=ActionSpace.numbered(2),
        schema=schema,
    ).save(tmp_path / "policy.safetensors")
    done = subprocess.run(
        [sys.executable, "-c", PRODUCTION, tmp_path], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "[]", "")
