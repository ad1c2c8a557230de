import jax.random as jr
import pytest

from countmorl import load, train
from countmorl.algorithms.cql import CQL
from countmorl.errors import ConfigError
from small_runs import QUIET, small, vector_log


def test_its_agent_has_the_term_on_every_row_and_begins_at_the_datas_value():
    agent = CQL().agent(load(vector_log()), key=jr.key(0))
    assert (agent.term.pushed_up, agent.term.pushed_down_from) == (None, 0)
    assert agent.config.mean_start
    assert not agent.term.soft_backup


def test_it_can_imitate_first(tmp_path):
    run = train(small("cql", clone_epochs=2), vector_log(), out=tmp_path / "run", **QUIET)
    assert [(r.stage, r.epoch) for r in run.records()] == [
        ("clone", 1),
        ("clone", 2),
        ("policy", 1),
        ("policy", 2),
        ("policy", 3),
    ]
    with pytest.raises(ConfigError, match="`clone_epochs` must be at least 0"):
        CQL(clone_epochs=-1)
