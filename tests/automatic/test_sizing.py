import functools

import pytest

from countmorl.automatic import sizing
from countmorl.automatic.portfolio import EPOCHS, Ask, plan, trials
from countmorl.errors import ConfigError
from countmorl.runs.options import DataOptions
from countmorl.sweeps.facts import DataFacts
from countmorl.sweeps.plan import Sweep
from countmorl.sweeps.trials import Cost

ASK = Ask(source="log.npz", data_options=DataOptions(), seed=0)
FACTS = DataFacts(rows=25_600, obs_dim=3, action_dim=1)
COST = Cost(update=0.002, imagined=1e-6, model_step=0.002, codes_update=0.001, start=5.0)
COSTS = dict.fromkeys(("bc", "td3-bc", "count-morl"), COST)
TRIED = trials(discrete=False, pull=0.1)


@functools.cache
def planned(count: int, scale: float) -> Sweep:
    return plan(ASK, TRIED[:count], scale)


@pytest.fixture(autouse=True)
def _planned_once(monkeypatch):
    """Every budget looks through hundreds of plans, most of them those of the others."""

    def once(ask, tried, scale):
        assert (ask, tried) == (ASK, TRIED[: len(tried)])
        return planned(len(tried), scale)

    monkeypatch.setattr(sizing, "plan", once)


def sized(seconds: float, workers: int = 2) -> sizing.Sized:
    return sizing.sized(ASK, TRIED, FACTS, COSTS, workers=workers, seconds=seconds)


def test_with_much_time_everything_is_tried_in_full():
    found = sized(1e6)
    assert (len(found.tried), found.scale) == (len(TRIED), 1.0)
    assert {row.config.epochs for row in found.plan.trained} == set(EPOCHS.values()) - {0} - {
        EPOCHS["cql"]
    } | {100}


def test_less_time_fewer_epochs_then_fewer_policies():
    wholes = [sized(seconds) for seconds in (2000, 600, 150, 60)]
    for found, seconds in zip(wholes, (2000, 600, 150, 60), strict=True):
        assert found.seconds <= seconds
    scales = [found.scale for found in wholes[:2]]
    assert scales == sorted(scales, reverse=True)
    assert len(wholes[-1].tried) < len(wholes[0].tried)
    # One step more would not have fitted.
    step = sizing.SCALES[sizing.SCALES.index(wholes[1].scale) - 1]
    more = plan(ASK, wholes[1].tried, step)
    seconds = {row.name: sizing.row_seconds(row, FACTS, COST, {}) for row in more.rows}
    assert sizing.MARGIN * sizing.wall_seconds(more, seconds, 2) > 600


def test_few_policies_for_long_before_many_for_a_moment():
    found = [sized(seconds) for seconds in (200, 150, 100, 60)]
    assert [len(each.tried) for each in found] == [6, 4, 3, 2]
    assert [each.scale >= sizing.USEFUL for each in found[:3]] == [True, True, False]
    labels = [each.label for each in found[2].tried]
    assert labels == ["clone", "clone-best", "count-morl"]


def test_where_it_took_less_time_than_expected_there_are_more():
    few = sized(150)
    assert len(few.tried) == 4

    def further(seconds, pace):
        how = {"workers": 2, "seconds": seconds, "pace": pace}
        return sizing.further(ASK, TRIED, FACTS, COSTS, few, **how)

    more = further(1e6, 1.0)
    assert more is not None
    assert (len(more.tried), more.scale) == (len(TRIED), few.scale)
    labels = {row.label for row in more.plan.trained} - {row.label for row in few.plan.trained}
    assert labels == {"count-morl-near", "td3-bc-near", "count-morl-far"}
    # What is ready costs nothing: three of the seven policies, and neither model nor codes.
    whole = sizing._sized(ASK, TRIED, few.scale, FACTS, COSTS, 2)
    assert more.seconds < 0.6 * whole.seconds
    assert further(1.0, 1.0) is None
    assert further(0.5 * more.seconds, 0.5) == more
    assert further(0.2 * more.seconds, 0.0) != more  # Nobody believes that it takes no time.


def test_more_workers_do_more():
    assert sized(600, workers=4).scale > sized(600, workers=1).scale


def test_too_little_time_says_how_much_it_takes():
    with pytest.raises(ConfigError, match=r"a clone and one other policy alone take about \d+"):
        sized(10)


def test_each_method_is_timed_once_for_its_data(monkeypatch):
    asked = []

    def measured(rows, envs):
        asked.extend((row.algorithm, facts) for row, facts in rows)
        assert not envs
        return [COST] * len(rows), {}

    monkeypatch.setattr("countmorl.sweeps.trials.measure_apart", measured)
    assert sizing.costs_of(ASK, TRIED, FACTS) == COSTS
    assert sorted(asked) == [(name, FACTS) for name in sorted(COSTS)]
