import numpy as np
import pytest


class TestClocks:
    @pytest.mark.parametrize("step", [1.0, -0.25, 60.0])
    def test_a_column_that_only_counts(self, only, walk, step):
        arrays = walk()
        arrays["obs"][:, 1] = 1000 + step * np.arange(2000)
        finding = only(arrays, "clock")
        assert (finding.level, finding.count) == ("warning", 1)
        assert finding.message.startswith("`obs` columns [1] grow by the same step")

    def test_one_that_starts_anew_in_every_episode(self, only, walk):
        arrays = walk()
        starts = np.append(0, np.flatnonzero(arrays["truncated"])[:-1] + 1)
        lengths = np.diff(starts, append=2000)
        arrays["obs"][:, 2] = np.arange(2000) - np.repeat(starts, lengths)
        assert only(arrays, "clock").message.startswith("`obs` columns [2] grow")

    def test_any_function_of_time(self, only, walk):
        arrays = walk()
        starts = np.append(0, np.flatnonzero(arrays["truncated"])[:-1] + 1)
        steps = np.arange(2000) - np.repeat(starts, np.diff(starts, append=2000))
        arrays["obs"][:, 0] = np.cos(steps / 7)
        assert "take the same course in every episode" in only(arrays, "clock").message

    def test_a_time_that_the_schema_asks_for_is_meant(self, findings, walk, with_names):
        arrays = walk()
        arrays["obs"][:, 0] = np.arange(2000)
        named = with_names(arrays, "since", "lab", "age", since={"kind": "elapsed"})
        assert findings(named) == []
        assert "columns since" in findings(with_names(arrays, "since", "lab", "age"))[0].message

    def test_what_only_mostly_counts_is_no_clock(self, findings, walk):
        arrays = walk()
        arrays["obs"][:, 1] = np.arange(2000)
        arrays["obs"][1500:, 1] += 3 * np.random.default_rng(0).standard_normal(500)
        assert findings(arrays) == []


class TestTwins:
    def test_three_equal_columns_are_one_finding(self, only, walk):
        arrays = walk(columns=5)
        arrays["obs"][:, 3] = arrays["obs"][:, 4] = arrays["obs"][:, 1]
        finding = only(arrays, "duplicate-column")
        assert finding.message == "`obs` columns 1, 3 and 4 are equal in every row"
        assert finding.count == 3

    def test_by_name(self, only, walk, with_names):
        arrays = walk()
        arrays["obs"][:, 2] = arrays["obs"][:, 0]
        finding = only(with_names(arrays, "kg", "age", "weight"), "duplicate-column")
        assert "columns kg and weight" in finding.message

    def test_both_zeros_are_one(self, only, walk):
        arrays = walk()
        arrays["obs"][:, 0] = np.where(np.arange(2000) % 2, 0.0, 1.0)
        arrays["obs"][:, 1] = np.where(np.arange(2000) % 2, -0.0, 1.0)
        assert only(arrays, "duplicate-column").count == 2


def test_actions_that_never_vary(only, walk):
    arrays = walk()
    arrays["action"][:] = 0.5
    assert "nothing can be learned of any other action" in only(arrays, "constant").message
    arrays = walk()
    arrays["action"][:, 0] = 0.5
    assert "they cannot be learned" in only(arrays, "constant").message
