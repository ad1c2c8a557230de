"""`render_run_page`: one run for whoever is to use its policy, as one HTML file.

The log, how the policy was judged, where it leaves the data, whether counts notice, what a guard
costs, and what a monitor compares with. What nobody has asked for yet is named with its command.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from countmorl.errors import RunError
from countmorl.reports import charts, judged
from countmorl.reports import run_figures as drawn
from countmorl.reports import run_tables as tables
from countmorl.reports.curves import panels
from countmorl.reports.dossier import Dossier
from countmorl.reports.figures import LABELS
from countmorl.reports.groups import group, say
from countmorl.reports.page import rendered
from countmorl.reports.page_tables import grid, words

Section = dict[str, Any]
NAMES = {
    "card": "what the log is and what a monitor compares with",
    "coverage": "where its policy leaves the data",
    "judgement": "whether its policy is better than the log",
    "guard": "who acts where its policy leaves the data",
}


def render_run_page(dossier: Dossier) -> str:
    """Return the whole page; the same run, asked the same, gives the same bytes."""
    figures: dict[str, Any] = {}
    found = {
        name: _section(dossier, name, make, figures)
        for name, make in (
            ("card", _card),
            ("judgement", _judgement),
            ("coverage", _coverage),
            ("guard", _guard),
        )
    }
    manifest = dossier.facts.manifest
    settings = [[words(name), words(say(value))] for name, value in manifest.flat_config.items()]
    content = {
        "run": str(dossier.run.path),
        "name": dossier.facts.summary.name,
        "manifest": manifest,
        "lead": _lead(dossier),
        "notes_": _notes(dossier),
        **found,
        "calibration": _calibration(dossier, figures),
        "curve": _curve(dossier, figures),
        "progress": dossier.facts.progress,
        "settings": grid("Settings", ["setting", "value"], settings),
        "figures_shown": set(figures),
    }
    return rendered("run.html", content, figures)


def _section(
    dossier: Dossier,
    name: str,
    make: Callable[[Mapping[str, Any], dict[str, Any]], Section],
    figures: dict[str, Any],
) -> Section | None:
    """A part of the page; None where nobody asked for it."""
    part = dossier.parts.get(name)
    if part is None:
        return None
    try:
        return make(part, figures)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise RunError(
            f"{dossier.path(name)} is damaged: {error!r}. Remove it, and ask again: "
            f"{dossier.command(name)}"
        ) from error


def _lead(dossier: Dossier) -> str:
    judgement = dossier.parts.get("judgement")
    if judgement is None or "judgement" in dossier.older:
        return "Nobody has judged this policy yet."
    return f"The policy {_told(str(judgement.get('sentence', '')))}"


def _told(sentence: str) -> str:
    """A verdict as it follows on its subject."""
    return sentence if sentence.startswith("cannot") else f"is {sentence}"


def _notes(dossier: Dossier) -> list[str]:
    """What a reader should know first."""
    found = []
    if not dossier.facts.summary.finished:
        found.append(f"The training is not finished: {dossier.facts.progress}.")
    for name in dossier.older:
        found.append(
            f"The run was trained on since it was told {NAMES[name]}; ask again: "
            f"{dossier.command(name)}"
        )
    for name in dossier.missing:
        found.append(f"Nobody has asked {NAMES[name]}: {dossier.command(name)}")
    return found


def _card(part: Mapping[str, Any], figures: dict[str, Any]) -> Section:
    log, watch = part["log"], part["watch"]
    found = [{name: str(each[name]) for name in ("level", "message")} for each in log["findings"]]
    return {
        "card": judged.log_grid(log),
        "held": str(log["held"]),
        "notes": _texts(log["notes"]),
        "columns": tables.column_grid(log["columns"]),
        "findings": found,
        "rows": f"{watch['rows']:,}",
        "episodes": f"{watch['episodes']:,} {'blocks' if watch['blocks'] else 'episodes'}",
        "reward": f"{watch['reward']:.4g}",
        "watched": tables.watch_grid(watch),
        "false_alarms": f"{100 * watch['false_alarms']:g} %",
    }


def _judgement(part: Mapping[str, Any], figures: dict[str, Any]) -> Section:
    # The only policy: its folder's name would say nothing.
    policy = {**part, "name": "the policy"}
    shown = judged.gains([policy])
    if shown["data"]:
        figures["gains"] = shown
    return {
        "verdict": part["verdict"],
        "sentence": _told(part["sentence"]),
        "unseen": f"{100 * part['unseen']:.1f} %",
        "thin": f"{100 * part['thin']:.1f} %",
        "opinions": judged.opinion_grid([policy]),
        "refusals": judged.refusals([policy]),
        "notes": _texts(part["notes"]),
    }


def _coverage(part: Mapping[str, Any], figures: dict[str, Any]) -> Section:
    if part["ways"]:
        figures["ways"] = drawn.shares_by_step(part["ways"])
    by = {"neighbours": "distances to logged rows", "codes": "the run's codes"}
    return {
        "density": tables.density_grid(part["density"]),
        "regions": tables.region_grid(part["untried"], part["situations"]),
        "ways": tables.way_grid(part["ways"]),
        "ways_by": by.get(part["ways_by"], ""),
        "ways_out": tables.way_out_grid(part["ways_out"]),
        "log_next": tables.wanted_grid(part["log_next"]),
        "valued_by": part["valued_by"],
        "notes": _texts(part["notes"]),
    }


def _guard(part: Mapping[str, Any], figures: dict[str, Any]) -> Section:
    settings, points = part["settings"], part["points"]
    figures["guard-rates"] = drawn.guard_rates(points)
    values = drawn.guard_values(points)
    if values["data"]:
        figures["guard-values"] = values
    back = {
        "clone": "a clone of whoever logged the data acts",
        "fixed": f"the action {settings['fixed']} is taken",
        "hold": "the last action is held",
        "abstain": "nobody acts",
    }
    counts = {"neighbours": "logged rows near to it", "codes": "logged pairs of its code"}
    return {
        "sentence": (
            f"Where what the policy wants to do has fewer than {settings['threshold']:.4g} "
            f"{counts[settings['counts']]}, {back[settings['fall_back']]}, for "
            f"{settings['dwell']:,} step{'s' if settings['dwell'] > 1 else ''} at least."
        ),
        "points": tables.guard_grid(points, part["chosen"]),
        "judged": {name: str(each["sentence"]) for name, each in part["judgements"].items()},
        "notes": _texts(part["notes"]),
    }


def _texts(found: Any) -> list[str]:
    """Sentences out of a file."""
    if not isinstance(found, list):
        raise TypeError(f"sentences are no list but {found!r}")
    return [str(each) for each in found]


def _calibration(dossier: Dossier, figures: dict[str, Any]) -> Section | None:
    found = dossier.facts.calibration
    if found is None:
        return None
    figures["errors"] = drawn.error_by_count(found)
    return {"verdict": found.verdict, "noticed": tables.calibration_grid(found)}


def _curve(dossier: Dossier, figures: dict[str, Any]) -> str | None:
    """How the policy did in its simulator, where there was one; what it was judged by."""
    study = group([dossier.facts])
    shown = panels(study)
    if not shown:
        return None
    figures["curve"] = charts.learning_curves(shown[0], charts.style(study.methods))
    return LABELS[shown[0].measure]
