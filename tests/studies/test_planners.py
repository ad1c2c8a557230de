import numpy as np
import pytest

from countmorl.envs.gridworld import WORLDS
from countmorl.errors import ConfigError
from countmorl.studies.planners import PLANNERS, StudyConfig, study

CONFIG = StudyConfig(sizes=(1000, 10**9), seeds=6)


@pytest.fixture(scope="module")
def outcomes():
    return {o.method: o for o in study(WORLDS["cliff"], CONFIG)}


def test_every_method_is_judged_once_per_seed(outcomes):
    assert list(outcomes) == [*PLANNERS, "optimum"]
    assert all(len(outcomes[name].lava) == 6 for name in PLANNERS)
    for outcome in outcomes.values():
        assert (outcome.goal + outcome.lava <= 1 + 1e-9).all()
        assert np.allclose(outcome.returns, outcome.goal - outcome.lava)


def test_plain_planning_walks_into_lava_and_ours_does_not(outcomes):
    lava = {name: outcome.lava.mean() for name, outcome in outcomes.items()}
    assert lava["plain"] > 0.2
    assert lava["penalty"] < 0.13
    assert lava["floored"] < 0.13
    assert lava["optimum"] == pytest.approx(0.08, abs=0.01)


def test_the_theorys_coefficient_alone_would_rather_end_it_all(outcomes):
    """Every further step costs more than lava does: a warning that the docs repeat."""
    assert outcomes["theory"].lava.mean() > 0.9


def test_bad_settings_are_refused():
    with pytest.raises(ConfigError, match="numbers of rows"):
        StudyConfig(sizes=())
    with pytest.raises(ConfigError, match="at least 1"):
        StudyConfig(seeds=0)
