import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from countmorl.errors import ConfigError
from countmorl.tabular import bounds
from countmorl.tabular.planning import evaluate, start_value, visitation


def test_theorem_1_by_hand():
    # sqrt(2 log(10 / 0.1) / n) with log 100 = 4.60517
    assert bounds.count_bound([1, 100], models=10, delta=0.1) == pytest.approx(
        [3.0349, 0.30349], 1e-4
    )
    assert bounds.count_bound(0, models=10, delta=0.1) == np.inf


def test_corollary_1_by_hand():
    found = bounds.error_bound([-3.0, 0, 0.5, 5, 100], models=10, delta=0.1)
    assert found == pytest.approx([1, 1, 1, 1, 0.30349], 1e-4)


def test_c_is_below_1_only_above_the_informative_count():
    """Not above its square root, as the text under Corollary 1 has it."""
    least = bounds.informative_count(models=10, delta=0.1)
    assert least == pytest.approx(9.2103, 1e-4)
    just = bounds.error_bound(
        [np.sqrt(least) + 0.1, least - 0.1, least + 0.1], models=10, delta=0.1
    )
    assert just[0] == just[1] == 1
    assert just[2] < 1


def test_multinomial_by_hand():
    # k = 2: sqrt(log(2 / 0.05) / (2 n)), Hoeffding's inequality; log 40 = 3.68888
    assert bounds.multinomial_bound(200, outcomes=2, delta=0.05) == pytest.approx(0.096033, 1e-4)
    # k = 4: log(14 / 0.05) = 5.63479
    assert bounds.multinomial_bound(200, outcomes=4, delta=0.05) == pytest.approx(0.118689, 1e-4)
    assert bounds.multinomial_bound([0, 1, 9], outcomes=1, delta=0.05).tolist() == [1, 0, 0]
    assert bounds.multinomial_bound(10**6, outcomes=2000, delta=0.05) == pytest.approx(
        0.02634, 1e-3
    )


def test_adaptive_spends_delta_over_n_times_n_plus_1():
    spent = 0.05 / (200 * 201)
    assert bounds.multinomial_bound_adaptive([200, 0], outcomes=4, delta=0.05) == pytest.approx(
        [float(bounds.multinomial_bound(200, outcomes=4, delta=spent)), 1]
    )


def test_union_bound():
    assert bounds.shared_delta(0.05, 256) == 0.05 / 256


def test_spans_and_coefficients_by_hand():
    assert bounds.value_span((-1, 1), 0.9) == pytest.approx(20)
    assert bounds.paper_span((-1, 1), 0.9) == pytest.approx(10)
    assert bounds.value_span((0, 1), 0.9) == bounds.paper_span((0, 1), 0.9) == pytest.approx(10)
    assert bounds.coefficient(span=20, gamma=0.9) == pytest.approx(18)
    assert bounds.coefficient(span=20, gamma=0.9, rewards="logged") == 20


def test_value_statements_by_hand():
    constants = {"epsilon": 0.1, "factor": 9.0, "gamma": 0.9}
    # The paper's gamma Rmax / (1 - gamma)^2 with Rmax = 1 is 90.
    assert bounds.value_gap(mean_error=0.2, **constants) == pytest.approx(90 * 0.3)
    assert bounds.conservatism_error(**constants) == pytest.approx(9)
    assert bounds.suboptimality_gap(mean_error=0.2, **constants) == pytest.approx(54)


def test_approximation_error():
    assert bounds.approximation_error(np.array([1, 0.5]), np.array([0.9, 0.2])) == pytest.approx(
        0.3
    )


@given(st.integers(0, 10**6), st.integers(1, 10**6), st.integers(1, 500), st.floats(1e-6, 0.5))
def test_more_data_never_raises_a_bound(count, more, size, delta):
    for bound in (
        lambda n: bounds.error_bound(n, models=size, delta=delta),
        lambda n: bounds.multinomial_bound(n, outcomes=size, delta=delta),
        lambda n: bounds.multinomial_bound_adaptive(n, outcomes=size, delta=delta),
    ):
        few, many = float(bound(count)), float(bound(count + more))
        assert 0 <= many <= few <= 1


def test_lemma_1_needs_the_span_not_rmax(random_mdp):
    """The start leads to misery, the model says luck: the gap is twice the paper's bound."""
    gamma, start = 0.9, np.array([1.0, 0, 0])
    truth = np.array([[0, 0, 1], [0, 1, 0], [0, 0, 1.0]])
    wrong = np.array([[0, 1, 0], [0, 1, 0], [0, 0, 1.0]])

    def gap(low):
        base = random_mdp(np.random.default_rng(0), actions=1, gamma=gamma)
        reward = np.array([[0.0], [1.0], [low]])
        policy = np.ones((3, 1))
        known, model = (
            type(base)(
                transition=p, reward=reward, start=start, gamma=gamma, terminal=base.terminal
            )
            for p in (truth, wrong)
        )
        error = 0.5 * np.abs(truth - wrong).sum(axis=1)[:, None]
        mean = (visitation(model, policy) * error).sum()
        apart = start_value(model, policy) - start_value(known, policy)
        limits = [
            bounds.value_gap(
                mean_error=mean,
                epsilon=0,
                factor=bounds.coefficient(span=span((low, 1), gamma), gamma=gamma),
                gamma=gamma,
            )
            for span in (bounds.paper_span, bounds.value_span)
        ]
        return apart, *limits

    assert gap(-1.0) == pytest.approx((18, 9, 18))
    assert gap(0.0) == pytest.approx((9, 9, 9))


@given(st.integers(0, 2**32 - 1), st.sampled_from([-1.0, 0.0]))
def test_lemma_1_holds_both_ways_for_any_two_models(random_mdp, seed, low):
    rng = np.random.default_rng(seed)
    truth, model = (random_mdp(rng, low=low) for _ in range(2))
    model = type(truth)(**{**vars(truth), "transition": model.transition})
    policy = rng.dirichlet(np.ones(2), 3)
    error = 0.5 * np.abs(truth.transition - model.transition).sum(axis=1).reshape(3, 2)
    factor = bounds.coefficient(span=bounds.value_span((low, 1), truth.gamma), gamma=truth.gamma)
    mean = float((visitation(model, policy) * error).sum())
    gap = bounds.value_gap(mean_error=mean, epsilon=0, factor=factor, gamma=truth.gamma)
    apart = truth.start @ (evaluate(model, policy) - evaluate(truth, policy))
    assert abs(apart) <= gap + 1e-9


@pytest.mark.parametrize("delta", [0, 1, -0.1, 2])
def test_delta_must_be_a_probability(delta):
    with pytest.raises(ConfigError, match="probability of failure"):
        bounds.error_bound(1, models=2, delta=delta)
    with pytest.raises(ConfigError, match="probability of failure"):
        bounds.shared_delta(delta, 4)


def test_empty_classes_are_refused():
    with pytest.raises(ConfigError, match="at least 1"):
        bounds.count_bound(1, models=0, delta=0.1)
    with pytest.raises(ConfigError, match="at least 1"):
        bounds.multinomial_bound(1, outcomes=0, delta=0.1)
