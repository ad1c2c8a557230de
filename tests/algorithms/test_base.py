from types import SimpleNamespace

import pytest

from countmorl.algorithms import ALGORITHMS, find_algorithm
from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.algorithms.bc import BC
from countmorl.configs import at_least, layer_sizes, positive
from countmorl.errors import ConfigError


def test_at_least():
    at_least(SimpleNamespace(a=1, b=0), a=1, b=0)
    with pytest.raises(ConfigError, match=r"`a` must be at least 1, got 0.5"):
        at_least(SimpleNamespace(a=0.5), a=1)
    for value in ("nan", "inf"):
        with pytest.raises(ConfigError, match=f"got {value}"):
            at_least(SimpleNamespace(a=float(value)), a=1)


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_positive(value):
    positive(SimpleNamespace(rate=1e-9), "rate")
    with pytest.raises(ConfigError, match="`rate` must be a number above 0"):
        positive(SimpleNamespace(rate=value), "rate")


def test_layer_sizes():
    layer_sizes(())
    layer_sizes((1, 2))
    with pytest.raises(ConfigError, match="`hidden` must hold layer sizes of at least 1"):
        layer_sizes((8, 0))


def test_find_algorithm():
    assert find_algorithm("bc") is BC
    with pytest.raises(ConfigError, match=r"No algorithm named 'bcc'. Did you mean 'bc'.*Known: "):
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
