"""`render_auto_page`: what `countmorl auto` found, as one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from countmorl.progress import duration
from countmorl.reports import page_tables as grids
from countmorl.reports.judged import gains, log_grid, opinion_grid, refusals, way_shares
from countmorl.reports.page import rendered
from countmorl.reports.page_tables import Grid, Shown, amount, words


def render_auto_page(result: Mapping[str, Any]) -> str:
    """Return the whole page, from what result.json holds."""
    figures: dict[str, Any] = {}
    shown = gains(result["judged"])
    if shown["data"]:
        figures["gains"] = shown
    if result["judged"]:
        figures["coverage"] = way_shares(result["judged"])
    taken = result["choice"]["taken"]
    content = {
        "result": result,
        "title": "A policy that is better than the log" if taken else "Keep what you have",
        "card": log_grid(result["data"]),
        "tried": _tried(result["tried"]),
        "judged": _judged(result["judged"], taken),
        "opinions": opinion_grid(result["judged"]),
        "refusals": refusals(result["judged"]),
        "notes_": list(dict.fromkeys(note for each in result["judged"] for note in each["notes"])),
        "times": (duration(result["spent"]), duration(result["budget"])),
        "figures_shown": set(figures),
    }
    return rendered("auto.html", content, figures)


def _tried(tried: Sequence[Mapping[str, Any]]) -> Grid:
    heads = ["policy", "method", "epochs", "minutes of a core", "how", "what became of it"]
    rows = []
    for each in tried:
        epochs = f"{each['done']} of {each['epochs']}" if each["epochs"] else "-"
        minutes = each["seconds"] / 60 if each["seconds"] else None
        settings = ", ".join(f"{name} {value}" for name, value in each["settings"].items())
        how = each["about"] + (f" ({settings})" if settings else "")
        rows.append(
            [
                words(each["label"]),
                words(each["algorithm"]),
                Shown(text=epochs, sort=each["done"], numeric=True),
                amount(minutes),
                words(how),
                words(each["state"]),
            ]
        )
    return grids.grid("What was tried", heads, rows)


def _judged(judged: Sequence[Mapping[str, Any]], taken: str | None) -> Grid:
    heads = ["policy", "gain at least", "unseen", "thin", "verdict"]
    rows = [
        [
            words(each["name"], bold=each["name"] == taken),
            amount(each["sure"], ".4g"),
            amount(100 * each["unseen"], ".1f", " %"),
            amount(100 * each["thin"], ".1f", " %"),
            words(each["sentence"]),
        ]
        for each in judged
    ]
    return grids.grid("How each policy was judged", heads, rows)
