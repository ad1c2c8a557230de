from dataclasses import replace

import numpy as np
import pytest

from countmorl.errors import ConfigError, DataError
from countmorl.monitoring.monitor import MOST_UNITS, Today, monitor, stability
from countmorl.monitoring.training import batch_of, made_of
from monitored import dataset, walks


@pytest.fixture(scope="module")
def baseline():
    data = dataset(episodes=120)
    return made_of(data, np.arange(120) < 12)


def said(report) -> str:
    return " ".join(alarm.sentence for alarm in report.alarms)


def test_a_log_of_the_same_kind_raises_no_alarm(baseline):
    found = monitor(baseline, walks(episodes=30, seed=1))
    assert found.alarms == ()
    assert (found.rows, found.episodes) == (600, 30)
    assert found.sentence == "No alarm: 600 steps of 30 episodes look like the training's."
    assert all(column.moved <= found.limit for column in found.columns)


@pytest.mark.parametrize(
    ("change", "kind", "sentence"),
    [
        ({"unit": 1000.0}, "moved", "obs[0]"),
        ({"shift": 1.0}, "moved", "obs[0] is higher"),
        ({"wide": 2.0}, "beyond", "action[0] goes above"),
        ({"pull": -0.5}, "moved", "after the same observations and actions obs[0] goes"),
        ({"bonus": -1.0}, "reward", "a step pays"),
    ],
)
def test_drifts_are_told_in_words(baseline, change, kind, sentence):
    found = monitor(baseline, walks(episodes=30, seed=2, **change))
    assert kind in [alarm.kind for alarm in found.alarms]
    assert sentence in said(found)
    assert found.sentence.startswith("ALARM: 600 steps of 30 episodes are unlike")
    # The other column is what it was.
    assert not any(a.column == "obs[1]" for a in found.alarms)


def test_pairs_that_are_rarer_raise_an_alarm_and_more_frequent_ones_do_not(counting_run):
    from countmorl.monitoring.opened import opened

    base, count = opened(counting_run)
    assert count is not None
    log = walks(episodes=20, seed=3)
    rare = monitor(base, log, count=lambda obs, action: np.zeros(len(obs)))
    assert [a.kind for a in rare.alarms] == ["rarer"]
    assert "100.0% of the pairs of observation and action were never logged" in said(rare)
    assert rare.unseen == 1
    often = monitor(base, log, count=lambda obs, action: np.full(len(obs), 1e6))
    assert often.alarms == ()


def test_the_index_by_hand():
    # Bins of 20, 30, 50 % before and 50, 30, 20 % now: 0.3 log 2.5 twice.
    before, now = np.array([0.2, 0.5]), np.array([0.5, 0.8])
    assert stability(before, now) == pytest.approx(2 * 0.3 * np.log(2.5))
    assert stability(before, before) == 0


def test_a_part_of_an_episode_says_little(baseline):
    log = {name: values[:5] for name, values in walks(seed=4).items()}
    found = monitor(baseline, log)
    assert "shorter than one of the training's episodes (20 steps)" in found.notes[0]


def test_a_log_is_told_by_parts_of_the_length_of_an_episode(baseline):
    today = Today(baseline)
    whole = batch_of(dataset(episodes=60), np.arange(1200))
    today.add(replace(whole, episode=np.arange(1200) // 5), None)  # Cut into four each.
    assert (today.episodes, today.rows, today.size) == (240, 1200, 60)
    assert today.pieces is not None
    assert len(today.pieces) == 240
    assert today.units.rows.tolist() == [20] * 60
    assert np.array_equal(today.units.whole.below, today.pieces.whole.below)
    # One long episode is one part: nobody knows how far its parts hang together.
    today = Today(baseline)
    today.add(replace(whole, episode=np.zeros(1200, int)), None)
    assert today.units.rows.tolist() == [1200]


def test_of_a_long_log_several_episodes_are_one_part(baseline):
    today, whole = Today(baseline), batch_of(dataset(episodes=120), np.arange(2400))
    for number in range(3):
        today.add(replace(whole, episode=np.arange(2400) + 2400 * number), None)
    assert (today.episodes, today.rows) == (7200, 7200)
    assert today.pieces is not None
    assert len(today.pieces) <= 4 * MOST_UNITS
    assert today.units.rows.tolist() == pytest.approx([20] * 360, abs=12)
    today.baseline = replace(baseline, pool=replace(baseline.pool, tally=today.pieces))
    assert 0.9 * MOST_UNITS < len(today.units) <= MOST_UNITS


def test_blocks_of_a_training_of_few_episodes_are_held_against_blocks():
    data = dataset(episodes=4, length=200)
    base = made_of(data, np.zeros(4, bool))
    assert base.origin.blocks
    today = Today(base)
    today.add(batch_of(data, np.arange(800)), None)
    assert today.units.rows.tolist() == [20] * 40


def test_what_is_asked_for_moves_the_limit(baseline):
    log = walks(episodes=10, seed=5)
    limits = [monitor(baseline, log, false_alarms=each).limit for each in (0.2, 0.05, 0.01)]
    assert limits == sorted(limits)


class TestBadInput:
    def test_false_alarms_out_of_range(self, baseline):
        for wrong in (0.0, 0.9, float("nan")):
            with pytest.raises(ConfigError, match=r"from 0\.001 to 0\.5"):
                monitor(baseline, walks(), false_alarms=wrong)

    def test_counts_that_belong_to_another(self, baseline):
        with pytest.raises(ConfigError, match="do not belong together"):
            monitor(baseline, walks(), count=lambda obs, action: np.zeros(len(obs)))

    def test_other_columns(self, baseline):
        log = walks() | {"obs": np.zeros((1200, 3)), "next_obs": np.zeros((1200, 3))}
        with pytest.raises(DataError, match="has 3 observation"):
            monitor(baseline, log)

    def test_other_actions(self, baseline):
        more = walks() | {"action": np.zeros((1200, 2))}
        with pytest.raises(DataError, match="2 action numbers, the training had 2 and 1"):
            monitor(baseline, more)

    def test_a_value_that_is_none(self, baseline):
        log = walks()
        log["obs"][7, 0] = np.nan
        with pytest.raises(DataError, match="NaN or infinite in 1 rows"):
            monitor(baseline, log)

    def test_no_rows(self, baseline):
        log = {name: values[:0] for name, values in walks().items()}
        with pytest.raises(DataError, match="no rows"):
            monitor(baseline, log)

    def test_no_such_log(self, baseline):
        with pytest.raises(DataError, match="There is no file nowhere"):
            monitor(baseline, "nowhere.hdf5")

    def test_a_table_where_the_training_had_no_names(self, baseline, tmp_path):
        (tmp_path / "log.csv").write_text("a,b\n1,2\n")
        with pytest.raises(DataError, match="had no names of columns"):
            monitor(baseline, tmp_path / "log.csv")
