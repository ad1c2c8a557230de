"""What `countmorl choose` took, kept in every run that it looked at, for reports to read."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from countmorl.configs import from_json
from countmorl.errors import ConfigError, RunError
from countmorl.files import write_text
from countmorl.json_files import parse_json

CHOICE_FILE = "choice.json"


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """A choice among policies of one log, as seen from one of their runs."""

    policies: int
    """How many were looked at."""
    taken: bool
    """Whether a policy of this run was taken."""
    epoch: int | None = None
    """Which one: of that epoch, or the run's last where it is None."""
    kept_log: bool = False
    """Whether none was, so that what one has is to be kept."""
    log_return: float | None = None
    """What the log itself earned, an episode."""
    log_score: float | None = None
    """The same in points, where the task has references."""
    sentence: str = ""

    def write(self, folder: Path) -> None:
        """Keep it in a run."""
        write_text(folder / CHOICE_FILE, json.dumps(asdict(self), indent=2) + "\n")

    @classmethod
    def read(cls, folder: Path) -> Chosen | None:
        """What a run holds; None where nothing was chosen; what is damaged is a `RunError`."""
        path = folder / CHOICE_FILE
        if not path.exists():
            return None
        values = parse_json(path, lambda v: isinstance(v, dict), "what was chosen")
        try:
            return from_json(cls, values)
        except ConfigError as error:
            raise RunError(f"{path} does not hold what was chosen: {error}") from error
