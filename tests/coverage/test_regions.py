"""Regions that were left out on purpose are found, and named."""

import re

import numpy as np
import pytest

from countmorl import load
from countmorl.coverage.axes import Table
from countmorl.coverage.regions import contrast, thin_regions
from countmorl.schema import Column, Schema, schema_bytes
from coverage.test_axes import rest


def log_without(rows=4000):
    """Two numbers and a dose, all evenly drawn; no dose above 0.5 where the first is above 0.5."""
    rng = np.random.default_rng(0)
    obs = rng.uniform(0, 1, (rows, 2)).astype(np.float32)
    action = rng.uniform(0, 1, (rows, 1)).astype(np.float32)
    action[obs[:, 0] > 0.5] *= 0.5
    log = rest(rows) | {"obs": obs, "action": action, "next_obs": obs}
    return load(log)


def regions_of(data, **options):
    table = Table.of(data)
    return thin_regions(table, table.numbers(data.obs, data.action), most=5, **options)


def test_what_was_never_tried_is_found_and_named():
    data = log_without()
    (found,) = regions_of(data, actions=True)
    high, dose = data.obs[:, 0], data.action[:, 0]
    # Cuts are quantiles: of doses more lie below a half, so that cuts are others.
    words = found.text.split()
    assert words[0] == "obs[0]"
    assert words[1:2] + words[-2:-1] == ["above", "above"]
    inside = (high > float(words[2])) & (dose > float(words[-1]))
    assert found.rows == inside.sum() < 0.1 * found.expected
    alone = (high > float(words[2])).sum() * (dose > float(words[-1])).sum() / len(dose)
    assert found.expected == pytest.approx(alone)


def test_where_columns_have_nothing_to_do_with_each_other_nothing_is_told():
    assert regions_of(log_without(), actions=False) == []


def test_a_column_is_told_of_in_two_pairs_at_the_most():
    rng = np.random.default_rng(0)
    same = rng.uniform(0, 1, (500, 1)).astype(np.float32)
    obs = np.repeat(same, 4, axis=1)
    data = load(rest(500) | {"obs": obs, "next_obs": obs, "action": 1 - same})
    found = regions_of(data, actions=True)
    assert {each.text.split()[0] for each in found} == {"obs[0]", "obs[1]"}


def clinic(rows=4000):
    """Nobody has ever given more than 1 below 110, nor more than 2 above 250; wards are chance."""
    rng = np.random.default_rng(0)
    glucose, ward = rng.uniform(60, 400, rows), rng.integers(0, 3, rows)
    most = np.where(glucose < 110, 1, np.where(glucose > 250, 2, 4))
    obs = np.column_stack([glucose, np.eye(3)[ward]]).astype(np.float32)
    action = (most * rng.uniform(0, 1, rows))[:, None].astype(np.float32)
    schema = Schema(
        obs=(
            Column(name="glucose", unit="mg/dL"),
            Column(name="ward", kind="category", values=("A", "B", "ICU")),
        ),
        action=(Column(name="dose", unit="U"),),
    )
    log = rest(rows) | {"obs": obs, "action": action, "next_obs": obs}
    log |= {"action_low": np.zeros(1), "action_high": np.full(1, 4.0)}
    return load(log | {"schema": schema_bytes(schema)})


def test_both_holes_of_one_pair_are_told_in_the_columns_own_words():
    low, high = sorted(regions_of(clinic(), actions=True), key=lambda each: "above" in each.text)
    assert re.fullmatch(r"glucose up to [\d.]+ mg/dL with dose above [\d.]+ U", low.text)
    assert re.fullmatch(r"glucose above [\d.]+ mg/dL with dose above [\d.]+ U", high.text)
    for region in (low, high):
        assert region.rows <= 0.1 * region.expected
    # Cuts are quantiles, so a region may be smaller than the hole, but it lies in it.
    at, beyond = map(float, re.findall(r"[\d.]+", low.text))
    assert (at < 125, beyond > 0.9) == (True, True)
    at, beyond = map(float, re.findall(r"[\d.]+", high.text))
    assert (at > 240, beyond > 1.9) == (True, True)


def test_two_values_of_one_category_are_no_situation():
    assert regions_of(clinic(), actions=False) == []


def test_the_sine_and_the_cosine_of_an_hour_are_no_situation():
    hour = np.random.default_rng(0).uniform(0, 2 * np.pi, 4000)
    obs = np.column_stack([np.sin(hour), np.cos(hour)]).astype(np.float32)
    clock = Column(name="clock", kind="hour")
    assert len(clock.numbers) == 2
    schema = Schema(obs=(clock,), action=(Column(name="dose"),))
    log = rest(4000) | {"obs": obs, "next_obs": obs, "schema": schema_bytes(schema)}
    assert regions_of(load(log), actions=False) == []
    plain = {name: value for name, value in log.items() if name != "schema"}
    assert regions_of(load(plain), actions=False) != []


def test_the_rectangle_that_holds_one_table_and_not_the_other():
    data = log_without()
    table = Table.of(data)
    everything = table.numbers(data.obs, data.action)
    inside = everything[(everything[:, 1] > 0.75) & (everything[:, 2] <= 0.25)]
    box = contrast(table, inside, everything)
    assert table.axes[box.columns[0]].name == "obs[1]"
    assert box.holds(table, inside).mean() > 0.9
    assert box.gain > 0.5
    assert contrast(table, inside[:0], everything) is None
