import numpy as np
import pytest


class TestSentinels:
    @pytest.mark.parametrize("code", [-999, -9999, 9999, 0, -1])
    def test_an_extreme_value_that_comes_again(self, only, walk, with_names, code):
        arrays = walk()
        arrays["obs"][[5, 60, 700, 1500], 1] = code
        finding = only(with_names(arrays, "age", "lab", "pulse"), "sentinel")
        assert (finding.level, finding.rows, finding.count) == ("warning", (5, 60, 700, 1500), 4)
        assert f"`obs` columns lab: {code} stands far" in finding.message

    def test_minus_one_among_small_positive_numbers(self, only, walk):
        arrays = walk()
        arrays["obs"][:, 1] = np.random.default_rng(0).exponential(2, 2000)
        arrays["obs"][::50, 1] = -1
        assert only(arrays, "sentinel").count == 40

    def test_of_actions_and_of_rewards(self, only, findings, walk):
        arrays = walk()
        arrays["reward"][::100] = -999
        assert "`reward` columns" in only(arrays, "sentinel").message
        arrays["reward"][::100] = -50  # A crash has its price.
        assert findings(arrays) == []
        arrays["action"][::100, 0] = 99
        assert "`action` columns [0]" in only(arrays, "sentinel").message

    def test_what_is_none(self, findings, walk):
        arrays = walk()
        arrays["obs"][[5, 60], 1] = -999  # Twice only: an accident.
        arrays["obs"][:, 0] = np.clip(arrays["obs"][:, 0], 45, 55)  # A sensor's end of range.
        arrays["obs"][:, 2] = np.random.default_rng(0).choice([-1, 0, 1, 500], 2000)  # A state.
        assert findings(arrays) == []


class TestUnits:
    @pytest.mark.parametrize("factor", [1000, 2.2046, 1 / 1000])
    def test_a_later_part_in_another_unit(self, findings, walk, factor):
        arrays = walk()
        arrays["obs"][1000:, 1] *= factor
        (finding,) = findings(arrays)
        assert (finding.kind, finding.level, finding.count) == ("unit-jump", "warning", 1)
        assert "`obs` columns [1]: about" in finding.message

    @pytest.mark.parametrize("factor", [1000, 2.2046])
    def test_some_episodes_in_another_unit(self, only, walk, with_names, factor):
        arrays = walk()
        cut = np.flatnonzero(arrays["truncated"])
        arrays["obs"][cut[3] + 1 : cut[4] + 1, 0] *= factor
        arrays["obs"][cut[7] + 1 : cut[8] + 1, 0] *= factor
        finding = only(with_names(arrays, "dose", "lab", "age"), "unit-jump")
        assert "columns dose" in finding.message
        assert finding.rows == (cut[3] + 1,)

    def test_inside_one_long_episode(self, only, walk):
        arrays = walk()
        arrays["truncated"][:] = False
        arrays["truncated"][-1] = True
        arrays["obs"][700:, 2] *= 1000
        assert only(arrays, "unit-jump").kind == "unit-jump"

    def test_a_row_alone_is_no_unit(self, findings, walk):
        arrays = walk()
        arrays["obs"][700, 2] *= 1000
        assert findings(arrays) == []

    def test_what_wanders_through_zero_is_none(self, findings, walk):
        arrays = walk(rows=5000)
        arrays["obs"] = np.cumsum(np.random.default_rng(0).standard_normal((5000, 3)), axis=0)
        assert findings(arrays) == []

    def test_levels_that_differ_by_no_known_ratio(self, findings, walk):
        arrays = walk()
        arrays["obs"][1000:, 1] *= 5
        assert findings(arrays) == []
