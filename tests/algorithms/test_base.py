import pytest

from countmorl.algorithms import ALGORITHMS, find_algorithm
from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.algorithms.bc import BC
from countmorl.errors import ConfigError


def test_find_algorithm():
    assert find_algorithm("bc") is BC
    with pytest.raises(ConfigError, match=r"No method named 'bcc'. Did you mean 'bc'.*Known: "):
        find_algorithm("bcc")


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_every_algorithm_can_be_made_with_its_defaults(name):
    config = ALGORITHMS[name]()
    assert isinstance(config, AbstractAlgorithm)
    assert config.epochs >= 1


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
@pytest.mark.parametrize("setting", ["epochs", "updates", "batch"])
@pytest.mark.parametrize("value", [0, -5])
def test_every_algorithm_refuses_to_do_nothing(name, setting, value):
    with pytest.raises(ConfigError, match=f"`{setting}` must be at least 1, got {value}"):
        ALGORITHMS[name](**{setting: value})


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_a_config_cannot_be_changed(name):
    config = ALGORITHMS[name]()
    with pytest.raises(AttributeError):
        config.epochs = 3
