import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from countmorl.counting.base import CodesConfig
from countmorl.counting.fit import CodesFit
from countmorl.counting.updates import columns, fit_epoch
from countmorl.dynamics.fit import ModelRows
from countmorl.dynamics.gaussian import GaussianNet
from models import small_ensemble


def codes_fit(ensemble, x, config, bits=6):
    return CodesFit(ensemble, ModelRows(x, x, x, x), config, bits)


def epoch(ensemble, x, config, state, key):
    frozen = ensemble, x, codes_fit(ensemble, x, config).weights
    return fit_epoch(frozen, state, key, config, ordered=False)


def test_encoders_learn_and_the_model_is_untouched():
    ensemble, x = small_ensemble(), jr.normal(jr.key(1), (300, 3))
    before = [np.asarray(leaf).copy() for leaf in jax.tree.leaves(ensemble)]
    config = CodesConfig(bits=6, fit_updates=150, fit_batch=64)
    state = codes_fit(ensemble, x, config).init(key=jr.key(2))
    state, first = epoch(ensemble, x, config, state, jr.key(3))
    state, last = epoch(ensemble, x, config, state, jr.key(4))
    assert last["loss"] < 0.7 * first["loss"]
    for old, new in zip(before, jax.tree.leaves(ensemble), strict=True):
        np.testing.assert_array_equal(old, new)


def test_noise_drives_the_bottleneck_to_its_ends():
    ensemble, x = small_ensemble(), jr.normal(jr.key(1), (300, 3))

    def indecision(noise):
        config = CodesConfig(bits=6, fit_updates=300, fit_batch=64, fit_noise=noise)
        state = codes_fit(ensemble, x, config).init(key=jr.key(2))
        state, _ = epoch(ensemble, x, config, state, jr.key(3))
        logits = jax.vmap(lambda coder, hidden: coder.logits(hidden))(
            state.autoencoders, ensemble.trunks(x)
        )
        return float(jnp.mean(jnp.abs(logits) < 1))

    assert indecision(1.0) < 0.8 * indecision(0.0)


def test_what_codes_are_to_tell():
    ensemble, pairs = small_ensemble(inputs=3, targets=2), jr.normal(jr.key(1), (5, 3))
    hidden = ensemble.trunks(pairs)
    plain = columns(ensemble, pairs, hidden, CodesConfig(follow="pairs"))
    np.testing.assert_array_equal(plain, np.stack([pairs, pairs]))
    found = columns(ensemble, pairs, hidden, CodesConfig(follow="dynamics"))
    np.testing.assert_array_equal(found[..., :3], plain)
    steps = jax.vmap(GaussianNet.head)(ensemble.elite_members, hidden)[0]
    np.testing.assert_array_equal(found[..., 3:], steps)
