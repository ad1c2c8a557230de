"""A schema proposed from the names and first values of a table; a person has the last word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from countmorl.data.aliases import ALIASES
from countmorl.data.tables.engine import explained_panic, pl
from countmorl.data.tables.frame import Frame
from countmorl.data.tables.request import Request, request_of
from countmorl.data.tables.scan import PEEK, open_table
from countmorl.errors import DataError

NAMES: dict[str, tuple[str, ...]] = {
    "reward": ("reward", "rewards", "r", "return", "score", "profit", "payoff", "outcome"),
    "propensity": ALIASES["propensity"],
    "terminated": ("terminated", "terminal", "is_terminal", "died", "dead", "death", "failed"),
    "truncated": ("truncated", "timeout", "is_last", "discharged", "censored", "cut"),
    "flag": ("is_first", "first", "new_episode", "start", "reset"),
    "episode": (
        *("episode", "episode_id", "trajectory", "trajectory_id", "patient", "patient_id"),
        *("subject", "subject_id", "stay_id", "session", "session_id", "run", "run_id", "batch"),
        *("user", "user_id", "customer", "customer_id", "trial", "unit", "id"),
    ),
    "time": ("time", "timestamp", "datetime", "date", "t", "step", "timestep", "day", "hour"),
    "action": ("action", "actions", "act", "a", "dose", "treatment", "decision", "control"),
}
"""Names by which a column's part is guessed, the likeliest first."""
STARTS = ("action_", "act_", "dose_", "setpoint", "control_")
UNSURE = {
    "episode": "the column that says to which episode a row belongs (or gap, or flag)",
    "time": "the column by which the rows of an episode are put in order",
    "action": "the columns of what was decided",
    "reward": "a column, or an expression such as: output - 0.02 * abs(temperature - 350)",
    "terminated": "a column or an expression that is true where the task itself ended",
    "truncated": "a column or an expression that is true where an episode was cut",
}


@dataclass(eq=False)
class Proposal:
    """What was guessed, and why."""

    request: Request
    facts: dict[str, str] = field(default_factory=dict)
    """What each column holds, in words."""
    notes: dict[str, str] = field(default_factory=dict)
    """What is said about settings."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Columns that have no part, and why."""

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-able values."""
        parts = {name: getattr(self.request, name) for name in (*NAMES, "obs")}
        return {"schema": parts, "columns": self.facts, "left_out": self.left_out}


@explained_panic()
def propose(source: Any, request: Request | None = None) -> Proposal:
    """Guess from names and first values which part each column plays."""
    request = request or Request()
    table = open_table(source, request)
    frame = Frame(table, request)
    names = [name for name in table.names if name]
    first = table.peek(names)
    if first.height == 0:
        raise DataError(f"{table.name} has a header but no rows.")
    facts: dict[str, str] = {}
    left_out: dict[str, str] = {}
    for name in names:
        facts[name], why = _facts(frame, first[name], name)
        if why:
            left_out[name] = why
    parts = _parts(names, first)
    dates = [name for name in names if name not in left_out and _is_date(frame, name)]
    if "time" not in parts and dates:  # Whatever it is called, rows are dated by something.
        parts["time"] = dates[0]
    actions = parts.pop("action", None)
    others = set(parts.values())
    meant = lambda name: name.lower().startswith(STARTS) and name not in others  # noqa: E731
    action = [name for name in names if name == actions or meant(name)]
    taken = {*others, *action}
    obs = [name for name in names if name not in taken and name not in left_out]
    guessed = request_of({"obs": obs, "action": action, **parts})
    unsure = {role: text for role, text in UNSURE.items() if not getattr(guessed, role)}
    return Proposal(guessed, facts, unsure, {n: w for n, w in left_out.items() if n not in taken})


def _parts(names: list[str], first: pl.DataFrame) -> dict[str, str]:
    """The likeliest column of each part."""
    lower = {name.lower(): name for name in reversed(names)}
    found: dict[str, str] = {}
    for role, likely in NAMES.items():
        hits = [
            lower[each] for each in likely if each in lower and lower[each] not in found.values()
        ]
        if role == "episode":
            hits = [name for name in hits if _repeats(first[name])]
        if hits:
            found[role] = hits[0]
    return found


def _is_date(frame: Frame, name: str) -> bool:
    return name in frame.meanings and frame.meanings[name].holds == "time"


def _repeats(values: pl.Series) -> bool:
    """An id of episodes is the same in several rows."""
    return values.n_unique() < len(values)


def _facts(frame: Frame, values: pl.Series, name: str) -> tuple[str, str | None]:
    """What a column holds in words, and why it had better be left out, if so."""
    try:
        frame.look([name])
    except DataError as error:
        return str(error), "it cannot be read"
    holds, known = frame.meanings[name].holds, values.drop_nulls()
    missing = len(values) - len(known)
    some = f"; {missing:,} of the first {len(values):,} are missing" if missing else ""
    if holds == "nothing":
        return "empty", "it is empty"
    why = None
    if known.n_unique() == 1:
        why = f"it is '{known[0]}' in all of the first {len(values):,} rows"
    if holds == "text" and known.n_unique() > frame.request.most_categories:
        why = f"it holds {known.n_unique():,} different words in the first {PEEK:,} rows"
    return SAID[holds](known) + some, why


def _numbers(known: pl.Series) -> str:
    numbers = known.cast(pl.String).str.strip_chars().cast(pl.Float64, strict=False)
    return f"numbers from {_short(numbers.min())} to {_short(numbers.max())}"


def _short(value: Any) -> str:
    return "?" if value is None else f"{value:.6g}"


def _listed(known: pl.Series) -> str:
    words = known.cast(pl.String).unique().sort().to_list()
    return "words: " + ", ".join(words[:6]) + (f", ... ({len(words)})" if len(words) > 6 else "")


def _dates(known: pl.Series) -> str:
    return f"dates, such as {known[0]}; kind = elapsed, hour or weekday"


SAID: dict[str, Callable[[pl.Series], str]] = {
    "number": _numbers,
    "boolean": lambda known: "true and false",
    "time": _dates,
    "text": _listed,
}
