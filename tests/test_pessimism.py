import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from countmorl.counting.base import AbstractCounter
from countmorl.dynamics.ensemble import Ensemble
from countmorl.dynamics.gaussian import GaussianNet
from countmorl.pessimism import (
    DEAREST,
    Ahead,
    BellmanPenalty,
    CountPenalty,
    HaltUnknown,
    NoPessimism,
    Pairs,
    SpreadPenalty,
    StdPenalty,
    disagreement,
    elites_spread,
)
from models import small_ensemble


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


def test_a_rollout_ends_where_most_members_never_saw_the_pair():
    counter = Fixed([[4, 1, 0], [4, 0, 0], [4, 0, 3]])
    penalty = CountPenalty(counter, 2.0, "AVG", 0.5, "penalties", -7.0)
    lowered = penalty(Pairs(Members(), X, HIDDEN))
    np.testing.assert_array_equal(lowered.halt, [False, True, True])
    np.testing.assert_allclose(lowered.facts["unknown"], [0, 1, 1])
    np.testing.assert_allclose(lowered.penalty, [1.0, 2.0, 2 * (2 + 3**-0.5) / 3], rtol=1e-6)
    assert lowered.worth == -7


def test_a_price_by_the_elites_spread_goes_on_beyond_what_an_unseen_pair_costs():
    ensemble = small_ensemble(members=3, inputs=2, targets=3)
    x = jr.normal(jr.key(1), (4, 2))
    hidden = ensemble.trunks(x)
    means = np.asarray(jax.vmap(GaussianNet.head)(ensemble.elite_members, hidden)[0])
    doubt = np.linalg.norm(means.std(axis=0), axis=-1)
    np.testing.assert_allclose(elites_spread(ensemble, hidden), doubt, rtol=1e-5)
    # The last pair was seen by one of three; all else by all.
    counter = Fixed([[4, 1, 9, 0], [4, 1, 9, 0], [4, 1, 9, 7]])

    def penalty(spread):
        price = CountPenalty(counter, 2.0, "AVG", 0.5, "penalties", None, float(spread))
        return np.asarray(price(Pairs(ensemble, x, hidden)).penalty)

    np.testing.assert_allclose(penalty(doubt[0])[:3], 2 * doubt[:3] / doubt[0], rtol=1e-5)
    np.testing.assert_allclose(penalty(4 * doubt[3])[3], 2.0, rtol=1e-5)  # Unseen: at least beta.
    np.testing.assert_allclose(penalty(doubt[3] / 4)[3], 8.0, rtol=1e-5)
    np.testing.assert_allclose(penalty(0.0), 2 * DEAREST)  # Elites that agree on all of the log.


def test_the_spread_of_what_never_varies_is_no_doubt():
    ensemble, x = small_ensemble(members=3, inputs=2, targets=3), jr.normal(jr.key(1), (4, 2))
    hidden = ensemble.trunks(x)
    means = np.asarray(jax.vmap(GaussianNet.head)(ensemble.elite_members, hidden)[0])
    still = eqx.tree_at(lambda e: e.targets.std, ensemble, jnp.array([1.0, 0.0, 1.0]))
    wanted = np.linalg.norm(means[..., [0, 2]].std(axis=0), axis=-1)
    np.testing.assert_allclose(elites_spread(still, hidden), wanted, rtol=1e-5)


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


def disagreeing(means):
    """Elites that predict these numbers, each for both targets, and are quite certain."""
    net = small_ensemble(members=len(means), inputs=3, targets=2, width=4)
    still = jax.tree.map(jnp.zeros_like, net.members)
    last = jnp.stack([jnp.array([m, m, 0.0, 0.0]) for m in means])
    nets = eqx.tree_at(
        lambda n: (n.biases, n.log_var_max, n.log_var_min),
        still,
        ((*still.biases[:-1], last), still.log_var_max - 30.0, still.log_var_min - 40.0),
    )
    return eqx.tree_at(lambda e: e.members, net, nets)


def worth(drawn, *, key):
    return drawn.sum(axis=-1)


def test_the_bellman_penalty_by_hand():
    ensemble, x = disagreeing([1.0, 2.0, 4.0]), jnp.zeros((5, 3))
    pairs = Pairs(ensemble, x, ensemble.trunks(x), Ahead(worth, jr.key(0)))
    lowered = BellmanPenalty(3.0, 4)(pairs)
    # Targets of 2, 4 and 8.
    np.testing.assert_allclose(lowered.penalty, 3 * np.std([2, 4, 8], ddof=1), rtol=1e-4)
    assert not lowered.halt.any()


def test_members_that_differ_where_it_is_worth_nothing_cost_nothing():
    ensemble, x = disagreeing([1.0, 2.0, 4.0]), jnp.zeros((5, 3))
    ahead = Ahead(lambda drawn, *, key: jnp.zeros(len(drawn)), jr.key(0))
    pairs = Pairs(ensemble, x, ensemble.trunks(x), ahead)
    np.testing.assert_array_equal(BellmanPenalty(3.0, 1)(pairs).penalty, np.zeros(5))


def test_noise_that_all_members_share_is_no_disagreement():
    one = small_ensemble(members=1, inputs=3, targets=2)
    thrice = jax.tree.map(lambda leaf: jnp.repeat(leaf, 3, axis=0), one.members)
    same = eqx.tree_at(lambda e: (e.members, e.elites), one, (thrice, jnp.arange(3)))
    x = jr.normal(jr.key(1), (6, 3))
    noisy = Ahead(lambda drawn, *, key: drawn.sum(axis=-1) + jr.normal(key, (6,)), jr.key(0))
    for ensemble in (same, one):  # One elite has none to disagree with.
        pairs = Pairs(ensemble, x, ensemble.trunks(x), noisy)
        np.testing.assert_allclose(BellmanPenalty(1.0, 2)(pairs).penalty, np.zeros(6), atol=1e-5)
