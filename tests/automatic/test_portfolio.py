import numpy as np
import pytest

from countmorl import load
from countmorl.algorithms.model_alone import ModelAlone
from countmorl.automatic.portfolio import (
    CLONE,
    EPOCHS,
    FEWEST_OF_MODEL,
    FREER,
    STRONGER,
    Ask,
    plan,
    pull_of,
    trials,
)
from countmorl.runs.options import DataOptions
from small_runs import numbered_log

ASK = Ask(source="log.npz", data_options=DataOptions(rows=500), seed=3)


def test_whoever_can_choose_actions_is_tried():
    vectors, choices = (trials(discrete=each, pull=0.5) for each in (False, True))
    assert [each.algorithm for each in vectors if "count" not in each.algorithm] == [
        "bc",
        "bc",
        "td3-bc",
        "td3-bc",
    ]
    assert {each.algorithm for each in choices} == {"bc", "cql", "count-morl"}
    assert vectors[0].label == choices[0].label == CLONE


def test_one_is_held_to_the_log_less_strongly():
    far = {each.label: each.settings for each in trials(discrete=False, pull=0.5)}
    assert far["count-morl-far"] == {"imitate": 0.5 / FREER}
    random = {each.label: each.settings for each in trials(discrete=False, pull=0.0)}
    assert "imitate" not in random["count-morl-far"]


def test_one_is_held_to_the_log_more_strongly():
    near = {each.label: each.settings for each in trials(discrete=False, pull=0.5)}
    assert near["count-morl-near"] == {"imitate": STRONGER * 0.5}
    random = {each.label: each.settings for each in trials(discrete=False, pull=0.0)}
    assert "imitate" not in random["count-morl-near"]


@pytest.mark.parametrize("discrete", [False, True])
def test_the_whole_plan_shares_one_model_and_never_plays(discrete):
    found = plan(ASK, trials(discrete=discrete, pull=0.5), 1.0)
    assert [row.algorithm for row in found.rows[:2]] == ["model", "codes"]
    assert sum(row.algorithm == "model" for row in found.rows) == 1
    for row in found.trained:
        assert row.config.epochs == EPOCHS[row.algorithm]
        assert row.data_options.rows == 500
        assert row.options.seed == 3
        assert not row.options.simulate
        assert row.options.eval_every * 2 < row.config.epochs  # Three policies of each are kept.


def test_less_time_fewer_epochs_and_relatively_more_of_the_model():
    found = plan(ASK, trials(discrete=False, pull=0.5), 0.09)
    epochs = {row.label: row.config.epochs for row in found.trained}
    assert epochs == {
        CLONE: 9,  # 30 times the root of 0.09
        "clone-best": 9,
        "td3-bc": 9,
        "td3-bc-near": 9,
        "count-morl": 18,
        "count-morl-near": 18,
        "count-morl-far": 18,
    }
    model = found.rows[0].config
    assert isinstance(model, ModelAlone)
    assert model.model.max_epochs == 12  # 40 times the root of 0.09


def test_without_count_morl_a_model_is_fitted_to_judge_in():
    found = plan(ASK, trials(discrete=False, pull=0.5)[:2], 0.001)
    assert [row.algorithm for row in found.rows] == ["model", "bc", "bc"]
    assert found.rows[0].config.model.max_epochs == FEWEST_OF_MODEL


def test_the_pull_of_random_choices_is_weak(monkeypatch):
    monkeypatch.setattr("countmorl.automatic.portfolio.UPDATES_OF_WEIGHT", 3)
    data = load(numbered_log())
    assert 0 <= pull_of(data) < 0.5
    assert np.isfinite(pull_of(data))
