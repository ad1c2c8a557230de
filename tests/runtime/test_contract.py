from dataclasses import replace

import numpy as np
import pytest

from bundles import parts_of
from countmorl.errors import ConfigError, DataError
from countmorl.runtime.contract import Judged, Range, Ranges
from countmorl.runtime.guard import GuardSettings

CLONE = GuardSettings(threshold=2.0)
FIXED = GuardSettings(threshold=2.0, fall_back="fixed", fixed=(1.0,))


@pytest.fixture(scope="module")
def contract():
    return parts_of()[1]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"far": "fall_back"}, "Without a guard there is no fall-back"),
        ({"unreadable": "fall_back"}, "Without a guard there is no fall-back"),
        ({"guard": CLONE, "unreadable": "fall_back"}, "A clone needs an observation"),
        ({"guard": FIXED, "counts": None}, "A guard needs counts"),
        (
            {"guard": replace(FIXED, threshold=0.0), "far": "fall_back"},
            "the threshold 0 never falls back",
        ),
        ({"reach": -1.0}, "`reach` must be at least 0"),
        ({"history": 0}, "`history` must be at least 1"),
        ({"observation": ()}, "at least one observation"),
        ({"thin": float("nan")}, "`thin` must be finite"),
        ({"action": (Range(name="a", unit="", low=0.0, high=float("inf")),)}, "are finite"),
    ],
)
def test_promises_that_cannot_be_kept(contract, change, sentence):
    with pytest.raises(ConfigError, match=sentence):
        replace(contract, **change)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"gain": (1.0,)}, "two finite numbers"),
        ({"gain": (1.0, float("inf"))}, "two finite numbers"),
        ({"behaviour": float("nan")}, "`behaviour` must be finite"),
        ({"verdict": 3}, "`verdict` must be"),
    ],
)
def test_judgements_that_are_none(change, sentence):
    said = {"verdict": "better", "sentence": "so.", "gain": None, "behaviour": 1.0, "unit": "u"}
    Judged(**said)
    with pytest.raises(ConfigError, match=sentence):
        Judged(**(said | change))


def test_what_is_far_by_hand(contract):
    numbers = (
        Range(name="x", unit="m", low=0.0, high=10.0),
        Range(name="still", unit="", low=5.0, high=5.0),
    )
    ranges = Ranges(replace(contract, observation=numbers, reach=0.5))
    rows = np.array([[-5, 5], [15, 5], [-5.1, 5], [15.1, 5], [5, 5.002], [5, 5.003]])
    assert ranges.far(rows).tolist() == [False, False, True, True, False, True]
    assert ranges.said(rows[:2]) == ""
    assert ranges.said(rows).startswith("'x' is -5.1 m, far outside the 0 to 10 m that were logged")
    with pytest.raises(DataError, match="nobody can advise"):
        ranges.check(rows)
    back = replace(contract, observation=numbers, guard=FIXED, far="fall_back")
    Ranges(back).check(rows)
