from dataclasses import replace

import pytest

from countmorl.reports.costs import costs, counted
from countmorl.reports.groups import group
from made_runs import CALIBRATION, make_facts


def test_time_and_memory_of_methods():
    runs = [make_facts(1.0, seed=seed, algorithm="bc") for seed in range(2)]
    runs[1] = replace(runs[1], peak_memory=3e9)
    (cost,) = costs(group(runs), [])
    assert (cost.method, cost.runs, cost.seconds, cost.policy_seconds) == ("bc", 2, 80, 60)
    assert (cost.compile_seconds, cost.updates_per_second, cost.peak_memory) == (4, 100, 3e9)


def test_what_several_build_on_is_told_once():
    model = replace(make_facts(algorithm="model"), seconds={"model": 50.0})
    *_, cost = costs(group([make_facts(1.0)]), [model])
    assert (cost.method, cost.seconds) == ("models and codes, shared", 50)
    assert (cost.policy_seconds, cost.peak_memory) == (0, None)


def test_speed_is_the_middle_of_the_runs_that_have_one():
    def speed(seed, value):
        run = make_facts(1.0, seed=seed)
        return replace(run, summary=replace(run.summary, updates_per_second=value))

    runs = [speed(0, 10.0), speed(1, 20.0), speed(2, 90.0), speed(3, None)]
    assert costs(group(runs), [])[0].updates_per_second == 20
    assert costs(group(runs[3:]), [])[0].updates_per_second is None


class TestCounted:
    def made(self, seed, unseen=0.2, **changes):
        told = replace(CALIBRATION, **changes)
        return replace(make_facts(1.0, seed=seed), calibration=told, unseen=unseen)

    def test_means_over_seeds(self):
        runs = [self.made(0), self.made(1, 0.4, rank_correlation=-0.3, rows_per_code=None)]
        (row,) = counted(group(runs))
        assert (row.method, row.data, row.runs) == ("count-morl", "toy", 2)
        assert row.unseen == pytest.approx(0.3)
        assert row.rank_correlation == pytest.approx(-0.4)
        assert (row.rows_per_code, row.typical_count) == (4.5, 7.5)
        assert row.verdict == CALIBRATION.verdict

    def test_verdicts_that_differ_are_counted(self):
        runs = [self.made(0), self.made(1, None, predicts_error=False, verdict="They do not.")]
        (row,) = counted(group(runs))
        assert row.verdict == "Counts predict the model's error in 1 of 2 runs."
        assert row.unseen == 0.2

    def test_who_does_not_count_has_no_row(self):
        assert counted(group([make_facts(1.0, algorithm="bc")])) == []
