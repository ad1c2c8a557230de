"""`Dossier`: everything that one run's folder holds for whoever is to use its policy."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from countmorl.disk import read_bytes
from countmorl.json_files import MOST_BYTES, parse_json
from countmorl.reports.facts import RunFacts, read_facts
from countmorl.runs.folder import Run

CARD_FILE = "card.json"
KEPT = {
    "card": (CARD_FILE, "countmorl report RUN -o PAGE"),
    "coverage": ("coverage.json", "countmorl coverage RUN"),
    "judgement": ("judgement.json", "countmorl judge RUN"),
    "guard": ("guard/curve.json", "countmorl guard RUN"),
}
"""Parts of a run that are asked for: where each lies, and by which command it comes."""


@dataclass(frozen=True, kw_only=True)
class Dossier:
    """One run, as it was trained and as it was asked about since."""

    run: Run
    facts: RunFacts
    parts: Mapping[str, Mapping[str, Any]]
    """What was asked for and is there."""
    older: tuple[str, ...]
    """Parts that are of an earlier policy of the run."""

    @property
    def missing(self) -> list[str]:
        """Parts that nobody has asked for."""
        return [name for name in KEPT if name not in self.parts]

    def path(self, part: str) -> Path:
        """Where a part lies."""
        return self.run.path / KEPT[part][0]

    def command(self, part: str) -> str:
        """The command that makes a part."""
        return KEPT[part][1].replace("RUN", str(self.run.path))


def read_dossier(run: Run) -> Dossier:
    """Read a run and whatever it was asked; what is damaged is a `RunError`."""
    digest = None
    if run.policy_path.exists():
        digest = hashlib.sha256(read_bytes(run.policy_path, MOST_BYTES)).hexdigest()
    parts, older = {}, []
    for name, (file, _) in KEPT.items():
        path = run.path / file
        if path.exists():
            parts[name] = parse_json(path, lambda v: isinstance(v, dict), "what a command kept")
            told = parts[name].get("policy")
            if told is not None and told != digest:
                older.append(name)
    return Dossier(run=run, facts=read_facts(run), parts=parts, older=tuple(older))
