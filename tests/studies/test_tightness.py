import numpy as np
import pytest

from countmorl.studies.tightness import shrinkage


def test_bounds_and_errors_shrink_as_one_over_root_n():
    curve = shrinkage(draws=500)
    for name in ("theorem", "multinomial", "all_pairs"):
        assert curve.slope(name) == pytest.approx(-0.5, abs=0.02)
        assert (getattr(curve, name) >= curve.measured).all()
    assert curve.slope("measured") == pytest.approx(-0.5, abs=0.05)


def test_columns_by_hand():
    """Two outcomes: one draw is half a unit off in TV, whatever it shows."""
    curve = shrinkage(outcomes=2, draws=20)
    assert (curve.counts[0], curve.counts[-1]) == (1, 10_000)
    assert (curve.median[0], curve.measured[0]) == (0.5, 0.5)
    assert (curve.median <= curve.measured).all()
    assert (curve.multinomial <= curve.all_pairs).all()


def test_same_seed_same_curve():
    one, two, other = (shrinkage(draws=20, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.measured, two.measured)
    assert (one.measured != other.measured).any()
