from dataclasses import replace

import pytest

from countmorl.errors import ConfigError
from countmorl.reports.protocols import PROTOCOLS, find_protocol
from countmorl.runs.choice import Chosen
from made_runs import make_facts


def test_the_simple_ones_by_hand():
    facts = make_facts(90.0, 1.0, 2.0, 3.0, 4.0, 5.0)
    assert PROTOCOLS["last"].value(facts) == (1 + 2 + 3 + 4 + 5) / 5
    assert PROTOCOLS["best"].value(facts) == 90
    assert all(each.value(make_facts()) is None for each in PROTOCOLS.values())


def test_only_the_one_that_looks_at_the_simulator_is_marked():
    assert [name for name, each in PROTOCOLS.items() if each.peeks] == ["best"]
    assert "peeking" in PROTOCOLS["best"].title


@pytest.mark.parametrize(
    ("last", "title"),
    [(1, "last evaluation"), (5, "last five evaluations"), (25, "last 25 evaluations")],
)
def test_titles_tell_the_number(last, title):
    assert PROTOCOLS["last"].named(last)[0] == title
    assert title in PROTOCOLS["last"].named(last)[1]


def test_an_unknown_one_is_a_sentence():
    assert find_protocol("best") is PROTOCOLS["best"]
    with pytest.raises(ConfigError, match=r"no protocol 'bset'. Did you mean 'best'\? Known: last"):
        find_protocol("bset")


@pytest.mark.parametrize(
    ("choice", "number"),
    [
        (None, None),
        (Chosen(policies=6, taken=True), 3.0),
        (Chosen(policies=6, taken=True, epoch=2), 2.0),
        (Chosen(policies=6, taken=True, epoch=7), None),  # It was not judged then.
        (Chosen(policies=6, taken=False), None),
        (Chosen(policies=6, taken=False, kept_log=True, log_score=40.0, log_return=9.0), 40.0),
    ],
)
def test_what_was_chosen_offline(choice, number):
    facts = replace(make_facts(1.0, 2.0, 3.0), choice=choice)
    assert PROTOCOLS["offline"].value(facts) == number
