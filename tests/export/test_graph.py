"""A graph answers as the policy that it was made of: every head, every counter, history."""

import numpy as np
import pytest

from bundles import CLINIC, HISTORY, OFFERS, parts_of, tabular_parts
from countmorl.export.bundle import write_bundle
from countmorl.export.graph import graph_of, write_graph
from countmorl.export.parity import compared, graph_runner, some_observations
from countmorl.runtime.bundle import load_bundle

pytest.importorskip("onnxruntime")

CASES = {
    "deterministic": {"head": "tanh"},
    "Gaussian": {"head": "tanh_normal", "counter": "plain", "estimate": "LC"},
    "categorical, categories, history": {"head": "categorical", "schema": OFFERS},
    "history": {"schema": HISTORY, "counter": "normed", "estimate": "UC"},
    "no names": {"schema": None, "counter": "simhash"},
    "exact": {"schema": None, "counter": "exact"},
    "exact choices": {"head": "categorical", "schema": OFFERS, "counter": "exact"},
    "neighbours": {"schema": CLINIC, "counter": "neighbours"},
    "neighbours of choices": {"head": "categorical", "schema": OFFERS, "counter": "neighbours"},
    "no counts": {"counter": None},
}


def written(folder, parts, contract):
    folder.mkdir()
    write_bundle(folder, parts, contract)
    bundle = load_bundle(folder)
    write_graph(bundle, folder / "policy.onnx")
    return bundle, graph_runner(folder / "policy.onnx")


@pytest.mark.parametrize("name", CASES)
def test_the_same_actions_and_exactly_the_same_counts(name, tmp_path):
    parts, contract, logged = parts_of(**CASES[name])
    bundle, runner = written(tmp_path / "bundle", parts, contract)
    obs = np.concatenate([logged, some_observations(logged, 3000)])
    found = compared(bundle, runner, obs)
    assert (found.counts_differ, found.levels_differ) == (0, 0)
    assert found.action_difference <= 2e-6  # One last bit of a number below 10.
    if CASES[name].get("counter", "codes") is not None:
        levels = runner(obs)["level"]
        assert len(set(levels.tolist())) > 1, "a test that sees one level only proves nothing"


def test_a_table_as_a_graph(tmp_path):
    bundle, runner = written(tmp_path / "bundle", *tabular_parts()[:2])
    obs = np.arange(5, dtype=np.float32)[:, None]
    assert compared(bundle, runner, obs).sentence.endswith("0 counts and 0 levels differ.")
    assert runner(obs)["action"].tolist() == [1, 0, 0, 1, 1]
    assert runner(obs)["count"].tolist() == [9, 0, 5, 20, 0]


def test_a_graph_calls_unseen_what_is_no_number_or_far(tmp_path):
    parts, contract, logged = parts_of()
    _, runner = written(tmp_path / "bundle", parts, contract)
    odd = np.repeat(logged[:1], 4, axis=0)
    odd[0, 0], odd[1, 0], odd[2, 0], odd[3, 0] = np.nan, np.inf, 1e6, -1e6
    assert runner(odd)["level"].tolist() == [0, 0, 0, 0]
    assert runner(odd)["count"].tolist() == [0, 0, 0, 0]


def test_a_graph_says_what_it_takes(tmp_path):
    parts, contract, _ = parts_of()
    bundle, _ = written(tmp_path / "bundle", parts, contract)
    model = graph_of(bundle)
    said = {each.key: each.value for each in model.metadata_props}
    assert said["observation"] == '["glucose", "ward=A", "ward=B", "ward=ICU"]'
    assert said["levels"] == '["unseen", "thin", "covered"]'
    assert [each.name for each in model.graph.output] == ["action", "count", "level"]
