"""`render_page`: a report as one HTML file that needs nothing else: no network, no server."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from countmorl.extras import require
from countmorl.reports import charts
from countmorl.reports import page_tables as grids
from countmorl.reports.costs import SHARED_LABEL, costs, counted
from countmorl.reports.curves import panels
from countmorl.reports.figures import LABELS
from countmorl.reports.page_tables import Grid
from countmorl.reports.report import Report
from countmorl.reports.scores import MEASURES
from countmorl.reports.settings import settings_of, versions_of

TEMPLATES = Path(__file__).parent / "templates"
OPEN_SETTINGS = 12
"""So many settings that differ are shown without a click."""


def render_page(report: Report) -> str:
    """Return the whole page; the same runs give the same bytes."""
    figures: dict[str, Any] = {}
    content = {
        "title": _title(report),
        "report": report,
        "labels": LABELS,
        "shared_label": SHARED_LABEL,
        **_what_was_run(report),
        **_scores(report),
        **_curves(report, figures),
        **_over_tasks(report, figures),
        **_costs(report),
    }
    return rendered("report.html", content, figures)


def rendered(template: str, content: Mapping[str, Any], figures: Mapping[str, Any]) -> str:
    """A whole page: a template with its content, and figures by the names of their places."""
    jinja = require("jinja2")
    script = require("plotly.offline").get_plotlyjs()
    environment = jinja.Environment(
        loader=jinja.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template(template)
    return page.render(**content, plotly=script, figures=embedded(figures))


def embedded(value: Any) -> str:
    """JSON that can stand in a page: no text in it can end a script or begin a comment."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _title(report: Report) -> str:
    count = len(report.study.runs)
    return f"{count} run{'s' if count != 1 else ''} side by side"


def _what_was_run(report: Report) -> dict[str, Any]:
    study, settings = report.study, settings_of(report.study)
    versions, differ = versions_of([*study.runs, *report.found.shared])
    differing = [[name, *values] for name, values in settings.differing.items()]
    return {
        "methods": grids.method_grid(study),
        "data": grids.data_grid(study),
        "versions": versions,
        "versions_differ": differ,
        "shared": _texts("Shared settings", ["setting", "value"], settings.shared.items()),
        "differing": _texts("Settings that differ", ["setting", *study.methods], differing),
        "open_settings": len(differing) <= OPEN_SETTINGS,
        "runs": grids.run_grid(study, report.last),
    }


def _scores(report: Report) -> dict[str, Any]:
    """Tables by measure, each with its protocols; the paper's numbers."""
    found = {
        measure: [
            (table, grids.score_grid(table)) for table in report.tables if table.measure == measure
        ]
        for measure in MEASURES
    }
    told = report.beside
    return {
        "measures": {measure: tables for measure, tables in found.items() if tables},
        "paper": grids.paper_grid(told.pairs) if told.pairs else None,
        "paper_notes": told.notes,
    }


def _curves(report: Report, figures: dict[str, Any]) -> dict[str, Any]:
    styles, shown = charts.style(report.study.methods), []
    for number, panel in enumerate(panels(report.study)):
        figures[f"curve-{number}"] = charts.learning_curves(panel, styles)
        shown.append((f"curve-{number}", panel))
    return {"curves": shown}


def _over_tasks(report: Report, figures: dict[str, Any]) -> dict[str, Any]:
    """Statistics over tasks, where there is anything to say: a table of scores and some methods."""
    found = report.aggregates
    if found is None:
        return {"aggregates": None, "overall": None, "improvement": None}
    styles, methods = charts.style(report.study.methods), report.study.methods
    if found.overall:
        figures["iqm"] = charts.interquartile_means(found, styles)
        figures["profiles"] = charts.profiles(found, styles)
    if found.improvements:
        judged = {each.better for each in found.improvements}
        shown = [method for method in methods if method in judged]
        figures["improvement"] = charts.improvements(found, shown)
    return {
        "aggregates": found,
        "overall": grids.overall_grid(found) if found.overall else None,
        "improvement": grids.improvement_grid(found) if found.improvements else None,
    }


def _costs(report: Report) -> dict[str, Any]:
    told = counted(report.study)
    return {
        "costs": grids.cost_grid(costs(report.study, report.found.shared)),
        "counted": grids.counted_grid(told) if told else None,
    }


def _texts(name: str, heads: Sequence[str], rows: Any) -> Grid:
    return grids.grid(name, heads, [[grids.words(text) for text in row] for row in rows])
