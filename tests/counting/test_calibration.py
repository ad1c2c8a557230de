import numpy as np

from countmorl.counting.calibration import compare


def test_errors_that_fall_with_counts_are_predicted():
    rng = np.random.default_rng(0)
    count = rng.integers(1, 200, 500).astype(float)
    facts = compare(count, 1 / np.sqrt(count) + 0.01 * rng.random(500))
    assert facts["predicts_error"]
    assert facts["rank_correlation"] < -0.9
    errors = [b["error"] for b in facts["bins"]]
    assert errors == sorted(errors, reverse=True)
    assert sum(b["rows"] for b in facts["bins"]) == 500


def test_unrelated_errors_are_called_so():
    rng = np.random.default_rng(0)
    facts = compare(rng.integers(1, 200, 500).astype(float), rng.random(500))
    assert not facts["predicts_error"]
    assert "do not predict" in facts["verdict"]


def test_equal_counts_say_nothing():
    facts = compare(np.full(50, 3.0), np.random.default_rng(0).random(50))
    assert not facts["predicts_error"]
    assert "same count" in facts["verdict"]
    assert facts["bins"][0]["rows"] == 50
