import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countmorl.errors import ConfigError
from countmorl.studies.instances import sample
from countmorl.tabular import bounds
from countmorl.tabular.certificate import Assumptions, certificate, pair_errors
from countmorl.tabular.data import TabularData
from countmorl.tabular.planning import start_value

ALWAYS = np.array([[1.0, 0], [1, 0]])


def coin(heads, tails):
    """One state, two actions; heads ends with 1, tails ends with 0; the other action is unseen."""
    total = heads + tails
    return TabularData.of_rows(
        np.zeros(total, int),
        np.zeros(total, int),
        np.r_[np.ones(heads), np.zeros(tails)],
        np.r_[np.ones(heads, int), np.full(tails, 2)],
        np.ones(total, bool),
        first=np.array([0]),
        actions=2,
    )


def test_by_hand():
    policy = np.tile([1.0, 0], (3, 1))
    assume = Assumptions(value_range=(0, 1), successors=2, sampling="fixed", rewards="logged")
    found = certificate(coin(600, 400), policy, delta=0.05, gamma=0.9, assume=assume)
    # Six pairs share delta: TV <= sqrt(log(2 * 6 / 0.05) / 2000) = 0.05235, worth 1 a unit.
    assert found.estimate == pytest.approx(0.6)
    assert found.lower == pytest.approx(0.6 - 0.05235, abs=1e-4)
    assert (found.confidence, found.pairs, found.vacuous) == (0.95, 6, False)
    assert found.mean_error == pytest.approx(0.1 * 0.05235, abs=1e-5)


def test_an_unseen_action_is_worth_the_least_there_can_be():
    policy = np.tile([0.0, 1], (3, 1))
    found = certificate(coin(600, 400), policy, assume=Assumptions(value_range=(0, 1)))
    assert (found.lower, found.vacuous) == (0, True)


def test_delta_is_shared_among_all_pairs_and_ended_states_have_no_error():
    data = coin(600, 400)
    found = pair_errors(data, delta=0.05, assume=Assumptions(sampling="fixed", successors=2))
    alone = bounds.multinomial_bound(1000, outcomes=2, delta=0.05 / 6)
    assert found == pytest.approx(np.array([[float(alone), 1], [0, 0], [0, 0]]))
    found = pair_errors(data, delta=0.05, assume=Assumptions(), models=7)
    assert found[0, 0] == pytest.approx(float(bounds.error_bound(1000, models=7, delta=0.05 / 6)))


def test_finite_class_by_hand():
    data = sample_chain(np.random.default_rng(0))
    truth, models = chain_models()
    assume = Assumptions(rewards="known", reward_range=(0, 1))
    found = certificate(data, ALWAYS, delta=0.1, gamma=0.5, assume=assume, models=models)
    # C = sqrt(2 log(2 * 4 / 0.1) / n): 0.02961 at 0; factor 0.5 * 1 / 0.5 = 1.
    assert found.bound == "finite class"
    assert found.estimate == pytest.approx(start_value(truth, ALWAYS))
    error = np.sqrt(2 * np.log(80) / 10_000)
    assert found.lower == pytest.approx(found.estimate - 2 * error)


def chain_models():
    from countmorl.tabular.mdp import TabularMDP

    true = np.array([[0.5, 0.5], [1, 0], [0.5, 0.5], [1, 0]])
    other = np.array([[0.9, 0.1], [1, 0], [0.9, 0.1], [1, 0]])
    truth = TabularMDP(
        transition=true,
        reward=np.array([[1.0, 0], [0, 0]]),
        start=np.array([1.0, 0]),
        gamma=0.5,
        terminal=np.zeros(2, bool),
    )
    return truth, np.stack([other, true])


def sample_chain(rng):
    return sample(chain_models()[0], np.full(4, 10_000), (0.0, 1.0), rng)


@given(st.integers(1, 50), st.integers(1, 50), st.integers(2, 30))
def test_more_of_the_same_data_never_lowers_it(heads, tails, times):
    policy = np.tile([1.0, 0], (3, 1))
    assume = Assumptions(value_range=(0, 1), successors=2)
    few, many = (
        certificate(coin(heads * k, tails * k), policy, assume=assume).lower for k in (1, times)
    )
    assert many >= few - 1e-9


def test_more_confidence_costs():
    policy = np.tile([1.0, 0], (3, 1))
    lower = [
        certificate(coin(60, 40), policy, delta=d, assume=Assumptions(value_range=(0, 1))).lower
        for d in (0.001, 0.05, 0.5)
    ]
    assert lower == sorted(lower)


@pytest.mark.parametrize(
    ("assume", "words"),
    [
        ({"value_range": (1, 0)}, "least, greatest"),
        ({"successors": 0}, "at least 1"),
    ],
)
def test_impossible_assumptions_are_refused(assume, words):
    with pytest.raises(ConfigError, match=words):
        Assumptions(**assume)


def test_assumptions_that_the_log_contradicts_are_refused():
    data, policy = coin(6, 4), np.tile([1.0, 0], (3, 1))
    with pytest.raises(ConfigError, match="one pair of the log has 2 different outcomes"):
        certificate(data, policy, assume=Assumptions(successors=1))
    with pytest.raises(ConfigError, match="holds rewards from 0 to 1"):
        certificate(data, policy, assume=Assumptions(reward_range=(0, 0.5)))


def test_a_class_of_models_needs_known_rewards():
    _, models = chain_models()
    with pytest.raises(ConfigError, match="rewards must be known"):
        certificate(sample_chain(np.random.default_rng(0)), ALWAYS, models=models)


def test_as_dict_is_plain():
    import json

    assert json.loads(json.dumps(certificate(coin(6, 4), np.tile([1.0, 0], (3, 1))).as_dict()))
