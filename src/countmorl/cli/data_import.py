"""`countmorl data import` and `countmorl data schema`: tables as they lie in companies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro
from tyro.conf import Positional

from countmorl.cli.output import print_json, print_pairs, print_table, propensity_row
from countmorl.data.foreign import kind_of
from countmorl.errors import ConfigError, DataError, printable
from countmorl.files import write_text
from countmorl.schema import Column

if TYPE_CHECKING:
    from countmorl.data.tables.importing import Imported

Logs = Annotated[Positional[tuple[str, ...]], tyro.conf.arg(metavar="LOG")]
Out = Annotated[Path | None, tyro.conf.arg(aliases=["-o"])]
Words = Annotated[tuple[tuple[str, ...], ...], tyro.conf.UseAppendAction]
"""Words behind an option, which may be given several times."""
ENDINGS = (".hdf5", ".h5")
SHARES = 8
"""Discrete actions that are listed with their shares; the JSON holds all."""


def import_log(
    logs: Logs,
    out: Out = None,
    schema: Path | None = None,
    obs: Words = (),
    action: Words = (),
    reward: str | None = None,
    propensity: str | None = None,
    terminated: str | None = None,
    truncated: str | None = None,
    episode: str | None = None,
    time: str | None = None,
    gap: str | None = None,
    flag: str | None = None,
    missing: Words = (),
    kind: Words = (),
    categories: Words = (),
    scale: Words = (),
    discrete: bool = False,
    continuous: bool = False,
    action_low: tuple[float, ...] = (),
    action_high: tuple[float, ...] = (),
    history: int | None = None,
    frame_skip: int | None = None,
    exogenous: Words = (),
    null: Words = (),
    decimal_comma: bool = False,
    separator: str | None = None,
    date_format: str | None = None,
    most_categories: int | None = None,
    json: bool = False,
) -> int:
    """Make a dataset of a table, by the names of its columns.

    CSV, TSV, Parquet, JSON lines and Arrow files, folders of them and wild-cards. The table may be
    larger than memory. What was understood is printed; nothing is written where something is
    refused. Expressions are written in SQL's syntax; lag(x) and lead(x) are a column a row before
    and after in the same episode.

    Args:
        logs: Files, folders or wild-cards that are one table together.
        out: File to write (.hdf5).
        schema: A schema file (`countmorl data schema` proposes one); options change what it says.
        obs: Columns of the observation: names, wild-cards ('lab_*'), or "name = expression".
        action: Columns of the action, in the same way.
        reward: The column of the reward, or an expression.
        propensity: The column that says how likely the logged action was when it was taken, or an
            expression; for actions that are one of a list. Judging weighs episodes by it.
        terminated: A column or an expression that is true where the task itself ended.
        truncated: A column or an expression that is true where an episode was cut.
        episode: The column that says to which episode a row belongs. Without it, and without
            --gap and --flag, all rows are one stream.
        time: The column by which the rows of an episode are put in order; else they stay as they
            are.
        gap: An episode ends where time jumps by more than this: 30s, 10m, 2h, 7d, 1w, or a number
            where time is one.
        flag: A column or an expression that is true in the first row of every episode.
        missing: What becomes of missing values, by column or for all: refuse, carry (the last one
            before), median, drop (the row; the episode breaks there), or a value. Such as carry,
            'lab_*=median', reward=0, died=false.
        kind: What a column becomes, where that is not what it looks like: number, boolean,
            category, elapsed (hours since the episode began), hour (of the day), weekday. Such as
            visit=weekday.
        categories: Columns of numbers that are categories.
        scale: Ordered categories, the lowest first: pain=none,mild,severe.
        discrete: Take the action as one of a list, though it is a number.
        continuous: Take the action as a number, though it is true or false.
        action_low: The least action, one for all or one for each; else the data's.
        action_high: The greatest action, one for all or one for each; else the data's.
        history: Observations, the present one among them, that an observation is made of;
            1 where nothing is said.
        frame_skip: Rows that make one step: the action of the first, the sum of the rewards.
        exogenous: Columns of the observation that no action can influence.
        null: Words of a text that stand for a missing value, beside NA, N/A, null, NaN and nothing.
        decimal_comma: Numbers are written 1,5.
        separator: What stands between the values of a text; found by its header where not given.
        date_format: How dates are written, such as %d/%m/%Y, where they can be read in two ways.
        most_categories: Different words that a column of the observation may hold; 50 where nothing
            is said.
        json: Print JSON.
    """
    path = _checked_out(out)
    from countmorl.data.tables.importing import complete, import_file
    from countmorl.data.tables.request import pair

    given: dict[str, Any] = {
        "reward": reward,
        "propensity": propensity,
        "terminated": terminated,
        "truncated": truncated,
        "episode": episode,
        "time": time,
        "gap": gap,
        "flag": flag,
        "action_low": action_low,
        "action_high": action_high,
        "history": history,
        "frame_skip": frame_skip,
        "decimal_comma": decimal_comma or None,
        "separator": separator,
        "date_format": date_format,
        "most_categories": most_categories,
        "actions": _actions(discrete, continuous),
    }
    several = {"obs": obs, "action": action, "missing": missing, "categories": categories}
    several |= {"scale": scale, "exogenous": exogenous, "null": null}
    given |= {name: _flat(words) for name, words in several.items()}
    pairs = [pair(each, "kind", "visit=weekday") for each in _flat(kind)]
    given["columns"] = {name: {"kind": said} for name, said in pairs}
    found = import_file(_named(logs), complete(given, schema), path)
    if json:
        print_json({"path": str(path), **found.as_dict()})
    else:
        _print(found, path)
    return 0


def propose_schema(
    logs: Logs,
    out: Out = None,
    separator: str | None = None,
    decimal_comma: bool = False,
    date_format: str | None = None,
    json: bool = False,
) -> int:
    """Propose a schema file for a table, from names and first values.

    Which column is the reward and which the action is guessed by their names. Read it, correct it,
    and give it to `countmorl data import --schema`.

    Args:
        logs: Files, folders or wild-cards that are one table together.
        out: File to write (.toml); else it is printed.
        separator: What stands between the values of a text; found by its header where not given.
        decimal_comma: Numbers are written 1,5.
        date_format: How dates are written, such as %d/%m/%Y, where they can be read in two ways.
        json: Print JSON.
    """
    from countmorl.data.tables.propose import propose
    from countmorl.data.tables.request import Request
    from countmorl.data.tables.toml import write_request

    if out is not None and out.exists():
        raise DataError(f"{out} exists already. Delete it first, or choose another name.")
    reading = Request(separator=separator, decimal_comma=decimal_comma, date_format=date_format)
    found = propose(_named(logs), reading)
    text = HEAD + write_request(found.request, facts=found.facts, notes=found.notes)
    if found.left_out:
        left = "".join(f"#   {name}: {why}\n" for name, why in found.left_out.items())
        text += f"\n# Left out; add what should be seen to `obs`:\n{left}"
    if out is not None:
        write_text(out, text)
    if json:
        print_json({"path": str(out) if out else None, **found.as_dict()})
    else:
        print(f"Written: {out}" if out else text.rstrip())
    return 0


HEAD = """# What the columns of a log mean. Guessed from names and first values: correct it, then
#   countmorl data import LOG --schema THIS_FILE --out log.hdf5
# Names may be wild-cards ("lab_*"), computed columns are written "name = expression". More about
# single columns stands in tables such as
#   [columns.ward]
#   kind = "category"       # number, boolean, category, scale, elapsed, hour or weekday
#   unknown = "other"       # or refuse
#   missing = "carry"       # refuse, carry, median, drop, or a value

"""


def _checked_out(out: Path | None) -> Path:
    if out is None:
        raise ConfigError("`countmorl data import` wants a file to write: --out log.hdf5.")
    if out.suffix not in ENDINGS:
        raise ConfigError(f"{out} has the ending '{out.suffix}'; wanted {', '.join(ENDINGS)}.")
    if kind_of(out) is not None:
        raise DataError(f"{out} exists already. Delete it first, or choose another name.")
    return out


def _named(logs: tuple[str, ...]) -> list[str]:
    if not logs:
        raise ConfigError("Name a log: a file, a folder or a wild-card.")
    return list(logs)


def _actions(discrete: bool, continuous: bool) -> Literal["discrete", "continuous"] | None:
    if discrete and continuous:
        raise ConfigError("Actions are --discrete or --continuous, not both.")
    return "discrete" if discrete else "continuous" if continuous else None


def _flat(words: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    return tuple(word for several in words for word in several)


def _print(found: Imported, path: Path) -> None:
    schema = found.schema
    rows = [("obs", column) for column in schema.obs] + [("action", c) for c in schema.action]
    print_table(
        ("column", "part", "kind", "numbers", "missing"),
        (
            (
                column.name,
                "exogenous" if column.name in schema.exogenous else part,
                _kind(column),
                f"{len(column.numbers)}",
                _missing(column, found.missing.get(column.name, 0)),
            )
            for part, column in rows
        ),
    )
    print()
    print_pairs(
        {
            "reward": schema.reward,
            "episodes": f"{found.episodes:,}, cut by {_cut(found)}",
            "ends": f"{found.terminated:,} terminated, {found.truncated:,} truncated",
            "action": _described(found),
            **propensity_row(found.propensity),
            "rows": f"{found.rows:,}" + (f", {found.dropped:,} dropped" if found.dropped else ""),
        }
    )
    for finding in found.findings:
        print(printable(f"{finding.level}: {finding.message}"))
    size = len(schema.obs_names)
    print(f"{found.steps:,} steps with {size} numbers of observation written to {path}")


def _kind(column: Column) -> str:
    computed = f" = {column.expression}" if column.expression else ""
    if column.values:
        shown = ", ".join(column.values[:4]) + (", ..." if len(column.values) > 4 else "")
        return f"{column.kind} ({shown}){computed}"
    return column.kind + computed


def _missing(column: Column, count: int) -> str:
    if not count:
        return ""
    filled = {"value": f"set to {column.fill:g}" if column.fill is not None else "set"}
    filled |= {"carry": "carried", "median": "set to the median", "drop": "dropped"}
    return f"{count:,} {filled[column.missing]}"


def _cut(found: Imported) -> str:
    schema = found.schema
    ways = [f"the id '{schema.episode}'"] if schema.episode else []
    ways += [f"gaps of more than {schema.gap}"] if schema.gap else []
    ways += [f"the flag '{schema.flag}'"] if schema.flag else []
    order = f"; ordered by '{schema.time}'" if schema.time else "; in the order of the table"
    return (" and ".join(ways) or "flags alone: the table is one stream") + order


def _described(found: Imported) -> str:
    if found.shares:
        listed = [f"{name} {share:.0%}" for name, share in list(found.shares.items())[:SHARES]]
        more = ", ..." if len(found.shares) > SHARES else ""
        return f"one of {len(found.shares)}: {', '.join(listed)}{more}"
    return "; ".join(
        f"{each.name} from {each.low:g} to {each.high:g} ({'given' if each.given else 'found'}; "
        f"{each.on_low:.0%} lie on the lower bound, {each.on_high:.0%} on the upper)"
        for each in found.bounds
    )
