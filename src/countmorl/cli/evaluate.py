"""`countmorl evaluate RUN`: play."""

from __future__ import annotations

from countmorl.cli.output import RunFolder, points, print_json, print_pairs
from countmorl.envs.tasks import find_task
from countmorl.errors import ConfigError
from countmorl.evaluation.simulate import Simulation
from countmorl.runtime.load import load_policy


def evaluate(
    run: RunFolder,
    task: str | None = None,
    episodes: int = 10,
    seed: int = 0,
    json: bool = False,
) -> int:
    """Play episodes with a run's policy, acting by its mean or likeliest action; print its score.

    Args:
        run: A run's folder, or a file of a policy.
        task: Task or Gymnasium id (module:Env-v0 imports the module first); by default the one
            the policy was trained for.
        episodes: Episodes to play.
        seed: Seed of the episodes.
        json: Print JSON.
    """
    policy = load_policy(run)
    known = policy.info.get("task")
    name = task or (known if isinstance(known, str) else None)
    if name and not task and ":" in name:
        raise ConfigError(
            f"{run} names the environment '{name}', for which a module would be imported. If you "
            "trust it, name it yourself with --task."
        )
    if not name:
        raise ConfigError(
            f"{run} was trained on data without a known environment. Name one with --task."
        )
    found = find_task(name)
    result = Simulation(task=found, episodes=episodes)(policy, seed=seed)
    facts = {"score": None, "score_std": None} | dict(result.facts)
    if json:
        about = {"run": str(run), "task": found.name, "seed": seed, "episodes": episodes}
        print_json(about | facts | {"interval": result.interval, "made_by": result.made_by})
        return 0
    sure = ""
    if result.interval:
        sure = f" (its mean lies within {result.interval[0]:.1f} and {result.interval[1]:.1f})"
    print_pairs(
        {
            "task": f"{found.name} ({found.env_id})",
            "return": f"{facts['return']:.1f} ± {facts['return_std']:.1f}{sure}",
            "score": points(facts["score"], facts["score_std"]),
            "length": f"{facts['length']:.1f}",
            "episodes": str(episodes),
        }
    )
    return 0
