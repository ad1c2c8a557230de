"""Columns computed by expressions in SQL's syntax, which Polars reads; nothing is ever executed.

Only words that are known here may stand in an expression: columns of the table, operators, and
functions of a single row. `lag(x)` and `lead(x)` are what a column was a row before, or is a row
after, in the same episode.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from countmorl.data.tables.engine import pl
from countmorl.errors import ConfigError, did_you_mean

FUNCTIONS = frozenset(
    """abs acos asin atan atan2 cbrt ceil ceiling cos cot degrees exp floor ln log log10 log1p log2
    mod pi pow power radians round sign sin sqrt tan greatest least coalesce nullif ifnull if
    concat concat_ws ends_with initcap left length lower ltrim regexp_like replace reverse right
    rtrim starts_with strpos substr trim upper cast try_cast extract date_part day month
    year strptime timestamp date""".split()
)
"""Functions whose value in a row depends on nothing but that row."""
SHIFTS = ("lag", "lead")
WORDS = frozenset(
    """and or not is null true false in between like ilike case when then else end as from distinct
    double float real int integer bigint smallint varchar text string boolean date timestamp
    hour minute second day month year dow doy week quarter epoch isodow precision""".split()
)
"""Words that may stand in an expression beside functions and columns."""
TOKEN = re.compile(
    r"""\s+ | '(?:[^']|'')*' | "(?:[^"]|"")+" | [^\W\d]\w* | (?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?
    | \|\| | <= | >= | <> | != | == | :: | . """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Shift:
    """A column as it was some rows before (`by` above 0) or is after, under a name of its own."""

    alias: str
    column: str
    by: int


@dataclass(frozen=True, eq=False)
class Formula:
    """An expression that has been read."""

    text: str
    expr: pl.Expr
    columns: tuple[str, ...]
    """Columns of the table that it needs."""
    shifts: tuple[Shift, ...]


def read_formula(text: str, names: Sequence[str], what: str) -> Formula:
    """Read an expression; what is not one, or names no column, is a `ConfigError`.

    `what` says in the error where the expression stands.
    """
    tokens = [token for token in TOKEN.findall(text) if not token.isspace()]
    if not tokens:
        raise ConfigError(f"The expression of {what} is empty.")
    tokens, shifts = _shifted(tokens, names, what)
    _refuse_several(tokens, text, what)
    aliases = {shift.alias for shift in shifts}
    used = _columns(tokens, [*names, *aliases], text, what)
    try:
        expr = pl.sql_expr(" ".join(tokens))
    except Exception as error:  # Polars raises several unrelated kinds here, panics among them.
        raise unreadable(text, what, error) from error
    needed = [name for name in used if name not in aliases] + [shift.column for shift in shifts]
    return Formula(text, expr, tuple(dict.fromkeys(needed)), tuple(shifts))


def _refuse_several(tokens: list[str], text: str, what: str) -> None:
    """Refuse two expressions in one, of which Polars might take the first alone."""
    depth = 0
    for token in tokens:
        depth += (token == "(") - (token == ")")
        if token == ";" or (token == "," and depth == 0):
            raise ConfigError(
                f"The expression '{text}' of {what} must not hold a '{token}': it is one value."
            )


def unreadable(text: str, what: str, error: Exception) -> ConfigError:
    """What is said of an expression that Polars does not take."""
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return ConfigError(
        f"The expression '{text}' of {what} cannot be computed: {reason}. Wanted one value for "
        "each row, such as: output - 0.02 * abs(temperature - 350)."
    )


def quoted(name: str) -> str:
    """A column's name as it stands in an expression."""
    return '"' + name.replace('"', '""') + '"'


def _plain(token: str) -> str:
    return token[1:-1].replace('""', '"') if token.startswith('"') else token


def _is_name(token: str) -> bool:
    return token.startswith('"') or token[0] == "_" or token[0].isalpha()


def _columns(tokens: list[str], names: Sequence[str], text: str, what: str) -> list[str]:
    """Columns that are named; a word that is neither one nor known is refused."""
    found: list[str] = []
    for place, token in enumerate(tokens):
        if not _is_name(token):
            continue
        called = tokens[place + 1 : place + 2] == ["("] and not token.startswith('"')
        name = _plain(token)
        if called and token.lower() not in WORDS | FUNCTIONS:
            known = (*FUNCTIONS, *SHIFTS)
            raise ConfigError(
                f"The expression '{text}' of {what} calls '{name}', which is not a function of "
                f"one row.{did_you_mean(token.lower(), known)}"
            )
        if name in names and not called:
            found.append(name)
        elif token.startswith('"') or token.lower() not in WORDS | FUNCTIONS:
            raise unknown_name(name, names, f"The expression '{text}' of {what}")
    return found


def _shifted(tokens: list[str], names: Sequence[str], what: str) -> tuple[list[str], list[Shift]]:
    """Give every lag(x), lag(x, n) and lead(x) a name of its own, and that name its place."""
    shifts: dict[str, Shift] = {}
    done: list[str] = []
    while tokens:
        word = tokens[0].lower()
        if word not in SHIFTS or tokens[1:2] != ["("]:
            done.append(tokens.pop(0))
            continue
        inner = tokens[2 : tokens.index(")")] if ")" in tokens else []
        rows = _rows(inner)
        if rows < 1:
            raise ConfigError(f"{what}: `{word}` wants a column, and how many rows: {word}(x, 1).")
        name = _plain(inner[0])
        if name not in names:
            raise unknown_name(name, names, f"`{word}` of {what}")
        alias = f"{word}({name}, {rows})"
        shifts[alias] = Shift(alias, name, rows if word == "lag" else -rows)
        done.append(quoted(alias))
        tokens = tokens[len(inner) + 3 :]
    return done, list(shifts.values())


def _rows(inner: list[str]) -> int:
    """How many rows `lag` and `lead` reach, by what stands in their brackets; 0 if not said so."""
    if not inner or not _is_name(inner[0]):
        return 0
    counted = len(inner) == 3 and inner[1] == "," and inner[2].isdecimal()
    return int(inner[2]) if counted else int(len(inner) == 1)


def unknown_name(name: str, names: Iterable[str], who: str) -> ConfigError:
    """What is said where a column does not exist."""
    known = [each for each in dict.fromkeys(names) if each]
    shown = ", ".join(known[:20]) + (f", ... ({len(known)} in all)" if len(known) > 20 else "")
    return ConfigError(
        f"{who} names '{name}', which is no column.{did_you_mean(name, known)} There is: {shown}."
    )
