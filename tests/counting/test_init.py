import pytest

from countmorl.counting import COUNTERS, find_counter
from countmorl.counting.base import AbstractCounter
from countmorl.errors import ConfigError


def test_every_counter_is_found_by_its_name():
    for name, cls in COUNTERS.items():
        assert find_counter(name) is cls
        assert issubclass(cls, AbstractCounter)


def test_an_unknown_one_is_refused_with_a_suggestion():
    with pytest.raises(ConfigError, match=r"No counter named 'exat'. Did you mean 'exact'\?"):
        find_counter("exat")
