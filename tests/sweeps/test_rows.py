import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from countmorl import BC, CountMORL, DataOptions, RunOptions
from countmorl.configs import to_json
from countmorl.errors import ConfigError
from countmorl.runs.manifest import Manifest
from countmorl.sweeps.rows import Row, check_same, differences, short_hash, slug

ROW = Row(
    name="count-morl-log-seed3",
    algorithm="count-morl",
    config=CountMORL(beta=2.0, horizon=3),
    data="/data/log.npz",
    data_name="log",
    data_options=DataOptions(rows=50),
    options=RunOptions(seed=3, label="mine"),
    model="model-log-seed3",
)


def test_a_row_survives_its_journey_as_json():
    assert Row.from_dict(json.loads(json.dumps(ROW.as_dict()))) == ROW


def test_tables_call_it_by_its_label_or_its_method():
    assert ROW.label == "mine"
    assert Row(name="x", algorithm="bc", config=BC(), data="x", data_name="x").label == "bc"


def test_differences_are_dotted_names_and_lists_are_tuples():
    old = {"a": {"b": [1, 2], "c": 1}, "d": 1}
    assert differences(old, {"a": {"b": (1, 2), "c": 2}, "e": 1}) == ["a.c", "d", "e"]
    assert differences(old, json.loads(json.dumps(old))) == []


def manifest(**changes) -> Manifest:
    asked = {"algorithm": "count-morl", "config": to_json(ROW.config), "options": ROW.options}
    return Manifest(**(asked | changes))


def test_the_run_in_a_rows_folder_must_be_its_own():
    check_same(ROW, manifest())
    check_same(ROW, manifest(config=json.loads(json.dumps(to_json(ROW.config)))))
    with pytest.raises(ConfigError, match=r"holds another run than the plan's.*config.beta"):
        check_same(ROW, manifest(config=to_json(CountMORL(beta=1.0, horizon=3))))
    with pytest.raises(ConfigError, match=r"options.seed"):
        check_same(ROW, manifest(options=RunOptions(seed=4, label="mine")))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("count-morl, beta 3", "count-morl-beta-3"),
        ("../../etc", "etc"),
        ("a/b\\c", "a-b-c"),
        ("d=16 +x_1.5", "d=16-+x_1.5"),
        ("  ", "-"),
        ("größe", "größe"),
    ],
)
def test_slugs(text, wanted):
    assert slug(text) == wanted


@given(st.text(max_size=400))
def test_a_slug_is_one_folder_of_a_sane_length(text):
    name = slug(text)
    assert name
    assert not set(name) & set("/\\\0 \n")
    assert name not in (".", "..")
    assert len(name) <= 107


def test_long_labels_that_differ_at_their_end_have_different_slugs():
    assert slug("x" * 200 + "a") != slug("x" * 200 + "b")


def test_a_short_hash_stands_for_the_value_whatever_the_order():
    assert short_hash({"a": 1, "b": 2}) == short_hash({"b": 2, "a": 1})
    assert short_hash({"a": 1}) != short_hash({"a": 2})
    assert len(short_hash([])) == 6
