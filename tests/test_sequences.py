"""A log with history and weather, from its schema to a policy, and what diverges is stopped."""

import numpy as np
import pytest

from countmorl import RunError, load, load_policy, resume, train
from countmorl.agents.sac_config import SACConfig
from countmorl.schema import Column, Schema, schema_bytes
from small_runs import QUIET, small

COLUMNS = (Column(name="level"), Column(name="rain"))


def tank(rows=300, episode=50):
    """A tank that rain fills and a pump empties; the last two readings are seen."""
    rng = np.random.default_rng(0)
    rain = rng.gamma(2, 1, rows).astype(np.float32)
    pump = rng.uniform(0, 4, rows).astype(np.float32)
    level = np.zeros(rows, np.float32)
    first = np.arange(rows) % episode == 0
    for t in range(1, rows):
        level[t] = 10 if first[t] else level[t - 1] + rain[t - 1] - pump[t - 1]
    now = np.stack([level, rain], axis=1)
    before = np.where(first[:, None], now, np.roll(now, 1, axis=0))
    done = np.where(first, 2, np.roll(pump, 1))[:, None]
    fill = Column(name="pump", fill=2.0)
    schema = Schema(obs=COLUMNS, action=(fill,), history=2, exogenous=("rain",))
    return {
        "obs": np.concatenate([now, before, done], axis=1).astype(np.float32),
        "action": pump[:, None],
        "reward": -np.abs(level - 10),
        "truncated": np.arange(rows) % episode == episode - 1,
        "schema": schema_bytes(schema),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["count-morl", "rambo", "repb-sde"])
def test_history_and_weather_train_and_resume(name, tmp_path):
    config = small(name, continued=0.5)
    run = train(config, tank(), out=tmp_path / "run", **QUIET)
    (model,) = [run.load_result(stage)[0] for stage in run.stages() if stage == "model"]
    assert model[".targets.mean"].shape == (2,)  # The level's change and the reward alone.
    assert resume(run.path, data=tank(), quiet=True).finished
    policy = load_policy(run.path)
    session = policy.session()
    dataset = load(tank())
    for row in range(3):
        advised = session.act_row({"level": dataset.obs[row, 0], "rain": dataset.obs[row, 1]})
        np.testing.assert_allclose(
            advised["pump"], policy.act(dataset.obs[row])[0], rtol=1e-4, atol=1e-4
        )
        session.executed({"pump": float(dataset.action[row, 0])})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mopo", "cql"])
def test_a_training_that_diverges_is_stopped_with_a_sentence(name, tmp_path):
    wild = SACConfig(hidden=(8, 8), critic_rate=1e4, critic_norm=False)
    config = small(name, sac=wild, epochs=30)
    with pytest.raises(RunError, match=r"diverged: `.*beyond .* rewards can explain"):
        train(config, tank(), out=tmp_path / "run", **QUIET)
