import jax.random as jr
import pytest

from countmorl import load
from countmorl.algorithms.td3_bc import TD3PlusBC
from countmorl.errors import ConfigError
from small_runs import vector_log


def test_its_agent_takes_over_the_weight_and_the_datas_scale():
    dataset = load(vector_log())
    agent = TD3PlusBC(value_weight=4.0).agent(dataset, key=jr.key(0))
    assert agent.value_weight == 4.0
    assert agent.standardizer.mean == pytest.approx(dataset.obs.mean(axis=0), abs=1e-5)
    assert not TD3PlusBC.takes_discrete
    with pytest.raises(ConfigError, match="`value_weight` must be at least 0"):
        TD3PlusBC(value_weight=-1.0)
