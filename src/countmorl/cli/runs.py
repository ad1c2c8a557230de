"""Commands on run folders and on the installation: resume, evaluate, doctor, demo."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import numpy
import tyro
from tyro.conf import Positional

from countmorl.cli.compare import compare
from countmorl.cli.data import Data
from countmorl.cli.output import points, print_json, print_pairs, print_table
from countmorl.cli.train import finish
from countmorl.data.sources import load
from countmorl.demo import demo as run_demo
from countmorl.doctor import examine
from countmorl.envs.simulators import evaluate as play
from countmorl.errors import ConfigError, DataError
from countmorl.files import atomic
from countmorl.reports.figures import calibration as draw_calibration
from countmorl.reports.figures import draw_all, read_calibration
from countmorl.runs.folder import Run
from countmorl.runtime.policy import Policy
from countmorl.training.counters import load_query
from countmorl.training.train import resume as go_on

RunFolder = Annotated[Positional[Path], tyro.conf.arg(metavar="RUN")]


def resume(
    run: RunFolder, data: str | None = None, termination: str | None = None, json: bool = False
) -> int:
    """Go on with a stopped run; the result is the same, bit for bit, as if it never stopped.

    Args:
        run: The run's folder.
        data: The dataset, where it has moved; its contents must be the same.
        termination: The run's own termination rule again, where that is your code
            (module:function).
        json: Print a JSON summary at the end.
    """
    return finish(lambda: go_on(run, data=data, termination=termination), json)


def evaluate(
    run: RunFolder,
    task: str | None = None,
    episodes: int = 10,
    seed: int = 0,
    json: bool = False,
) -> int:
    """Play episodes with a run's policy, acting by its mean or likeliest action; print its score.

    Args:
        run: A run's folder, or a policy.safetensors file.
        task: Task or Gymnasium id; default: the one the policy was trained for.
        episodes: Episodes to play.
        seed: Seed of the episodes.
        json: Print JSON.
    """
    policy = Policy.load(run)
    name = task or policy.info.get("task")
    if not task and ":" in str(name):
        raise ConfigError(
            f"{run} names the environment '{name}', for which a module would be imported. If you "
            "trust it, name it yourself with --task."
        )
    if not name:
        raise ConfigError(
            f"{run} was trained on data without a known environment. Name one with --task."
        )
    result = play(policy, name, episodes=episodes, seed=seed)
    values = result.as_dict()
    if json:
        print_json({"run": str(run), "task": result.task.name, "seed": seed, **values})
        return 0
    print_pairs(
        {
            "task": f"{result.task.name} ({result.task.env_id})",
            "return": f"{values['return']:.1f} ± {values['return_std']:.1f}",
            "score": points(values["score"], values["score_std"]),
            "length": f"{values['length']:.1f}",
            "episodes": str(values["episodes"]),
        }
    )
    return 0


def count(run: RunFolder, data: Data, out: Path | None = None, json: bool = False) -> int:
    """Count how often the pairs of a dataset were seen in a run's training data.

    Args:
        run: The folder of a run that counts, such as one of count-morl.
        data: A D4RL name, minari:ID, or a path to an HDF5 or NPZ file.
        out: Write every pair's counts, estimates and penalty to this NPZ file.
        json: Print JSON.
    """
    dataset, query = load(data), load_query(Run.open(run))
    if dataset.discrete != query.discrete:
        kinds = {True: "discrete actions", False: "actions that are vectors"}
        raise DataError(
            f"'{dataset.name}' has {kinds[dataset.discrete]}, but {run} was trained on "
            f"{kinds[query.discrete]}. Give a log of the same task."
        )
    counts = query(dataset.obs, dataset.stored["action"])
    if out:
        with atomic(out) as temporary, open(temporary, "wb") as file:
            columns = {"members": counts.members, "penalty": counts.penalty, **counts.estimates}
            numpy.savez_compressed(file, allow_pickle=False, **columns)
    summary = counts.summary()
    if json:
        print_json({"run": str(run), "data": dataset.name, **summary})
        return 0
    quantiles = ", ".join(f"{q} {v:.1f}" for q, v in summary["count_quantiles"].items())
    print_pairs(
        {
            "pairs": f"{summary['pairs']:,}",
            "never seen": f"{100 * summary['unseen']:.1f} %",
            "count": f"{quantiles} (quantiles of the mean count)",
            "estimates": ", ".join(f"{k} {v:.1f}" for k, v in summary["estimates"].items()),
            "penalty": f"{summary['penalty']:.3f} on average",
        }
    )
    return 0


def doctor(json: bool = False) -> int:
    """Say what is installed, where caches lie, and whether a small training works here.

    Args:
        json: Print JSON.
    """
    report = examine()
    if json:
        print_json(report)
    else:
        for title, pairs in report.items():
            if isinstance(pairs, dict):
                print(f"{title}:")
                print_pairs({f"  {name}": value for name, value in pairs.items()})
        print("Everything works." if report["ok"] else "Something is broken; see above.")
    return 0 if report["ok"] else 1


def demo(out: Path = Path("runs/demo"), json: bool = False) -> int:
    """Count-MORL on data that ships with the package: a few minutes, no download.

    Args:
        out: Folder for the two runs and the figures; an earlier demo there is replaced.
        json: Print the three scores and the paths as JSON on the last line.
    """
    result = run_demo(out)
    if json:
        print_json(result)
        return 0
    print("\nReturn on Pendulum-v1 (higher is better, 0 is best):")
    print_pairs(
        {
            "  the data's behaviour": f"{result['behaviour']:.0f}",
            "  behaviour cloning": f"{result['bc']:.0f}",
            "  Count-MORL": f"{result['count_morl']:.0f}",
        }
    )
    print(f"Run: {result['run']}")
    for path in result["figures"]:
        print(f"Figure: {path}")
    return 0


def figures(run: RunFolder, json: bool = False) -> int:
    """Draw a run's learning curve, the coverage of its rollouts, and its counts' calibration.

    Args:
        run: The run's folder; the PNG files go there.
        json: Print JSON.
    """
    paths = [str(path) for path in draw_all(Run.open(run))]
    print_json({"figures": paths}) if json else print("\n".join(paths))
    return 0


def calibration(run: RunFolder, json: bool = False) -> int:
    """Show whether counts predict the model's error: held-out error by count, in bins.

    Args:
        run: The folder of a run that counts; the figure goes there.
        json: Print JSON.
    """
    facts = read_calibration(opened := Run.open(run))
    if json:
        print_json(facts)
        return 0
    print_table(
        ("count", "error", "rows"),
        ((f"{b['count']:.1f}", f"{b['error']:.4f}", str(b["rows"])) for b in facts["bins"]),
    )
    print(facts["verdict"])
    if "swapped_actions" in facts:
        swapped = facts["swapped_actions"]
        print(
            f"The median count of held-out pairs is {facts['median_count']:.1f}; with other rows' "
            f"actions it is {swapped['median_count']:.1f}, and the logged one of two such pairs "
            f"counts more in {100 * swapped['told_apart']:.0f} % of cases."
        )
    print(f"Figure: {draw_calibration(opened)}")
    return 0


COMMANDS: dict[str, Callable[..., int]] = {
    "resume": resume,
    "evaluate": evaluate,
    "count": count,
    "calibration": calibration,
    "compare": compare,
    "figures": figures,
    "doctor": doctor,
    "demo": demo,
}
