"""Tables of scores as text: CSV, LaTeX with booktabs, Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence

from countmorl.reports.figures import LABELS
from countmorl.reports.groups import Study
from countmorl.reports.scores import Cell, ScoreTable
from countmorl.runs.records import Measure

LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "±": r"$\pm$",
        "†": r"\textsuperscript{\textdagger}",
        "‡": r"\textsuperscript{\textdaggerdbl}",
        **{each: f"\\{each}" for each in "&%$#_{}"},
    }
)
MARKDOWN = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", **{each: f"\\{each}" for each in "\\`*_[]|~$"}}
)
FORMULA = ("=", "+", "-", "@")
"""A cell that begins so is a formula to a spreadsheet, which would act on a name."""
COLUMNS = "measure protocol data hash method mean spread seeds unfinished".split()


def number(value: float, measure: Measure = "score") -> str:
    """A score with one decimal, a judged value with four digits."""
    return f"{value:.4g}" if measure == "value" else f"{value:.1f}"


def plain(cell: Cell | None, measure: Measure, sign: str = "±") -> str:
    """Mean and spread, or a dash where there is none."""
    if cell is None:
        return "-"
    told = number(cell.mean, measure)
    return told if cell.spread is None else f"{told} {sign} {number(cell.spread, measure)}"


def to_csv(tables: Sequence[ScoreTable], study: Study) -> str:
    """One line per method and dataset, numbers unrounded."""
    hashes = {data.label: data.hash for data in study.data}
    file = io.StringIO()
    lines = csv.writer(file, lineterminator="\n")
    lines.writerow(COLUMNS)
    for table in tables:
        for (method, data), cell in sorted(table.cells.items(), key=lambda each: each[0][::-1]):
            names = (data, hashes[data], method)
            spread = "" if cell.spread is None else repr(cell.spread)
            numbers = (repr(cell.mean), spread, len(cell.values), cell.unfinished)
            lines.writerow([table.measure, table.protocol, *map(_harmless, names), *numbers])
    return file.getvalue()


def to_latex(tables: Sequence[ScoreTable]) -> str:
    """One table per measure, for a paper that loads booktabs."""
    return "\n".join(_latex(table) for table in tables)


def to_markdown(tables: Sequence[ScoreTable]) -> str:
    """One table per measure."""
    return "\n".join(_markdown(table) for table in tables)


def score_lines(table: ScoreTable) -> list[list[str]]:
    """The head and the lines of a table, for a terminal; what is bold elsewhere has a star."""

    def show(cell: Cell | None) -> str:
        return (
            plain(cell, table.measure) + _extra(table, cell) + ("*" if cell and cell.bold else "")
        )

    return _rows(table, str, show)


def caption(table: ScoreTable, best: str = "Bold") -> str:
    """What the numbers are, in a sentence or two; `best` is how the best are marked."""
    told = f"{LABELS[table.measure].capitalize()}, {table.title}: "
    told += f"mean and standard deviation over {seeds_said(table)}"
    told += f". {best}: within 2 % of the best."
    waits = any(cell.unfinished for cell in table.cells.values())
    told += " †: with unfinished runs." if waits else ""
    kept = any(cell.kept_log for cell in table.cells.values())
    return f"{told} ‡: nothing was shown to be better than the log, which stands." if kept else told


def seeds_said(table: ScoreTable) -> str:
    """Over how many seeds the numbers of a table are."""
    if table.seeds is None:
        return "seeds (their number in brackets)"
    return "1 seed, which has no deviation" if table.seeds == 1 else f"{table.seeds} seeds"


def _harmless(name: str) -> str:
    return f"'{name}" if name.startswith(FORMULA) else name


def _latex(table: ScoreTable) -> str:
    def show(cell: Cell | None) -> str:
        inner = plain(cell, table.measure, r"\pm")
        inner = rf"\mathbf{{{inner}}}" if cell and cell.bold else inner
        return f"${inner}${_in_latex(_extra(table, cell))}" if cell else "--"

    rows = [r" & ".join(row) + r" \\" for row in _rows(table, _in_latex, show)]
    return "\n".join(
        [
            r"% \usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_in_latex(caption(table))}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(table.methods) + bool(table.log))}}}",
            r"\toprule",
            rows[0],
            r"\midrule",
            *rows[1:],
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _markdown(table: ScoreTable) -> str:
    def show(cell: Cell | None) -> str:
        inner = plain(cell, table.measure)
        return (f"**{inner}**" if cell and cell.bold else inner) + _extra(table, cell)

    head, *rows = (f"| {' | '.join(row)} |" for row in _rows(table, _in_markdown, show))
    line = f"|---|{'---:|' * (len(table.methods) + bool(table.log))}"
    return "\n".join([f"{_in_markdown(caption(table))}\n", head, line, *rows, ""])


def _rows(
    table: ScoreTable, name: Callable[[str], str], show: Callable[[Cell | None], str]
) -> list[list[str]]:
    """The head, then a line per dataset."""
    head = ["data", *(["the log"] if table.log else []), *map(name, table.methods)]
    lines = [
        [
            name(d),
            *([_log(table, d)] if table.log else []),
            *(show(table.cells.get((m, d))) for m in table.methods),
        ]
        for d in table.data
    ]
    return [head, *lines]


def _log(table: ScoreTable, data: str) -> str:
    """What the log itself has."""
    return number(table.log[data], table.measure) if data in table.log else "-"


def _extra(table: ScoreTable, cell: Cell | None) -> str:
    """What stands behind a number: its seeds where they are not the same for all, and a mark."""
    if cell is None:
        return ""
    count = f" ({len(cell.values)})" if table.seeds is None else ""
    return count + ("†" if cell.unfinished else "") + ("‡" if cell.kept_log else "")


def _in_latex(text: str) -> str:
    return text.translate(LATEX)


def _in_markdown(text: str) -> str:
    return text.translate(MARKDOWN)
