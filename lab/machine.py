"""A made machine for lab/judging.md: two masses between springs and dampers, 100 steps an episode.

python lab/machine.py log machine.npz          writes a log of 200 controllers, each with an episode
python lab/machine.py play RUN [RUN ...]       plays what was learned, 400 episodes each
"""

import sys

import numpy as np

import countmorl

STEP, LENGTH = 0.05, 100


def starts(rng, count):
    """Positions, speeds and goals of both masses."""
    ranges = ((-0.5, 0.5), (-0.5, 0.5), (0.5, 1.5))
    return np.concatenate([rng.uniform(*each, (count, 2)) for each in ranges], axis=1)


def step(rng, state, action):
    """Next states, and rewards: 3 less the way to both goals."""
    place, speed, goal = state[:, :2], state[:, 2:4], state[:, 4:]
    push = 5 * np.clip(action, -1, 1)
    force = push - 0.4 * speed
    force[:, 0] += -2 * place[:, 0] + 1.5 * (place[:, 1] - place[:, 0])
    force[:, 1] += -1.5 * (place[:, 1] - place[:, 0])
    speed = speed + STEP * force + rng.normal(0, 0.01, speed.shape)
    place = place + STEP * speed
    reward = 3 - 3 * np.abs(place - goal).sum(axis=1) - 0.01 * np.square(push).sum(axis=1)
    return np.concatenate([place, speed, goal], axis=1), reward


def controllers(rng, count):
    """Noisy controllers, a different one for each episode."""
    near, damp = rng.uniform(0.2, 0.9, (count, 1)), rng.uniform(0, 0.4, (count, 1))
    ahead = rng.uniform(0, 0.6, (count, 2))

    def act(state):
        place, speed, goal = state[:, :2], state[:, 2:4], state[:, 4:]
        wanted = near * (goal - place) - damp * speed + ahead * goal
        return np.clip(wanted + rng.normal(0, 0.15, wanted.shape), -1, 1)

    return act


def play(act, count, seed):
    """Episodes side by side: states, actions, rewards and next states, [episodes, steps, ...]."""
    rng = np.random.default_rng(seed)
    state, rows = starts(rng, count), []
    for _ in range(LENGTH):
        action = act(state)
        following, reward = step(rng, state, action)
        rows.append((state, action, reward, following))
        state = following
    return [np.swapaxes(np.stack(column), 0, 1) for column in zip(*rows, strict=True)]


def write(path):
    """The log."""
    obs, action, reward, next_obs = play(controllers(np.random.default_rng(0), 200), 200, 1)
    last = np.zeros(reward.shape, bool)
    last[:, -1] = True
    arrays = {"obs": obs, "action": action, "reward": reward, "next_obs": next_obs}
    flat = {name: values.reshape(-1, *values.shape[2:]) for name, values in arrays.items()}
    flags = {"truncated": last.ravel(), "terminated": np.zeros(last.size, bool)}
    np.savez(path, **flat, **flags)
    earned = reward.sum(axis=1)
    low, high = np.quantile(earned, (0.1, 0.9))
    print(f"an episode earns {earned.mean():.1f}")
    print(f"a tenth earns less than {low:.0f}, a tenth more than {high:.0f}")


def main(words):
    """Write the log, or play policies."""
    if words[0] == "log":
        write(words[1])
        return
    for run in words[1:]:
        policy = countmorl.load_policy(run)
        earned = play(lambda s, p=policy: p.act(s.astype(np.float32)), 400, 99)[2].sum(axis=1)
        print(f"{run}: {earned.mean():.1f} ± {earned.std() / 400**0.5:.1f}")


if __name__ == "__main__":
    main(sys.argv[1:])
