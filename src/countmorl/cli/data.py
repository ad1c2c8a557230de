"""`countmorl data ...`: list, info, check, download, convert, collect; import and schema."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import tyro
from tyro.conf import Positional

from countmorl.cli.data_import import import_log, propose_schema
from countmorl.cli.output import Data, points, print_json, print_pairs, print_table, propensity_row
from countmorl.collecting.collect import collect as roll
from countmorl.data.check import check as find_problems
from countmorl.data.dataset import Dataset
from countmorl.data.download import download as fetch
from countmorl.data.foreign import kind_of
from countmorl.data.names import D4RL, cache_folder
from countmorl.data.readers import WRITERS
from countmorl.data.sources import describe_task, load, read
from countmorl.envs.tasks import find_task
from countmorl.errors import DataError, did_you_mean, printable
from countmorl.runs.options import ActionKind, DataOptions, Done, Mode
from countmorl.runtime.load import load_policy

RecipeName = Literal["random", "medium", "medium-replay", "expert", "medium-expert"]
Out = Annotated[Positional[Path], tyro.conf.arg(metavar="OUT")]


def list_names(json: bool = False) -> int:
    """List the D4RL datasets known by name, and which are on this machine.

    Args:
        json: Print JSON.
    """
    rows = [
        {"name": k.name, "rows": k.rows, "env": k.task.env_id, "here": k.path.exists()}
        for k in D4RL.values()
    ]
    if json:
        print_json(rows)
        return 0
    print_table(
        ("name", "rows about", "judged on", "here"),
        ((r["name"], f"{r['rows']:,}", r["env"], "yes" if r["here"] else "") for r in rows),
    )
    print(f"\nFiles lie in {cache_folder()}. Minari: `minari list remote`, then minari:ID.")
    return 0


def info(
    data: Data,
    mode: Mode = "true",
    done: Done | None = None,
    actions: ActionKind | None = None,
    json: bool = False,
) -> int:
    """Print a dataset's card: size, episodes, behaviour, ranges, hash.

    Args:
        data: A D4RL name, minari:ID, or a path to an HDF5 or NPZ file.
        mode: true, or d4rl-exact for the rows of D4RL's own old loader.
        done: What `done` means where the log does not tell: terminated, the task itself ended
            there; or ended, the episode ended there for whatever reason.
        actions: How actions are understood: discrete or continuous; by default from their type
            and values.
        json: Print JSON, with the range of every column.
    """
    options = DataOptions(mode=mode, done=done, actions=actions)
    dataset = Dataset.of(read(data, options=options))
    card = dataset.card()
    if json:
        print_json(card)
        return 0
    returns, lengths, bounds = card["return"], card["length"], card["action_bounds"]
    print_pairs(
        {
            "name": card["name"],
            "rows": f"{card['rows']:,}",
            "episodes": f"{card['episodes']:,} ({card['finished_episodes']:,} finished)",
            "length": f"{lengths['mean']:.1f} (from {lengths['min']} to {lengths['max']})",
            "observation": f"{card['obs_dim']} numbers",
            "action": f"one of {card['action_dim']}"
            if card["discrete"]
            else f"{card['action_dim']} numbers, {bounds['low']} to {bounds['high']}",
            "task": describe_task(dataset.task),
            "return": f"{returns['mean']:.1f} ± {returns['std']:.1f} "
            f"(from {returns['min']:.1f} to {returns['max']:.1f})",
            "score": points(card["score"]["mean"], card["score"]["std"]),
            "terminated": f"{card['terminated']:,} rows",
            "truncated": f"{card['truncated']:,} rows",
            **propensity_row(card["propensity"]),
            "next unknown": f"{card['next_unknown']:,} rows (they teach a model no change; "
            "where the task ended, they teach the reward and the end)",
            "hash": card["hash"],
        }
    )
    for note in card["notes"]:
        print(printable(note))
    if card["unused"]:
        print(printable(f"not used: {', '.join(card['unused'])}"))
    return 0


def check(
    data: Data,
    mode: Mode = "true",
    done: Done | None = None,
    actions: ActionKind | None = None,
    json: bool = False,
) -> int:
    """Look for what spoils a training; exit 1 on errors, 0 with warnings.

    Args:
        data: A D4RL name, minari:ID, or a path to an HDF5 or NPZ file.
        mode: true, or d4rl-exact for the rows of D4RL's own old loader.
        done: What `done` means where the log does not tell: terminated, the task itself ended
            there; or ended, the episode ended there for whatever reason.
        actions: How actions are understood: discrete or continuous; by default from their type
            and values.
        json: Print JSON.
    """
    fields = read(data, options=DataOptions(mode=mode, done=done, actions=actions))
    findings = find_problems(fields)
    errors = sum(finding.level == "error" for finding in findings)
    if json:
        report = [finding.as_dict() for finding in findings]
        print_json({"data": data, "rows": len(fields.obs), "errors": errors, "findings": report})
    else:
        for finding in findings:
            print(printable(f"{finding.level}: {finding.message}"))
        print(f"{len(fields.obs):,} rows, {errors} errors, {len(findings) - errors} warnings.")
    return 1 if errors else 0


def download(name: Data, json: bool = False) -> int:
    """Download a D4RL dataset into D4RL's cache folder.

    Args:
        name: A name from `countmorl data list`.
        json: Print JSON.
    """
    if name not in D4RL:
        raise DataError(
            f"No dataset named '{name}'.{did_you_mean(name, D4RL)} `countmorl data list` shows all."
        )
    known = D4RL[name]
    here = known.path.exists()
    path = known.path if here else fetch(known)
    if json:
        print_json({"name": name, "path": str(path), "downloaded": not here})
    else:
        print(f"{name} is {'already ' if here else ''}at {path}")
    return 0


def convert(
    data: Data,
    out: Out,
    mode: Mode = "true",
    done: Done | None = None,
    actions: ActionKind | None = None,
    json: bool = False,
) -> int:
    """Write a dataset as HDF5 in D4RL's layout (.hdf5) or as NPZ (.npz).

    Args:
        data: A D4RL name, minari:ID, or a path to an HDF5 or NPZ file.
        out: File to write; its ending decides the format.
        mode: true, or d4rl-exact for the rows of D4RL's own old loader.
        done: What `done` means where the log does not tell: terminated, the task itself ended
            there; or ended, the episode ended there for whatever reason.
        actions: How actions are understood: discrete or continuous; by default from their type
            and values.
        json: Print JSON.
    """
    writer = writer_of(out)
    dataset = load(data, mode=mode, done=done, actions=actions)
    writer(dataset, out)
    return wrote(dataset, out, json)


def collect(
    env: Annotated[Positional[str], tyro.conf.arg(metavar="ENV")],
    out: Out,
    policy: str = "random",
    recipe: RecipeName | None = None,
    until: float | None = None,
    until_expert: float | None = None,
    rows: int = 100_000,
    seed: int = 0,
    deterministic: bool = False,
    json: bool = False,
) -> int:
    """Record a policy's steps in an environment, or follow D4RL's recipe.

    Args:
        env: A task such as hopper, or any Gymnasium id (module:Env-v0 imports the module first)
            whose observations are vectors or numbered states, and whose actions are vectors or
            discrete.
        out: File to write (.hdf5 or .npz); with --recipe, a folder. Repeat an interrupted recipe's
            command to go on with it.
        policy: random, or the folder of a run of ours.
        recipe: Train the behaviour by online SAC first: random, medium, medium-replay (every step
            of that training), expert, medium-expert.
        until: What makes a policy medium: a share of the reference range (0.4 is 40 points), or a
            return where the task has no references.
        until_expert: What makes a policy an expert, in the same way.
        rows: Steps to record; medium-replay has as many as the training took.
        seed: Seed of the environment and of the actions.
        deterministic: Act by the policy's mean, or its likeliest action, instead of sampling.
        json: Print JSON.
    """
    if recipe:
        from countmorl.collecting.recipe import make_recipe  # Only this needs JAX in this group.

        goals = {"until": until, "until_expert": until_expert}
        path = make_recipe(find_task(env), recipe, out, rows=rows, seed=seed, goals=goals)
        return wrote(load(path), path, json)
    writer = writer_of(out)
    actor = None if policy == "random" else load_policy(policy)
    dataset = roll(
        find_task(env), actor, rows=rows, seed=seed, deterministic=deterministic, name=out.stem
    )
    writer(dataset, out)
    return wrote(dataset, out, json)


def writer_of(out: Path) -> Callable[[Dataset, Path], None]:
    """Find who writes a file, before any work is done for it."""
    if out.suffix.lower() not in WRITERS:
        raise DataError(f"{out} has the ending '{out.suffix}'; wanted {', '.join(WRITERS)}.")
    if kind_of(out) is not None:
        raise DataError(f"{out} exists already. Delete it first, or choose another name.")
    return WRITERS[out.suffix.lower()]


def wrote(dataset: Dataset, out: Path, json: bool) -> int:
    """Say what was written."""
    if json:
        print_json({"path": str(out), "rows": len(dataset), "hash": dataset.hash})
    else:
        print(f"{len(dataset):,} rows in {len(dataset.episode_ends):,} episodes written to {out}")
    return 0


COMMANDS: dict[str, Callable[..., int]] = {
    "list": list_names,
    "info": info,
    "check": check,
    "download": download,
    "convert": convert,
    "collect": collect,
    "import": import_log,
    "schema": propose_schema,
}
