import numpy as np

from countmorl.monitoring.foretold import Foretold


def test_a_linear_world_is_foretold_but_for_the_ridge():
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((500, 2)) * [1, 1000] + [0, 5]
    targets = inputs @ [[2.0], [0.003]] + 7
    fitted = Foretold.fit(inputs, targets)
    assert np.abs(fitted.surprise(inputs, targets)).max() < 0.05
    # A target that lies three of its deviations above what was foretold says so, in any unit.
    raised = fitted.surprise(inputs, targets + 3 * targets.std())
    assert np.allclose(raised, 3, atol=0.05)


def test_few_rows_have_no_random_features_and_constants_no_scale():
    inputs = np.ones((50, 3))
    fitted = Foretold.fit(inputs, np.full((50, 1), 4.0))
    assert fitted.spin.shape == (4, 0)
    assert np.isfinite(fitted.surprise(inputs * 1e9, np.full((50, 1), 4.0))).all()


def test_the_same_rows_give_the_same_model():
    rng = np.random.default_rng(1)
    inputs, targets = rng.standard_normal((3000, 2)), rng.standard_normal((3000, 1))
    one, two = (Foretold.fit(inputs, targets) for _ in range(2))
    assert one.spin.shape[1] == 3000 // 100 - 3
    assert all(np.array_equal(a, two.arrays[name]) for name, a in one.arrays.items())
