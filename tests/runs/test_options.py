import pytest

from countmorl.errors import ConfigError
from countmorl.runs.options import DataOptions, RunOptions


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"seed": -1}, "`seed` must be at least 0, got -1"),
        ({"eval_every": -1}, "`eval_every` must be at least 0"),
        ({"eval_episodes": 0}, "`eval_episodes` must be at least 1"),
        ({"save_every": 0}, "`save_every` must be at least 1"),
        ({"keep_policies": -1}, "`keep_policies` must be at least 0"),
        ({"seed": 2**31}, "`seed` must be below 2147483648"),
        ({"log": ("paper",)}, "`log` must be"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_run_options_out_of_range(settings, words):
    with pytest.raises(ConfigError, match=words):
        RunOptions(**settings)


def test_no_evaluation_and_no_kept_policy_are_allowed():
    options = RunOptions(eval_every=0, keep_policies=0)
    assert (options.eval_every, options.keep_policies) == (0, 0)


@pytest.mark.parametrize("rows", [0, -1])
def test_rows_out_of_range(rows):
    with pytest.raises(ConfigError, match=f"`rows` must be at least 1, got {rows}"):
        DataOptions(rows=rows)


@pytest.mark.usefixtures("unchecked")
def test_another_mode():
    with pytest.raises(ConfigError, match=r"`mode` must be .*'d4rl-exact'"):
        DataOptions(mode="wrong")  # type: ignore[arg-type]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("name", "choice"), [("done", "ended"), ("actions", "discrete")])
def test_what_a_log_does_not_say(name, choice):
    assert getattr(DataOptions(**{name: choice}), name) == choice
    with pytest.raises(ConfigError, match=f"`{name}` must be .*'{choice}'"):
        DataOptions(**{name: "wrong"})
