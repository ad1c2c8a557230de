import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as drawn_arrays

from countmorl.data.check import check
from countmorl.data.checks.episodes import row_keys
from countmorl.data.fields import Fields
from countmorl.data.sources import load
from countmorl.envs.tasks import TASKS


def findings(arrays, **kwargs):
    return check(Fields.of(arrays, name="log", **kwargs))


def only(arrays, kind, **kwargs):
    """The single finding of a kind; no other kind may be found."""
    found = findings(arrays, **kwargs)
    assert [finding.kind for finding in found] == [kind], found
    return found[0]


def test_a_clean_log_raises_no_alarm(log):
    assert findings(log()) == []
    assert findings(log(rows=2000, obs=11, action=3), task=TASKS["hopper"]) == []


def test_a_clean_log_without_next_observations_raises_no_alarm(log):
    arrays = log()
    del arrays["next_observations"]
    assert findings(arrays) == []


def test_anything_that_can_be_loaded_can_be_checked(log, save, tmp_path):
    arrays = log()
    arrays["timeouts"][19] = True
    wanted = findings(arrays)
    assert len(wanted) == 1
    assert check(arrays) == wanted
    assert check(save(tmp_path / "log.npz", arrays)) == wanted
    assert check(str(save(tmp_path / "log.hdf5", arrays))) == wanted


def test_a_dataset_can_be_checked(log):
    assert check(load(log())) == []


class TestNotFinite:
    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("key", ["actions", "rewards", "next_observations"])
    def test_rows_are_named(self, log, key, value):
        arrays = log()
        arrays[key][[19, 59]] = value  # At an episode's end, where continuity is not at stake.
        finding = only(arrays, "not-finite")
        ours = {"actions": "action", "rewards": "reward", "next_observations": "next_obs"}[key]
        assert (finding.level, finding.rows, finding.count) == ("error", (19, 59), 2)
        assert finding.message == f"`{ours}` is NaN or infinite (2 rows: 19, 59)"

    def test_observations(self, log):
        arrays = log()
        arrays["observations"][0, 1] = np.inf
        assert only(arrays, "not-finite").rows == (0,)

    def test_opposite_infinities_do_not_cancel(self, log):
        arrays = log()
        arrays["rewards"][3], arrays["rewards"][4] = np.inf, -np.inf
        assert only(arrays, "not-finite").rows == (3, 4)


class TestBounds:
    def test_actions_outside_given_bounds(self, log):
        arrays = log() | {"action_low": np.full(2, -1.0), "action_high": np.ones(2)}
        arrays["actions"][[7, 41], 1] = (1.5, -2)
        finding = only(arrays, "action-bounds")
        assert (finding.level, finding.rows, finding.count) == ("error", (7, 41), 2)
        assert "[-1.0, -1.0] to [1.0, 1.0]" in finding.message

    def test_actions_of_a_d4rl_task_are_bounded_by_one(self, log):
        arrays = log(obs=11, action=3)
        arrays["actions"][7] = 1.5
        assert only(arrays, "action-bounds", task=TASKS["hopper"]).rows == (7,)

    def test_without_bounds_any_action_will_do(self, log):
        arrays = log()
        arrays["actions"][7] = 1.5
        assert findings(arrays) == []

    def test_a_rounding_error_is_no_finding(self, log):
        arrays = log() | {"action_low": np.full(2, -1.0), "action_high": np.ones(2)}
        arrays["actions"][7] = 1.0005
        assert findings(arrays) == []

    def test_a_saturated_column(self, log):
        arrays = log() | {"action_low": np.full(2, -1.0), "action_high": np.ones(2)}
        arrays["actions"][:31, 1] = np.where(np.arange(31) % 2, 1, -1)
        finding = only(arrays, "saturated")
        assert (finding.level, finding.count) == ("warning", 1)
        assert "columns [1]" in finding.message

    def test_half_of_the_rows_at_a_bound_is_not_saturated(self, log):
        arrays = log() | {"action_low": np.full(2, -1.0), "action_high": np.ones(2)}
        arrays["actions"][:30, 1] = 1
        assert findings(arrays) == []


class TestFlags:
    def test_both_flags(self, log):
        arrays = log()
        arrays["timeouts"][19] = True
        finding = only(arrays, "both-flags")
        assert (finding.level, finding.rows, finding.count) == ("warning", (19,), 1)

    def test_no_episodes(self, log):
        arrays = log(rows=15)
        finding = only(arrays, "no-episodes")
        assert finding.level == "warning"
        assert "mark their last rows" in finding.message

    def test_episodes_of_one_step(self, log):
        arrays = log()
        arrays["terminals"][[20, 21]] = True  # Right after the end in row 19.
        finding = only(arrays, "one-step")
        assert (finding.level, finding.rows, finding.count) == ("warning", (20, 21), 2)


class TestContinuity:
    def test_a_jump_without_a_flag(self, log):
        arrays = log()
        arrays["next_observations"][[5, 30]] += 1
        finding = only(arrays, "not-continuing")
        assert (finding.level, finding.rows, finding.count) == ("warning", (5, 30), 2)
        assert finding.message.endswith("(2 rows: 5, 30)")

    def test_only_the_first_rows_are_listed_and_all_are_counted(self, log):
        arrays = log()
        arrays["next_observations"][:12] += 1
        found = {finding.kind: finding for finding in findings(arrays)}
        finding = found["not-continuing"]
        assert (finding.rows, finding.count) == ((0, 1, 2, 3, 4), 12)
        assert finding.message.endswith("(12 rows: 0, 1, 2, 3, 4, ...)")
        assert found["one-step"].count == 12

    def test_the_last_row_has_nothing_to_continue_with(self, log):
        arrays = log(rows=50)
        arrays["next_observations"][49] += 1
        assert findings(arrays) == []


class TestColumns:
    def test_a_constant_observation(self, log):
        arrays = log()
        arrays["observations"][:, 1] = arrays["next_observations"][:, 1] = 4
        finding = only(arrays, "constant")
        assert (finding.level, finding.count) == ("warning", 1)
        assert finding.message.startswith("`obs` columns [1] never change")

    def test_a_constant_action(self, log):
        arrays = log()
        arrays["actions"][:, 0] = 0.5
        assert only(arrays, "constant").message.startswith("`action` columns [0]")

    def test_a_constant_reward(self, log):
        arrays = log()
        arrays["rewards"][:] = 2.5
        assert only(arrays, "constant").message.startswith("every reward is 2.5")

    def test_equal_columns(self, log):
        arrays = log()
        arrays["actions"][:, 1] = arrays["actions"][:, 0]
        finding = only(arrays, "duplicate-column")
        assert (finding.level, finding.count) == ("warning", 2)
        assert finding.message.startswith("`action` columns 0 and 1 are equal")

    def test_columns_that_differ_in_one_row_are_not_equal(self, log):
        arrays = log(rows=2500)
        arrays["actions"][:, 1] = arrays["actions"][:, 0]
        arrays["actions"][1, 1] += 0.1  # Between the rows that are compared first.
        assert findings(arrays) == []

    def test_two_constant_columns_are_said_once(self, log):
        arrays = log()
        arrays["actions"][:] = 0.5
        finding = only(arrays, "constant")
        assert (finding.count, "columns [0, 1]" in finding.message) == (2, True)


class TestScale:
    @pytest.mark.parametrize("key", ["actions", "rewards"])
    def test_absurd_numbers(self, log, key):
        arrays = log()
        arrays[key][[3, 9]] = -1e9
        finding = only(arrays, "scale")
        assert (finding.level, finding.rows, finding.count) == ("warning", (3, 9), 2)
        assert "1e+06" in finding.message

    def test_a_million_is_not_yet_absurd(self, log):
        arrays = log()
        arrays["rewards"][3] = 1e6
        assert findings(arrays) == []


class TestRepeats:
    def test_later_copies_are_named(self, log):
        arrays = log(rows=40)
        for values in arrays.values():
            values[30:35] = values[3:8]
        found = {finding.kind: finding for finding in findings(arrays)}["duplicate-row"]
        assert (found.level, found.rows, found.count) == ("warning", (30, 31, 32, 33, 34), 5)

    @pytest.mark.parametrize("key", ["actions", "rewards"])
    def test_rows_that_differ_in_one_number_are_no_copies(self, log, key):
        arrays = log(rows=40)
        twice = {k: np.concatenate([values, values]) for k, values in arrays.items()}
        twice[key][40:] += 0.01
        assert findings(twice) == []


def test_errors_come_before_warnings(log):
    arrays = log()
    arrays["timeouts"][19] = True
    arrays["actions"][:, 1] = 0.5
    arrays["rewards"][4] = np.nan
    assert [f.level for f in findings(arrays)] == ["error", "warning", "warning"]


def test_a_finding_is_jsonable(log):
    arrays = log()
    arrays["timeouts"][19] = True
    assert only(arrays, "both-flags").as_dict() == {
        "level": "warning",
        "kind": "both-flags",
        "message": "both terminated and truncated; they are taken as terminated (1 row: 19)",
        "rows": (19,),
        "count": 1,
    }


@given(
    drawn_arrays(
        np.float32, st.tuples(st.integers(1, 30), st.integers(1, 4)), elements=st.integers(-1, 1)
    )
)
def test_row_keys_are_equal_exactly_where_rows_are(values):
    keys = row_keys(values)
    assert keys.dtype == np.uint64
    equal_rows = (values[:, None] == values[None]).all(axis=2)
    assert ((keys[:, None] == keys[None]) == equal_rows).all()


def test_row_keys_of_many_rows_do_not_collide():
    grid = np.arange(200_000, dtype=np.float32)
    rows = np.stack([grid % 450, grid // 450, grid % 7], axis=1)
    assert len(np.unique(row_keys(rows))) == 200_000


def test_row_keys_depend_on_the_order_of_columns():
    one, other = row_keys(np.array([[1.0, 2.0], [2.0, 1.0]], np.float32))
    assert one != other


class TestCommand:
    def test_errors_exit_1_and_are_printed(self, run_cli, log, save, tmp_path):
        arrays = log()
        arrays["rewards"][12] = np.nan
        code, out, err = run_cli("data", "check", save(tmp_path / "log.npz", arrays))
        assert (code, err) == (1, "")
        assert "error: `reward` is NaN or infinite (1 row: 12)" in out
        assert "60 rows, 1 errors, 0 warnings." in out

    def test_warnings_exit_0(self, run_cli, log, save, tmp_path):
        arrays = log()
        arrays["timeouts"][19] = True
        code, out, err = run_cli("data", "check", save(tmp_path / "log.hdf5", arrays))
        assert (code, err) == (0, "")
        assert out.startswith("warning: both terminated and truncated")
        assert "60 rows, 0 errors, 1 warnings." in out

    def test_clean_exits_0(self, run_cli, log, save, tmp_path):
        code, out, err = run_cli("data", "check", save(tmp_path / "log.hdf5", log()))
        assert (code, out, err) == (0, "60 rows, 0 errors, 0 warnings.\n", "")
