"""`countmorl report`: tables, curves and statistics of many runs; or all that is known of one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import tyro
from rich.markup import escape
from tyro.conf import Positional

from countmorl.cli.output import print_json, print_table
from countmorl.errors import ConfigError, printable
from countmorl.extras import require
from countmorl.files import check_ending, write_text
from countmorl.reports.drawings import draw_report
from countmorl.reports.page import render_page
from countmorl.reports.report import Report, make_report
from countmorl.reports.run_page import render_run_page
from countmorl.reports.texts import caption, score_lines, to_csv, to_latex, to_markdown
from countmorl.runs.folder import CONFIG, Run
from countmorl.runs.summary import LAST

Runs = Annotated[Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RUN")]
Out = Annotated[Path | None, tyro.conf.arg(aliases=["-o"])]


def report(
    runs: Runs,
    out: Out = None,
    csv: Path | None = None,
    latex: Path | None = None,
    markdown: Path | None = None,
    figures: Path | None = None,
    protocol: str = "last",
    last: int = LAST,
    data: str | None = None,
    ask: bool = False,
    json: bool = False,
) -> int:
    """Sum up many runs: scores by method and data, learning curves, statistics, time and memory.

    The HTML page holds everything and opens without a network. Without a file to write, the table
    of scores is printed. Of a single run, named by its own folder, the page is for whoever is to
    use its policy: the log, how the policy was judged, where it leaves the data, whether counts
    notice, what a guard costs, what a monitor sees; what was not asked yet is named.

    Args:
        runs: Folders of runs, or folders that hold them one or two levels below.
        out: HTML file to write the page into.
        csv: CSV file for the table of scores.
        latex: TEX file for the table of scores (booktabs).
        markdown: MD file for the table of scores.
        figures: Folder to draw figures for a paper into, as PNG and SVG.
        protocol: How evaluations become a number in tables and statistics: last, the mean of the
            last ones; best, the best one, which looks at the simulator; or offline, that of the
            policy that countmorl choose took of all methods.
        last: Evaluations, from the end, whose mean is a run's score.
        data: Where a single run's log lies now, if it has moved.
        ask: Of a single run, ask first for what is missing on its page: coverage, a judgement, a
            guard. It takes minutes, and what is found is kept in the run.
        json: Print JSON: every table, statistics, notes.
    """
    texts = {"--out": out, "--csv": csv, "--latex": latex, "--markdown": markdown}
    _check(texts, figures, last)
    alone = _alone(runs) if out else None
    if alone is None and (ask or data):
        raise ConfigError("--ask and --data are for the page of one run: report RUN -o PAGE.html.")
    made = make_report(runs, last=last, protocol=protocol)
    for sentence in made.warnings:
        print(f"countmorl: {printable(sentence)}", file=sys.stderr)
    page = None if alone is None else _page(alone, data, ask)
    written = _write(made, texts, page)
    written += list(map(str, draw_report(made, figures))) if figures else []
    if json:
        print_json(made.as_dict() | {"written": written})
    elif written:
        print("\n".join(f"Written: {path}" for path in written))
    else:
        _print(made)
    return 0


ENDINGS = {
    "--out": (".html", ".htm"),
    "--csv": (".csv",),
    "--latex": (".tex",),
    "--markdown": (".md",),
}


def _check(texts: dict[str, Path | None], figures: Path | None, last: int) -> None:
    """Refuse what cannot be written before any run is read."""
    if last < 1:
        raise ConfigError(f"`--last` must be at least 1, got {last}.")
    for option, path in texts.items():
        if path is not None:
            check_ending(path, ENDINGS[option])
            if path.is_dir():
                raise ConfigError(f"`{option}` is a folder: {path}; wanted the name of a file.")
    if figures is not None and figures.exists() and not figures.is_dir():
        raise ConfigError(f"`--figures` is a file: {figures}; wanted the name of a folder.")


def _alone(runs: tuple[Path, ...]) -> Run | None:
    """The one run that was named, where it has trained a policy."""
    if len(runs) != 1 or not (runs[0] / CONFIG).is_file():
        return None
    run = Run.open(runs[0])
    return run if run.policy_path.exists() else None


def _page(run: Run, data: str | None, everything: bool) -> str:
    """The page of one run."""
    from countmorl.asking import ask

    require("jinja2")  # Better missed now than after minutes.
    require("plotly")
    say = lambda text: print(text, "...", file=sys.stderr, flush=True)  # noqa: E731
    dossier, problems = ask(run, data=data, everything=everything, say=say)
    for sentence in problems:
        print(f"countmorl: {printable(sentence)}", file=sys.stderr)
    return render_run_page(dossier)


def _write(made: Report, texts: dict[str, Path | None], page: str | None) -> list[str]:
    makers = {
        "--out": lambda: render_page(made) if page is None else page,
        "--csv": lambda: to_csv(made.chosen, made.study),
        "--latex": lambda: to_latex(made.chosen),
        "--markdown": lambda: to_markdown(made.chosen),
    }
    # All are made before the first is written: a missing package leaves nothing half done.
    ready = {path: makers[option]() for option, path in texts.items() if path is not None}
    for path, text in ready.items():
        write_text(path, text)
    return list(map(str, ready))


def _print(made: Report) -> None:
    for table in made.chosen:
        print(printable(caption(table, best="*")))
        head, *rows = score_lines(table)
        print_table(map(escape, head), [map(escape, row) for row in rows])
    if not made.chosen:
        print("No run was evaluated, so there is no table of scores.")
    told = [note for note in made.notes if note not in made.warnings]
    if told:
        print(printable("\n".join(told)))
