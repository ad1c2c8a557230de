"""Does the unit of a column matter? python -m benchmarks.units [FOLDER]

Count-MORL at 8 x 400 updates on the Pendulum log that ships with the package, as it is and in other
units; each policy plays 20 episodes.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from countmorl import RunOptions, evaluate, load_policy, train
from countmorl.demo import demo_config, demo_data
from countmorl.runtime.policy import Policy

UNITS = {
    "as it is": ([1, 1, 1], 1),
    "observations x 1000": ([1000, 1000, 1000], 1),
    "observations / 1000": ([1e-3, 1e-3, 1e-3], 1),
    "mixed": ([1000, 1, 1e-3], 1),
    "rewards x 1000": ([1, 1, 1], 1000),
    "rewards / 1000": ([1, 1, 1], 1e-3),
}


def score(obs: list[float], reward: float, out: Path) -> float:
    data, factor = demo_data(), np.array(obs, np.float32)
    scaled = replace(
        data,
        obs=data.obs * factor,
        next_obs=data.next_obs * factor,
        reward=data.reward * np.float32(reward),
    )
    config = replace(demo_config(), epochs=8, updates=400)
    run = train(config, scaled, out=out, options=RunOptions(eval_every=0), quiet=True)
    policy = load_policy(run.path)
    assert isinstance(policy, Policy)
    # The pendulum itself has the old units.
    own = replace(policy, obs_mean=policy.obs_mean / factor, obs_std=policy.obs_std / factor)
    assert data.task is not None
    return evaluate(own, data.task, episodes=20, seed=123).value


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(made)
        for number, (name, (obs, reward)) in enumerate(UNITS.items()):
            print(f"{name:<20} {score(obs, reward, folder / str(number)):8.1f}", flush=True)
