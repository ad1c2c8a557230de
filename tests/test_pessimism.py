import equinox as eqx
import jax.numpy as jnp
import numpy as np

from countmorl.counting.base import AbstractCounter
from countmorl.dynamics.ensemble import Ensemble
from countmorl.pessimism import (
    CountPenalty,
    HaltUnknown,
    NoPessimism,
    Pairs,
    SpreadPenalty,
    StdPenalty,
    disagreement,
)


class Fixed(AbstractCounter):
    table: jnp.ndarray = eqx.field(converter=jnp.asarray)
    fit = from_arrays = None  # type: ignore[assignment]

    def counts(self, x, hidden):
        return self.table


X, HIDDEN = jnp.zeros((3, 2)), jnp.zeros((2, 3, 4))


def test_count_penalty_by_hand():
    # Two members: means 4, 0.5, 0; deviations 0, sqrt(0.5), 0.
    counter = Fixed([[4, 1, 0], [4, 0, 0]])
    lowered = CountPenalty(counter, 2.0, "LC", 0.5)(Pairs(Members(), X, HIDDEN))
    np.testing.assert_allclose(lowered.penalty, [1.0, 2.0, 2.0])
    np.testing.assert_allclose(lowered.facts["unseen"], [0, 0, 1])
    np.testing.assert_allclose(lowered.facts["count"], [4, 0.5 - 0.5 * 0.5**0.5, 0], atol=1e-6)
    assert not lowered.halt.any()


def test_without_pessimism_nothing_is_lowered():
    lowered = NoPessimism()(Pairs(Members(), X, HIDDEN))
    np.testing.assert_array_equal(lowered.penalty, 0)


class Members(Ensemble):
    """Stands for an ensemble whose predictions are given: three members, two pairs."""

    def __init__(self):
        self.members = self.standardizer = self.targets = None  # type: ignore[assignment]
        self.elites = self.holdout_error = None  # type: ignore[assignment]

    mean = jnp.array(
        [
            [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]],
            [[3.0, 4.0, 9.0], [1.0, 0.0, 0.0]],
            [[0.0, 0.0, -1.0], [1.0, 0.5, 7.0]],
        ]
    )
    std = jnp.array(
        [
            [[1.0, 2.0, 2.0], [1.0, 0.0, 0.0]],
            [[0.0, 3.0, 4.0], [0.1, 0.1, 0.1]],
            [[1.0, 1.0, 1.0], [2.0, 1.0, 2.0]],
        ]
    )

    def predict(self, x):
        return self.mean, 2 * jnp.log(self.std + 1e-12)


PAIRS, NONE = jnp.zeros((2, 2)), jnp.zeros((1, 2, 4))


def test_mopo_takes_the_largest_norm_of_deviations_over_all_members_with_the_reward():
    # Norms 3, 5, sqrt(3) and 1, ~0.17, 3. Without the reward (a trap) they would be smaller.
    lowered = StdPenalty(2.0, "max_std")(Pairs(Members(), PAIRS, NONE))
    np.testing.assert_allclose(lowered.penalty, [10.0, 6.0], rtol=1e-5)
    assert not lowered.halt.any()


def test_mopos_other_uncertainties_against_numpy():
    mean = np.asarray(Members.mean)[..., :-1]  # As in public code, the reward does not count.
    away = np.linalg.norm(mean - mean.mean(axis=0), axis=-1).max(axis=0)
    spread = StdPenalty(1.0, "mean_spread")(Pairs(Members(), PAIRS, NONE))
    np.testing.assert_allclose(spread.penalty, away, rtol=1e-5)
    deviation = np.sqrt(mean.var(axis=0).mean(axis=-1))
    each = StdPenalty(1.0, "ensemble_std")(Pairs(Members(), PAIRS, NONE))
    np.testing.assert_allclose(each.penalty, deviation, rtol=1e-5)


def test_morel_halts_where_two_members_disagree_on_the_same_pair():
    # Next observations are 5 apart at the first pair, 0.5 at the second; rewards do not count.
    np.testing.assert_allclose(disagreement(Members(), PAIRS), [5.0, 0.5])
    lowered = HaltUnknown(jnp.array(1.0), 30.0)(Pairs(Members(), PAIRS, NONE))
    assert lowered.halt.tolist() == [True, False]
    assert lowered.penalty.tolist() == [30.0, 0.0]
    np.testing.assert_allclose(lowered.facts["unknown"], [1, 0])


def test_every_two_members_are_compared():
    class Many(Members):
        mean = jnp.zeros((7, 1, 2)).at[:, 0, 0].set(jnp.array([0.0, 1, 2, 3, 4, 5, 6.5]))

        def predict(self, x):
            return self.mean, self.mean

    np.testing.assert_allclose(disagreement(Many(), PAIRS[:1]), [6.5])


def test_the_spread_penalty_is_in_each_targets_own_scale():
    scale = np.array([1.0, 2.0, 4.0], np.float32)
    lowered = SpreadPenalty(jnp.asarray(scale), 10.0)(Pairs(Members(), PAIRS, NONE))
    wanted = 10 * np.linalg.norm(np.asarray(Members.mean).std(axis=0) / scale, axis=-1)
    np.testing.assert_allclose(lowered.penalty, wanted, rtol=1e-5)
