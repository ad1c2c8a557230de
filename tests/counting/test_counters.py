import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np

from countmorl.counting.codes import Autoencoder
from countmorl.counting.exact import ExactCounter
from countmorl.counting.learned import CodeCounter
from countmorl.counting.simhash import SimHashCounter
from countmorl.counting.table import CountTable, pack
from countmorl.scaling import Standardizer

NO_HIDDEN = jnp.zeros((1, 1, 1))


def test_exact_counts_pairs_that_repeat_but_for_rounding():
    x = jnp.array([[0.0, 1.0], [0.0, 1.0], [0.5, 1.0]])
    counter = ExactCounter.fit(x)
    queries = jnp.array([[0.0, 1.0], [0.5, 1.0], [0.5, 1.0000001], [0.5, 1.002], [-0.0, 1.0]])
    np.testing.assert_array_equal(counter.counts(queries, NO_HIDDEN), [[2, 1, 1, 0, 2]])


def test_simhash_counts_signs_of_projections():
    x = jr.normal(jr.key(0), (500, 4))
    counter = SimHashCounter.fit(x, bits=6, members=2, key=jr.key(1))
    got = np.asarray(counter.counts(x[:20], NO_HIDDEN))
    for member, projection in enumerate(np.asarray(counter.projections)):
        signs = np.asarray(x) @ projection > 0
        wanted = [(signs == signs[i]).all(axis=1).sum() for i in range(20)]
        np.testing.assert_array_equal(got[member], wanted)


def code_counter(seed):
    keys = jr.split(jr.key(seed), 2)
    coders = jax.vmap(lambda k: Autoencoder.make(Standardizer.identity(3), 4, 3, 2, key=k))(keys)
    codes = [pack(jr.bernoulli(k, 0.5, (60, 4))) for k in keys]
    return CodeCounter(coders, tuple(CountTable.of(np.asarray(code)) for code in codes))


def test_learned_counters_of_two_datasets_merge():
    first, second = code_counter(0), code_counter(1)
    merged = CodeCounter(first.autoencoders, first.tables).merge(
        CodeCounter(first.autoencoders, second.tables)
    )
    words = pack(jax.random.bernoulli(jr.key(5), 0.5, (30, 4)))
    for a, b, both in zip(first.tables, second.tables, merged.tables, strict=True):
        np.testing.assert_array_equal(a.lookup(words) + b.lookup(words), both.lookup(words))
