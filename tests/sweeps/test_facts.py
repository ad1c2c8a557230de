import numpy as np
import pytest

from countmorl.errors import ConfigError
from countmorl.runs.options import DataOptions
from countmorl.sweeps.facts import DataFacts, facts_of, look_at
from countmorl.sweeps.plan import Sweep
from small_runs import numbered_log
from sweeps_parts import write_log


def test_sizes_of_a_file(tmp_path):
    path = str(write_log(tmp_path / "log.npz"))
    facts = facts_of(path, DataOptions(rows=200), fetch=False)
    assert facts == DataFacts(rows=200, obs_dim=2, action_dim=1, learns_ends=True)
    assert facts.row_bytes == 4 * (2 + 2 + 1 + 1) + 3


def test_data_of_d4rl_that_are_not_here_are_known_by_their_table():
    facts = facts_of("hopper-medium-replay-v2", DataOptions(), fetch=False)
    assert (facts.rows, facts.obs_dim, facts.action_dim) == (402_000, 11, 3)
    assert not facts.learns_ends
    assert facts_of("hopper-medium-v2", DataOptions(rows=9), fetch=False).rows == 9


def test_when_it_counts_they_are_fetched():
    with pytest.raises(Exception, match=r"could not be reached"):
        facts_of("hopper-medium-v2", DataOptions(), fetch=True)


def test_every_dataset_is_looked_at_and_problems_are_counted(tmp_path):
    good = write_log(tmp_path / "good.npz")
    found = look_at(Sweep.of(["bc", "mopo"], [good], seeds=2), fetch=True)
    assert [facts.rows for facts in found.values()] == [300]
    bad = [tmp_path / f"{name}.npz" for name in "xy"]
    for path in bad:
        path.write_bytes(b"nothing")
    with pytest.raises(ConfigError, match=r"x.npz.*\(1 more of the plan's data have problems\)"):
        look_at(Sweep.of(["bc"], [good, *bad]), fetch=True)


def test_a_method_that_cannot_take_the_actions_is_told_before_anything_starts(tmp_path):
    path = tmp_path / "numbered.npz"
    np.savez(path, **numbered_log())
    with pytest.raises(ConfigError, match=r"has 3 discrete actions, and td3-bc needs actions"):
        look_at(Sweep.of(["bc", "td3-bc"], [path]), fetch=True)
