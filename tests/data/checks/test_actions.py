import numpy as np


def test_one_action_of_9999_is_an_error(only, log, walk):
    arrays = log(rows=3000)
    arrays["actions"][1234, 1] = 9999
    finding = only(arrays, "action-outlier")
    assert (finding.level, finding.rows, finding.count) == ("error", (1234,), 1)
    assert "action columns [1] lie far beyond" in finding.message


def test_by_name(only, walk, with_names):
    arrays = walk()
    arrays["action"][77, 0] = -500
    assert "columns dose" in only(with_names(arrays, "a", "b", "c"), "action-outlier").message


def test_with_bounds_it_is_outside_of_them(only, log):
    arrays = log(rows=3000) | {"action_low": np.array(-1.0), "action_high": np.array(1.0)}
    arrays["actions"][1234, 1] = 9999
    assert only(arrays, "action-bounds").rows == (1234,)


def test_a_wide_range_that_is_used_is_none(findings, log):
    arrays = log(rows=3000)
    arrays["actions"][:, 1] = np.random.default_rng(0).exponential(20, 3000)
    assert findings(arrays) == []
