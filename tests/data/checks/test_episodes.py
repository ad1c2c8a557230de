import numpy as np
import pytest


class TestTimeLimit:
    def test_ends_that_all_come_after_the_same_steps(self, only, log):
        arrays = log(rows=100)
        arrays["terminals"] |= arrays["timeouts"]
        arrays["timeouts"][:] = False
        finding = only(arrays, "same-length")
        assert (finding.level, finding.count, finding.rows) == ("warning", 5, (19, 39, 59, 79, 99))
        assert "all 5 episodes are terminated after exactly 20 steps" in finding.message

    def test_an_unfinished_episode_behind_them_changes_nothing(self, only, log):
        arrays = log(rows=107)
        arrays["terminals"] |= arrays["timeouts"]
        arrays["timeouts"][:] = False
        assert only(arrays, "same-length").kind == "same-length"

    def test_one_end_of_another_kind_or_length_is_enough(self, findings, log):
        arrays = log(rows=100)
        arrays["terminals"] |= arrays["timeouts"]
        arrays["timeouts"][:] = False
        arrays["terminals"][39], arrays["terminals"][45] = False, True
        assert "same-length" not in [f.kind for f in findings(arrays)]
        assert findings(log(rows=100)) == []


class TestContinuity:
    def test_shuffled_rows_are_an_error(self, findings, log):
        arrays = log(rows=200)
        order = np.random.default_rng(0).permutation(200)
        shuffled = {key: values[order] for key, values in arrays.items()}
        found = findings(shuffled)[0]
        assert (found.level, found.kind) == ("error", "not-continuing")
        assert "The rows seem to be shuffled" in found.message

    def test_rounding_is_called_rounding(self, findings, walk):
        arrays = walk()
        arrays["next_obs"] = np.roll(arrays["obs"], -1, axis=0) * (1 + 1e-6)
        found = {f.kind: f for f in findings(arrays)}["not-continuing"]
        assert (found.level, "by rounding" in found.message) == ("warning", True)


def test_ids_that_come_back(only, walk):
    arrays = walk()
    del arrays["truncated"]
    finding = only(arrays | {"episode_id": np.arange(2000) // 100 % 10}, "id-returns")
    assert (finding.level, finding.rows[0], finding.count) == ("warning", 1000, 10)


class TestRepeats:
    def test_episodes_that_are_there_twice_are_said_once(self, only, log):
        arrays = log(rows=40)
        twice = {key: np.concatenate([values, values]) for key, values in arrays.items()}
        finding = only(twice, "duplicate-episode")
        assert (finding.level, finding.rows, finding.count) == ("warning", (40, 60), 2)

    def test_rows_outside_of_them_are_said_as_rows(self, findings, log):
        arrays = log(rows=80)
        for values in arrays.values():
            values[40:60] = values[:20]
            values[70] = values[65]
        found = {f.kind: f.rows for f in findings(arrays)}
        assert (found["duplicate-episode"], found["duplicate-row"]) == ((40,), (70,))

    @pytest.mark.parametrize("change", ["order", "length", "value"])
    def test_episodes_that_differ_are_no_copies(self, findings, log, change):
        arrays = log(rows=40)
        del arrays["next_observations"]
        for values in arrays.values():
            values[20:40] = values[:20][::-1] if change == "order" else values[:20]
        arrays["terminals"][[20, 39]] = False, True
        if change == "length":
            arrays["terminals"][35] = True
        if change == "value":
            arrays["rewards"][39] += 1
        assert "duplicate-episode" not in [f.kind for f in findings(arrays)]


class TestCutRewards:
    """An outcome in the last row of an episode that was cut teaches nobody but imitation."""

    def outcomes(self, walk, **more):
        arrays = walk()
        arrays.pop("next_obs", None)
        arrays["reward"] = np.where(arrays["truncated"], 50.0, 0.1)
        return arrays | more

    def test_it_is_said(self, only, walk):
        finding = only(self.outcomes(walk), "cut-rewards")
        assert (finding.level, finding.rows[0]) == ("warning", 61)
        assert "mark such rows as terminated" in finding.message

    def test_ends_next_observations_and_rewards_elsewhere_are_well(self, findings, walk):
        arrays = self.outcomes(walk)
        ends = arrays["truncated"]
        terminated = arrays | {"terminated": ends, "truncated": np.zeros_like(ends)}
        after = arrays | {"next_obs": np.roll(arrays["obs"], -1, axis=0)}
        elsewhere = arrays | {"reward": np.ones(len(ends))}
        for well in (terminated, after, elsewhere):
            assert "cut-rewards" not in [f.kind for f in findings(well)]
