"""Lists of episodes in memory: dictionaries, Minari's and d3rlpy's objects, nested RLDS steps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from countmorl.data.aliases import KEYS
from countmorl.data.columns import as_flag, as_flat
from countmorl.data.fields import Fields
from countmorl.data.readers.structure import Names, flattened, named_schema
from countmorl.envs.tasks import Task
from countmorl.errors import DataError
from countmorl.runs.options import ActionKind, DataOptions

FLAGS = ("terminated", "truncated", "done", "ended", "started")
STEP = ("obs", "action", "reward", "next_obs", "propensity", *FLAGS)
"""What an episode may hold of each of its steps."""

SIDE = (Mapping, np.ndarray, list)
"""What an object may hold beside its steps and is worth naming; a number or a seed is not."""

Episode = dict[str, Any]


def read_episodes(
    episodes: Iterable[Any],
    *,
    name: str = "episodes",
    task: Task | None = None,
    options: DataOptions | None = None,
    more: Mapping[str, np.ndarray] | None = None,
) -> Fields:
    """Join episodes, one after the other; where one ends without a flag, it was cut.

    An episode is a dictionary of arrays (observations with one row per step, or one more: the
    final one), an object with such attributes, a list of steps, or `{"steps": ...}`. `more` holds
    what is known of all of them, such as the actions' bounds.
    """
    options = options or DataOptions()
    parts, unused = [], dict[str, None]()  # Names in the order in which they were met.
    for number, episode in enumerate(episodes):
        part, others = _part(episode, number)
        parts.append(part)
        unused |= dict.fromkeys(others)
    if not parts:
        raise DataError(f"'{name}' has no episodes. A dataset needs at least one transition.")
    found, notes = joined(parts, options.actions)
    return Fields.of(
        {**found, **(more or {})},
        name=name,
        task=task,
        options=options,
        unused=tuple(unused),
        notes=notes,
    )


def _part(episode: Any, number: int) -> tuple[Episode, list[str]]:
    """What an episode holds of its steps by our names, and the names of everything else."""
    values, unused = _values(episode, number)
    part: Episode = {}
    for name, value in values.items():
        ours = KEYS.get(name)
        if ours not in STEP:
            unused.append(name)
        elif ours in part:
            raise DataError(f"Episode {number} holds two arrays of `{ours}`; give one.")
        else:
            part[ours] = value
    if "discount" in unused and "terminated" not in part and "done" not in part:
        unused.remove("discount")  # RLDS: nothing follows where the discount is 0.
        part["terminated"] = np.asarray(values["discount"]) == 0
    missing = [key for key in ("obs", "action", "reward") if key not in part]
    if missing:
        got = ", ".join(map(str, values)) or "nothing"
        raise DataError(
            f"Episode {number} has no `{missing[0]}`. Wanted observations, actions and rewards; "
            f"got {got}."
        )
    return part, unused


def _values(episode: Any, number: int) -> tuple[dict[str, Any], list[str]]:
    """The arrays of an episode in any of its forms, and what stands beside its steps."""
    if isinstance(episode, Mapping) and "steps" in episode:
        values, _ = _values(episode["steps"], number)
        return values, [str(name) for name in episode if name != "steps"]
    if isinstance(episode, Mapping):
        return {str(name): value for name, value in episode.items()}, []
    if hasattr(episode, "observations") and hasattr(episode, "actions"):
        own = {name: getattr(episode, name, None) for name in KEYS if KEYS[name] in STEP}
        held = getattr(episode, "__dict__", {})
        beside = [k for k, v in held.items() if k not in KEYS and isinstance(v, SIDE) and len(v)]
        return {name: value for name, value in own.items() if value is not None}, beside
    if isinstance(episode, Iterable) and not isinstance(episode, (str, bytes, np.ndarray)):
        steps = list(episode)
        if steps and all(isinstance(step, Mapping) for step in steps):
            return _stacked(steps, number), []
    raise DataError(
        f"Episode {number} is of type {type(episode).__name__}; wanted a dictionary of arrays "
        "(observations, actions, rewards, ...) or a list of steps."
    )


def _stacked(steps: list[Mapping[str, Any]], number: int) -> dict[str, Any]:
    """Steps of an episode as arrays."""
    found: dict[str, Any] = {}
    for name in steps[0]:
        lacking = [place for place, step in enumerate(steps) if name not in step]
        if lacking:
            raise DataError(
                f"Step {lacking[0]} of episode {number} has no `{name}`, which its first step has."
            )
        values = [step[name] for step in steps]
        nested = isinstance(values[0], Mapping)
        found[str(name)] = _stacked(values, number) if nested else values
    return found


def joined(
    parts: list[Episode], actions: ActionKind | None = None
) -> tuple[dict[str, np.ndarray], tuple[str, ...]]:
    """Arrays of all episodes, one after the other, and what was understood on the way."""
    names: dict[str, Names | None] = {}
    whole = [_arrays(part, number, names) for number, part in enumerate(parts)]
    whole, notes = _without_final_steps(whole)
    _same_names(whole)
    found = {key: _joined(whole, key) for key in whole[0] if key not in ("obs", "next_obs")}
    found |= _observations(whole)
    found["is_last"] = np.concatenate([_last(part) for part in whole])
    schema = named_schema(
        names["obs"], names["action"], found["obs"], found["action"], wanted=actions
    )
    renamed = {"started": "is_first"}
    return {renamed.get(k, k): v for k, v in found.items() if k != "ended"} | schema, notes


def _arrays(part: Episode, number: int, names: dict[str, Names | None]) -> dict[str, np.ndarray]:
    """The arrays of one episode; flags that are one value are of its last step."""
    arrays = {}
    for key in ("obs", "action", "next_obs"):
        if key in part:
            arrays[key], own = flattened(key, part[key])
            seen = names.setdefault("obs" if key == "next_obs" else key, own)
            if own != seen:
                raise DataError(
                    f"`{key}` of episode {number} has the columns {_listed(own)}, but the first "
                    f"one has {_listed(seen)}. Give all of them the same, in the same order."
                )
    for key in ("reward", "propensity"):
        if key in part:
            arrays[key] = as_flat(key, np.asarray(part[key]))
    for key in FLAGS:
        if key in part:
            flag = as_flag(key, np.atleast_1d(part[key]))
            one = len(flag) == 1 < len(arrays["reward"])
            arrays[key] = _only_last(len(arrays["reward"]), bool(flag[0])) if one else flag
    _check_rows(arrays, number)
    return arrays


def _listed(names: Names | None) -> str:
    return ", ".join(names) if names else "without names"


def _only_last(rows: int, value: bool) -> np.ndarray:
    flag = np.zeros(rows, bool)
    flag[-1:] = value
    return flag


def _last(part: dict[str, np.ndarray]) -> np.ndarray:
    own = part.get("ended")
    end = _only_last(len(part["reward"]), True)
    return end if own is None else end | own


def _without_final_steps(
    parts: list[dict[str, np.ndarray]],
) -> tuple[list[dict[str, np.ndarray]], tuple[str, ...]]:
    """Take RLDS's last step for what it is: a final observation, with nothing done in it.

    It is so only where every episode has such a step, marked and empty: a step with an action or a
    reward in it is a step.
    """
    if not all(_final_step_is_empty(part) for part in parts):
        return parts, ()
    cut = []
    for part in parts:
        short = {key: values[:-1] for key, values in part.items() if key != "obs"}
        for key in ("terminated", "truncated", "done", "ended"):
            if key in part:
                short[key] = short[key].copy()
                short[key][-1] |= part[key][-1]
        cut.append(short | {"obs": part["obs"]})
    note = "the last step of each episode holds neither action nor reward: a final observation"
    return cut, (note,)


def _final_step_is_empty(part: dict[str, np.ndarray]) -> bool:
    ended, steps = part.get("ended"), len(part["reward"])
    if ended is None or "next_obs" in part or steps < 2 or len(part["obs"]) != steps:
        return False
    nothing = not np.nan_to_num(part["action"][-1]).any() and not np.nan_to_num(part["reward"][-1])
    return bool(ended[-1] and nothing)


def _same_names(parts: list[dict[str, np.ndarray]]) -> None:
    first = set(parts[0])
    for number, part in enumerate(parts):
        if set(part) != first:
            other = sorted(set(part) ^ first)[0]
            who, whom = (number, 0) if other in first else (0, number)
            raise DataError(f"Episode {who} has no `{other}`, which episode {whom} has.")


def _check_rows(part: dict[str, np.ndarray], number: int) -> None:
    steps = len(part["action"]) if part["action"].ndim else 0
    if not steps:
        raise DataError(f"Episode {number} has no steps. Leave out what is empty.")
    for key, values in part.items():
        allowed = (steps, steps + 1) if key == "obs" else (steps,)
        if values.ndim == 0 or len(values) not in allowed:
            raise DataError(
                f"`{key}` of episode {number} has {len(np.atleast_1d(values)):,} rows but "
                f"`action` has {steps:,}. Every step needs one of each; observations may have one "
                "more, the final one."
            )


def _observations(parts: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Observations, and the next ones where any episode tells more than the next row does."""
    if "next_obs" in parts[0]:
        return {key: _joined(parts, key, rows=True) for key in ("obs", "next_obs")}
    whole = [len(part["obs"]) > len(part["reward"]) for part in parts]
    obs = _joined(parts, "obs", rows=True)
    if not any(whole):
        return {"obs": obs}
    if all(whole):
        return {"obs": obs, "next_obs": np.concatenate([part["obs"][1:] for part in parts])}
    # A placeholder stands where the final observation is not known.
    after = [
        p["obs"][1:] if w else p["obs"][[*range(1, len(p["obs"])), -1]]
        for p, w in zip(parts, whole, strict=True)
    ]
    known = [~_only_last(len(part["reward"]), not w) for part, w in zip(parts, whole, strict=True)]
    return {"obs": obs, "next_obs": np.concatenate(after), "next_known": np.concatenate(known)}


def _joined(parts: list[dict[str, np.ndarray]], key: str, *, rows: bool = False) -> np.ndarray:
    columns = [part[key][: len(part["reward"])] if rows else part[key] for part in parts]
    shapes = {column.shape[1:] for column in columns}
    if len(shapes) > 1:
        raise DataError(f"Episodes have `{key}` of different sizes: {sorted(map(str, shapes))}.")
    return np.concatenate(columns)
