from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from countmorl import load
from countmorl.configs import from_json, to_json
from countmorl.dynamics import fit
from countmorl.dynamics.fit import EnsembleConfig
from countmorl.dynamics.gaussian import GaussianNet
from countmorl.errors import ConfigError
from countmorl.fitting import run_fit

SMALL = EnsembleConfig(
    members=3, elites=2, width=32, batch=64, holdout=100, least_steps=1, patience=1
)


def linear_log(rows=2000):
    rng = np.random.default_rng(0)
    obs = rng.standard_normal((rows, 2)).astype(np.float32)
    action = rng.uniform(-1, 1, (rows, 1)).astype(np.float32)
    next_obs = obs + 0.3 * action * np.array([1.0, -1.0], np.float32)
    return load({"obs": obs, "action": action, "reward": obs[:, 0], "next_obs": next_obs})


@pytest.mark.slow
def test_a_linear_system_is_learned_and_the_best_weights_are_kept():
    whole = fit.EnsembleFit.of(linear_log(), SMALL, seed=0)
    rows, state = whole.rows, whole.init(key=jr.key(0))
    errors = []
    for epoch in range(12):
        state, metrics = fit.fit_epoch((rows, SMALL, None), state, jr.key(epoch))
        errors.append(np.asarray(metrics["holdout_error"]))
    ensemble = whole.result(state)
    restored = fit.holdout_error(ensemble.members, rows)
    np.testing.assert_allclose(restored, state.best_error, rtol=1e-5)
    assert (restored <= np.min(errors, axis=0) / 0.99 + 1e-9).all()
    assert restored.max() < 0.01
    assert list(ensemble.elites) == list(np.argsort(restored)[:2])


def test_a_normalised_model_learns_it_too_and_its_gains():
    config = replace(SMALL, norm=True, max_epochs=12)
    ensemble = run_fit(fit.EnsembleFit.of(linear_log(), config, seed=0), seed=0)
    assert ensemble.holdout_error.max() < 0.01
    assert all(float(jnp.abs(gain - 1).max()) > 0.01 for gain in ensemble.members.gains)


def test_held_out_rows_are_not_trained_on():
    rows, _ = fit.split_rows(linear_log(500), SMALL, seed=0)
    assert (len(rows.x), len(rows.holdout_x)) == (400, 100)
    both = np.concatenate([rows.x, rows.holdout_x])
    assert len(np.unique(both, axis=0)) == 500


def test_targets_are_the_change_and_the_reward():
    data = linear_log(50)
    rows, scales = fit.split_rows(data, SMALL, seed=0)
    pair = np.asarray(scales.inputs.invert(rows.x[:1]))[0]
    index = np.argmin(np.abs(np.concatenate([data.obs, data.action], 1) - pair).sum(axis=1))
    wanted = [*(data.next_obs - data.obs)[index], data.reward[index]]
    np.testing.assert_allclose(scales.targets.invert(rows.y[:1])[0], wanted, atol=1e-5)
    np.testing.assert_allclose(rows.y.std(axis=0), 1, atol=1e-4)


def test_targets_stay_raw_where_that_is_asked_for():
    data = linear_log(50)
    rows, scales = fit.split_rows(data, replace(SMALL, scale_targets=False), seed=0)
    assert scales.targets.std.tolist() == [1] * rows.y.shape[1]
    known = np.concatenate([data.next_obs - data.obs, data.reward[:, None]], axis=1)
    both = np.concatenate([rows.y, rows.holdout_y])
    np.testing.assert_array_equal(np.sort(both, axis=0), np.sort(known, axis=0))


def outcome_log():
    """Ten episodes of five steps without `next_obs`; all that is paid comes with the end."""
    rng, last = np.random.default_rng(0), np.arange(50) % 5 == 4
    obs = rng.standard_normal((50, 2)).astype(np.float32)
    action = rng.uniform(-1, 1, (50, 1)).astype(np.float32)
    return load({"obs": obs, "action": action, "reward": 7.0 * last, "terminated": last})


def test_an_end_without_next_observation_teaches_its_reward_and_no_change():
    rows, scales = fit.split_rows(outcome_log(), SMALL, seed=0)
    known = np.concatenate([rows.known, rows.holdout_known])
    y = np.asarray(scales.targets.invert(jnp.concatenate([rows.y, rows.holdout_y])))
    assert (~known).sum() == 10
    np.testing.assert_allclose(y[:, -1], np.where(known, 0, 7), atol=1e-5)
    member = GaussianNet.make((3, 8, 8, 8, 8, 3), key=jr.key(0))
    decays = (0.0,) * 5
    loss = lambda y: member.loss(rows.x, y, decays, rows.known)  # noqa: E731
    slope = np.asarray(jax.grad(loss)(rows.y))
    alone = ~np.asarray(rows.known)
    assert (slope[alone, :-1] == 0).all()
    assert (slope[alone, -1] != 0).all()
    assert (slope[~alone] != 0).all()
    # What stands for the unknown changes does not matter to the hold-out error either.
    members = jax.tree.map(lambda leaf: leaf[None], member)
    held = rows.holdout_y.at[:, :-1].add(jnp.where(rows.holdout_known, 0.0, 9.0)[:, None])
    moved = eqx.tree_at(lambda r: r.holdout_y, rows, held)
    assert fit.holdout_error(members, rows) == fit.holdout_error(members, moved)


def test_only_members_that_improved_take_new_weights():
    drawn = jax.vmap(lambda k: GaussianNet.make((2, 4, 4, 1), key=k))(jr.split(jr.key(0), 3))
    new, old = (jax.tree.map(like, drawn) for like in (jnp.ones_like, jnp.zeros_like))
    kept = fit.keep_better(jnp.array([True, False, True]), new, old)
    for leaf in jax.tree.leaves(kept):
        np.testing.assert_array_equal(leaf.reshape(3, -1).mean(axis=1), [1, 0, 1])


def test_staleness_counts_epochs_without_improvement():
    whole = fit.EnsembleFit.of(linear_log(), SMALL, seed=0)
    state = whole.init(key=jr.key(0))
    state = fit.FitState(**{**vars(state), "best_error": jnp.zeros(3)})
    for epoch in range(3):
        state, _ = whole.epoch(state, key=jr.key(epoch))
        assert int(state.stale) == epoch + 1
        assert whole.finished(state) == (epoch + 1 > SMALL.patience)


def test_each_member_has_its_own_bootstrap():
    whole = fit.EnsembleFit.of(linear_log(), SMALL, seed=0)
    rows, bootstrap = whole.rows, whole.init(key=jr.key(0)).bootstrap
    assert bootstrap.shape == (3, 1900)
    assert not (bootstrap[0] == bootstrap[1]).all()
    share = len(np.unique(bootstrap[0])) / 1900  # With replacement: 1 - 1/e of the rows.
    assert 0.6 < share < 0.66
    assert jax.tree.all(jax.tree.map(lambda leaf: bool(jnp.isfinite(leaf).all()), rows))


@pytest.mark.parametrize(
    ("rows", "passes", "steps"),
    [(64_000, 1, 1000), (6400, 3, 300), (50, 300, 234), (20_000, 1, 312)],
)
def test_few_data_are_passed_over_more_than_once(rows, passes, steps):
    config = EnsembleConfig(batch=64, least_steps=300)
    assert (config.passes(rows), config.steps(rows)) == (passes, steps)


def test_the_step_size_falls_to_zero_over_the_whole_fit():
    config = EnsembleConfig(batch=100, least_steps=1, max_epochs=5, learning_rate=0.5)
    optimizer = config.optimizer(1000)  # Ten steps per epoch.
    sizes, state = [], optimizer.init(jnp.zeros(()))
    for _ in range(51):
        change, state = optimizer.update(jnp.ones(()), state)
        sizes.append(-float(change))
    np.testing.assert_allclose([sizes[0], sizes[25], sizes[50]], [0.5, 0.25, 0.0], atol=1e-4)


def test_wrong_settings_are_refused():
    with pytest.raises(ConfigError, match="`max_epochs` must be at least 1"):
        EnsembleConfig(max_epochs=0)
    with pytest.raises(ConfigError, match="between 1 and `members`"):
        EnsembleConfig(members=3, elites=4)
    with pytest.raises(ConfigError, match="at least 5 usable rows"):
        fit.split_rows(linear_log(4), SMALL, seed=0)


@pytest.mark.slow
def test_the_variance_follows_the_noise_of_each_pair():
    # A pull on its bounds that grows with the number of targets presses them together, and in long
    # fits past each other: every pair then has the same variance, and rollouts drown in noise.
    rng = np.random.default_rng(0)
    obs = rng.uniform(-1, 1, (3000, 30)).astype(np.float32)
    noise = np.where(obs[:, :1] > 0, 1.0, 0.3)
    arrays = {
        "obs": obs,
        "action": np.zeros((3000, 1), np.float32),
        "next_obs": (obs + noise * rng.standard_normal((3000, 30))).astype(np.float32),
        "reward": np.zeros(3000),
        "truncated": np.ones(3000, bool),
    }
    config = EnsembleConfig(
        members=2, elites=1, width=32, batch=64, holdout=100, max_epochs=40, least_steps=100
    )
    whole = fit.EnsembleFit.of(load(arrays), config, seed=0)
    rows, state = whole.rows, whole.init(key=jr.key(0))
    for epoch in range(config.max_epochs):
        state, _ = fit.fit_epoch((rows, config, None), state, jr.key(epoch))
    _, log_var = whole.result(state).predict(rows.x)
    deviation = np.exp(0.5 * np.asarray(log_var)) * np.asarray(whole.scales.targets.std)
    deviation, side = deviation[:, :, :-1], np.asarray(rows.x)[:, 0]
    np.testing.assert_allclose(np.median(deviation[:, side > 0.2]), 1.0, atol=0.07)
    np.testing.assert_allclose(np.median(deviation[:, side < -0.2]), 0.3, atol=0.03)
    assert (state.members.log_var_max - state.members.log_var_min)[:, :-1].min() > 2


def test_a_config_from_before_layers_were_normalised_is_still_read():
    older = to_json(SMALL)
    del older["norm"]
    assert from_json(EnsembleConfig, older) == replace(SMALL, norm=False)
    assert EnsembleConfig().norm
