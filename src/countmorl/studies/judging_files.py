"""The study of judging as files: every policy (CSV), every table (Markdown), all marks as JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from countmorl.evaluation.base import Estimate
from countmorl.files import write_text
from countmorl.studies.judging_records import Field, Tried
from countmorl.studies.judging_tables import COLUMNS, ESTIMATORS, Mark, marks, summed

Tables = dict[str, list[Mark]]
KINDS = {True: "development: the rules were chosen on these", False: "held out"}


def tables(fields: Sequence[Field]) -> Tables:
    """Marks of every log, then of those that rules were chosen on and of the others, apart."""
    found = {each.name: marks(each) for each in fields}
    for development, title in KINDS.items():
        some = [m for f in fields if f.development is development for m in found[f.name]]
        count = sum(f.development is development for f in fields)
        if some:
            found[f"{title} ({count} logs)"] = summed(some, title)
    return found


def as_json(fields: Sequence[Field]) -> dict[str, Any]:
    """Everything, for scripts."""
    return {
        "tables": {name: [asdict(mark) for mark in some] for name, some in tables(fields).items()},
        "policies": [row for field in fields for row in map(_row(field), field.tried)],
        "logs": [
            {
                "data": f.name,
                "development": f.development,
                **asdict(f.log),
                "points": f.points(None),
            }
            for f in fields
        ],
    }


def write(fields: Sequence[Field], out: Path) -> list[Path]:
    """Write policies.csv and tables.md."""
    rows = [row for field in fields for row in map(_row(field), field.tried)]
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(out / "policies.csv", text.getvalue())
    write_text(out / "tables.md", markdown(fields))
    return [out / "policies.csv", out / "tables.md"]


def markdown(fields: Sequence[Field]) -> str:
    """Every table."""
    parts = []
    for name, some in tables(fields).items():
        head = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}"
        lines = [f"| {' | '.join(cell(mark) for cell in COLUMNS.values())} |" for mark in some]
        parts.append("\n".join([f"### {name}\n", head, *lines]))
    return "\n\n".join(parts) + "\n"


def _row(field: Field) -> Any:
    """One policy as a row of the CSV file."""

    def row(tried: Tried) -> dict[str, Any]:
        found = {
            "data": field.name,
            "development": field.development,
            "policy": tried.name,
            "last": tried.last,
            "truth": tried.truth.value,
            "truth_error": tried.truth.error,
            "points": field.points(tried.truth),
            "log": field.log.value,
            "log_points": field.points(None),
            "verdict": tried.judgement.verdict,
            "gain_low": tried.judgement.gain and tried.judgement.gain[0],
            "gain_high": tried.judgement.gain and tried.judgement.gain[1],
            "unseen": tried.judgement.way.unseen,
            "q": tried.q,
        }
        for name in ESTIMATORS:
            said = tried.judgement.opinions.get(name)
            value = said.value if isinstance(said, Estimate) else None
            low, high = (isinstance(said, Estimate) and said.interval) or (None, None)
            found |= {name: value, f"{name} low": low, f"{name} high": high}
        return found

    return row
