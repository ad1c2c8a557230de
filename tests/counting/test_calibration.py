import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from countmorl.counting.calibration import alarm, calibrate, compare, told_apart
from countmorl.counting.exact import ExactCounter
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.gaussian import GaussianNet
from countmorl.runs.calibration import Jolted, SwappedActions
from countmorl.scaling import Standardizer

NONE = SwappedActions(median_count=0.0, told_apart=0.5)


def test_errors_that_fall_with_counts_are_predicted():
    rng = np.random.default_rng(0)
    count = rng.integers(1, 200, 500).astype(float)
    facts = compare(count, 1 / np.sqrt(count) + 0.01 * rng.random(500), NONE)
    assert facts.predicts_error
    assert facts.rank_correlation < -0.9
    errors = [b.error for b in facts.bins]
    assert errors == sorted(errors, reverse=True)
    assert sum(b.rows for b in facts.bins) == 500


def test_unrelated_errors_are_called_so():
    rng = np.random.default_rng(0)
    facts = compare(rng.integers(1, 200, 500).astype(float), rng.random(500), NONE)
    assert not facts.predicts_error
    assert "do not predict" in facts.verdict


def test_equal_counts_say_nothing():
    facts = compare(np.full(50, 3.0), np.random.default_rng(0).random(50), NONE)
    assert not facts.predicts_error
    assert "same count" in facts.verdict
    assert facts.bins[0].rows == 50


def test_pairs_are_told_apart_by_their_counts():
    far = told_apart(np.array([5.0, 6.0, 7.0]), np.array([0.0, 1.0, 2.0]))
    assert far == SwappedActions(median_count=1.0, told_apart=1.0)
    alike = told_apart(np.array([1.0, 2.0]), np.array([1.0, 2.0]))
    assert alike.told_apart == 0.5


def test_counts_fall_where_actions_are_swapped():
    net = jax.vmap(lambda k: GaussianNet.make((2, 4, 4, 4, 4, 2), key=k))(jr.split(jr.key(0), 2))
    ensemble = Ensemble(net, *[Standardizer.identity(2)] * 2, jnp.arange(2), jnp.zeros(2))
    x = jnp.repeat(jnp.arange(10.0)[:, None], 2, axis=1)  # The action always equals the state.
    counter = ExactCounter.of(jnp.concatenate([x, x, x]))
    facts = calibrate(ensemble, counter, x, jnp.ones((10, 2)), "AVG", 0.5, actions=1)
    assert facts.median_count == 3.0
    assert facts.swapped_actions == SwappedActions(median_count=0.0, told_apart=1.0)
    # No pair with noise was ever logged: each costs more than any held-out one.
    assert [(each.of, each.noise) for each in facts.jolted] == [
        (of, noise) for of in ("actions", "observations") for noise in (0.1, 0.3, 1.0)
    ]
    for each in facts.jolted:
        assert (each.median_count, each.unseen, each.told_apart) == (0.0, 1.0, 1.0)
    assert "can be relied on as an alarm" in facts.verdict


def test_the_alarm_is_only_as_good_as_what_it_hears_a_deviation_away():
    def at(of, noise, told_apart):
        return Jolted(of=of, noise=noise, median_count=0.0, unseen=0.0, told_apart=told_apart)

    deaf = (at("actions", 0.1, 1.0), at("actions", 1.0, 0.62), at("observations", 1.0, 0.97))
    assert alarm(deaf) == (
        "A deviation away from the data they tell pairs from held-out ones in 62 % of cases by "
        "the action and in 97 % by the observation, so they cannot be relied on as an alarm."
    )
