import numpy as np
import pytest

from countmorl import train
from countmorl.envs.simulators import make_env, record
from countmorl.errors import ConfigError
from countmorl.studies.audit import AuditConfig, audit
from small_runs import QUIET, small

pytest.importorskip("gymnasium")
CONFIG = AuditConfig(horizon=2, starts=10, clone_updates=5)


@pytest.mark.slow
def test_pairs_are_simulated_and_summed_up(tmp_path):
    env, rng = make_env("CartPole-v1"), np.random.default_rng(0)
    steps = zip(*record(lambda _: int(rng.integers(2)), env, rows=300, seed=0), strict=True)
    names = ("obs", "action", "reward", "next_obs", "terminated", "truncated")
    log = {name: np.array(column) for name, column in zip(names, steps, strict=True)}
    np.savez(tmp_path / "log.npz", **log)
    train(small("mopo", epochs=1), tmp_path / "log.npz", out=tmp_path / "r", **QUIET)
    said = []
    (found,) = audit(tmp_path / "r", CONFIG, task="CartPole-v1", say=said.append)
    assert (found.horizon, found.pairs, found.task) == (2, 100, "CartPole-v1")
    # Every step pays 1, and a reward that never varies is predicted as it is.
    assert all(abs(policy.reward_gap) < 1e-5 for policy in found.policies)
    assert all(policy.error > 0 for policy in found.policies)
    assert said[-1] == "random: imagining, then simulating"
    (again,) = audit(tmp_path / "r", CONFIG, task="CartPole-v1")
    assert again == found


@pytest.mark.parametrize("wrong", [{"horizon": 0}, {"starts": 0}, {"seed": -1}])
def test_settings_that_make_no_sense(wrong):
    with pytest.raises(ConfigError, match="must be at least"):
        AuditConfig(**wrong)
