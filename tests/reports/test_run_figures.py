import pytest

from countmorl.reports import run_figures as drawn
from made_dossier import COVERAGE, GUARD, point
from made_runs import CALIBRATION


def test_shares_add_up_and_a_clone_stands_beside_them():
    *levels, clone = drawn.shares_by_step(COVERAGE["ways"])["data"]
    assert [sum(at) for at in zip(*(each["y"] for each in levels), strict=True)] == [100.0] * 3
    assert (clone["x"], clone["y"]) == ([1, 2], [25.0, 25.0])


def test_errors_have_two_standard_errors():
    (trace,) = drawn.error_by_count(CALIBRATION)["data"]
    assert (trace["x"], trace["y"], trace["error_y"]["array"]) == ([2.0], [0.5], [0.2])


def test_rates_are_those_of_guards_alone():
    traces = drawn.guard_rates(GUARD["points"])["data"]
    assert [each["y"] for each in traces] == [[pytest.approx(9.0)], [20.0], [50.0]]
    assert all(each["x"] == [2.0] for each in traces)


def test_values_stand_between_policy_and_fall_back():
    guarded, *alone = drawn.guard_values(GUARD["points"])["data"]
    assert (guarded["error_y"]["array"], guarded["error_y"]["arrayminus"]) == ([2.0], [2.0])
    assert {each["name"]: each["y"] for each in alone} == {
        "unguarded": [1.0, 1.0],
        "fall-back alone": [6.0, 6.0],
    }
    assert drawn.guard_values([point("unguarded", value=1.0)])["data"] == []
