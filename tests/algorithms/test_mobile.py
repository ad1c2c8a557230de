from dataclasses import replace

import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from countmorl.algorithms.mobile import MOBILE
from countmorl.algorithms.mopo import MOPO
from countmorl.algorithms.presets import preset
from countmorl.pessimism import BellmanPenalty
from countmorl.rollouts import rollout
from models import agent, build, model, steps


def lowering(config):
    """A model with that method's pessimism."""
    return replace(model(), pessimism=config.pessimism(build()))


def test_its_weight_is_of_rewards_as_they_are():
    given = build()
    given.unit = 0.5  # Targets are in the log's rewards already.
    rule = MOBILE(weight=2.0, samples=4).pessimism(given)
    assert isinstance(rule, BellmanPenalty)
    assert (rule.weight, rule.samples) == (2.0, 4)


def test_its_penalty_is_the_spread_of_the_elites_bellman_targets():
    lived, inside = steps(), lowering(MOBILE(weight=2.0, samples=500))
    value = lambda obs, *, key: 0.9 * obs[:, 0]  # noqa: E731
    _, lowered = inside.step(lived.obs, lived.action, value=value, key=jr.key(0))
    x = inside.ensemble.standardize(lived.obs, lived.action)
    mean = np.asarray(inside.ensemble.predict(x)[0])[np.asarray(inside.ensemble.elites)]
    targets = mean[..., -1] + 0.9 * (np.asarray(lived.obs)[:, 0] + mean[..., 0])
    # A mean over draws: where deviations differ, a little noise is left.
    np.testing.assert_allclose(lowered.penalty, 2 * targets.std(axis=0, ddof=1), atol=0.03)


def test_a_rollout_is_lowered_by_the_agents_own_critics():
    sac, inside = agent(), lowering(MOBILE())
    rolled = rollout(inside, sac.act, steps().obs, 2, value=sac.worth_before, key=jr.key(1))
    assert (np.asarray(rolled.facts["penalty"]) > 0).all()


def test_a_step_is_drawn_as_with_any_other_pessimism():
    lived, inside = steps(), lowering(MOBILE())
    none = lambda obs, *, key: jnp.zeros(len(obs))  # noqa: E731
    step, lowered = inside.step(lived.obs, lived.action, value=none, key=jr.key(0))
    plain, _ = model().step(lived.obs, lived.action, key=jr.key(0))
    np.testing.assert_array_equal(step.next_obs, plain.next_obs)
    np.testing.assert_allclose(step.reward, plain.reward - lowered.penalty, rtol=1e-5)


def test_it_must_be_given_values_and_others_need_none():
    lived, inside = steps(), lowering(MOBILE())
    with pytest.raises(AssertionError, match="values of what follows"):
        inside.step(lived.obs, lived.action, key=jr.key(0))
    assert not MOPO().pessimism(build()).looks_ahead


def test_published_settings():
    config = preset("paper", MOBILE, "halfcheetah-medium-expert-v2")
    assert isinstance(config, MOBILE)
    assert (config.horizon, config.weight, config.real_share) == (5, 1.0, 0.5)
    assert (config.samples, config.epochs, config.sac.discount) == (10, 3000, 0.99)
