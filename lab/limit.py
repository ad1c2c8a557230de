"""HalfCheetah with a speed limit, for lab/twelve.md: 100 less for each step beyond it.

python lab/limit.py log ACTOR.npz limit.npz    plays an actor of the recipe for 18 episodes
python lab/limit.py play RUN [RUN ...]         plays what was learned, 4 episodes each
"""

import sys

import gymnasium
import numpy as np

import countmorl

LIMIT, COST = 7.0, 100.0


def actor(path):
    """A recipe's actor: two layers, then means and log deviations, squashed."""
    nets, rng = dict(np.load(path)), np.random.default_rng(0)

    def act(obs):
        for layer in (0, 1):
            obs = np.maximum(obs @ nets[f"{layer}.w"] + nets[f"{layer}.b"], 0)
        mean, log_std = np.split(obs @ nets["2.w"] + nets["2.b"], 2)
        noise = rng.standard_normal(mean.shape)
        return np.tanh(mean + np.exp(np.clip(log_std, -20, 2)) * noise)

    return act


def play(act, episodes, seed):
    """Every step of some episodes."""
    env, rows = gymnasium.make("HalfCheetah-v4"), []
    for episode in range(episodes):
        obs, _ = env.reset(seed=seed + episode)
        for at in range(1000):
            action = np.asarray(act(obs), np.float32)
            after, reward, _, _, info = env.step(action)
            reward -= COST * (info["x_velocity"] > LIMIT)
            rows.append((obs, action, reward, after, at == 999))
            obs = after
    return [np.array(column) for column in zip(*rows, strict=True)]


def told(reward):
    """What an episode earns."""
    earned = reward.reshape(-1, 1000).sum(axis=1)
    return f"{earned.mean():.1f}; deviation {earned.std():.1f}, of {len(earned)} episodes"


def main(words):
    """Write the log, or play policies."""
    if words[0] == "log":
        obs, action, reward, after, last = play(actor(words[1]), 18, 0)
        never = np.zeros(len(reward), bool)
        arrays = {"obs": obs, "action": action, "reward": reward, "next_obs": after}
        np.savez(words[2], **arrays, truncated=last, terminated=never)
        print(told(reward))
        return
    for run in words[1:]:
        policy = countmorl.load_policy(run)
        learned = lambda obs, p=policy: p.act(obs.astype(np.float32)[None])[0]  # noqa: E731
        print(f"{run}: {told(play(learned, 4, 500)[2])}")


if __name__ == "__main__":
    main(sys.argv[1:])
