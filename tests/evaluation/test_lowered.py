"""The critics' own values."""

import jax.numpy as jnp
import numpy as np
import pytest

from countmorl import load, train
from countmorl.data.holdout import split
from countmorl.evaluation.acting import Actor
from countmorl.evaluation.base import Estimate, Refusal
from countmorl.evaluation.logged import Logged
from countmorl.evaluation.lowered import critics_value, lowered_value
from countmorl.evaluation.measure import Measure
from countmorl.runtime.load import load_policy
from models import agent
from small_runs import QUIET, small, vector_log


def test_the_least_of_the_critics_in_the_logs_rewards():
    sac, obs, action = agent(), jnp.ones((3, 2)), jnp.zeros((3, 1))
    both = np.asarray(sac.head.q(sac.state.critics, obs, action))
    found = critics_value(sac, np.asarray(obs), np.asarray(action))
    assert found == pytest.approx(both.min(axis=0))


@pytest.mark.parametrize("name", ["mopo", "td3-bc"])
def test_a_runs_critics_at_logged_starts(name, tmp_path):
    data = load(vector_log())
    run = train(small(name), data, out=tmp_path / name, **QUIET)
    taught, judged = split(data, run.manifest.data.holdout)
    logged = Logged(dataset=judged)
    actor = Actor.of(load_policy(run.path), data)
    found = lowered_value(run, taught, logged, actor, Measure(discount=0.995))
    assert isinstance(found, Estimate)
    assert found.facts["starts"] == len(judged.episode_ends)
    other = lowered_value(run, taught, logged, actor, Measure(discount=0.9))
    assert isinstance(other, Refusal)
    assert "its critics discount by 0.995" in other.why
