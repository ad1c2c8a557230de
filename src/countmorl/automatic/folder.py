"""`AutoFolder`: what one `countmorl auto` keeps, so that it can go on at any moment.

auto.json      what was asked for, what a timing told, how long it has taken so far
runs/          the portfolio, as the folder of a sweep
judgements/    what was found out about each policy
result.json    what came of it
policy.safetensors   the policy to take, or the clone of the log
report.html    all of it on a page
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from countmorl.disk import explained_read, explained_write
from countmorl.errors import ConfigError, RunError
from countmorl.files import write_text
from countmorl.json_files import parse_json
from countmorl.runs.lock import LOCK, BusyError, hold_lock
from countmorl.runs.place import LEFTOVER, drop_leftovers, refuse_links
from countmorl.runtime.files import POLICY_FILE
from countmorl.sweeps.folder import SweepFolder
from countmorl.sweeps.rows import slug
from countmorl.sweeps.trials import Cost

STATE, RESULT, PAGE = "auto.json", "result.json", "report.html"
FORMAT = 1
MOST, MOST_TRIED = 1e12, 1_000
"""What no number of a state is above, and no count of policies."""


@dataclass(frozen=True)
class AutoFolder:
    """One folder on disk."""

    path: Path

    @property
    def runs(self) -> SweepFolder:
        """The portfolio."""
        return SweepFolder(self.path / "runs")

    @property
    def policy_path(self) -> Path:
        """The policy to take."""
        return self.path / POLICY_FILE

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Make the folder, or go on in it, and keep others out."""
        with explained_write(self.path / LOCK):
            self.path.mkdir(parents=True, exist_ok=True)
        self._check_ours()
        try:
            with hold_lock(self.path):
                drop_leftovers(self.path)
                yield
        except BusyError as error:
            raise RunError(
                f"Another `countmorl auto` works in {self.path}. Wait for it."
            ) from error

    def _check_ours(self) -> None:
        with explained_read(self.path):
            names = {each.name for each in self.path.iterdir()}
        if STATE in names:
            refuse_links(self.path)
            return
        if others := sorted(n for n in names if n != LOCK and not LEFTOVER.fullmatch(n)):
            raise RunError(
                f"{self.path} holds other things ({', '.join(others[:3])}), and no {STATE} to go "
                "on from. Choose another folder with --out."
            )

    def state(self, ask: Mapping[str, Any]) -> dict[str, Any]:
        """What is known so far; a folder that was begun by another command is refused."""
        path = self.path / STATE
        if not path.exists():
            return {"format": FORMAT, "ask": dict(ask), "spent": 0.0}
        found = parse_json(path, is_state, "the state of a `countmorl auto`")
        if changed := sorted(k for k in ask if found["ask"].get(k) != ask[k]):
            said = "; ".join(f"{k} was {found['ask'].get(k)} and is {ask[k]}" for k in changed[:3])
            raise ConfigError(
                f"{self.path} was begun by another command: {said}. Repeat that one to go on, or "
                "choose another folder with --out."
            )
        return found

    def write_state(self, state: Mapping[str, Any]) -> None:
        """Keep what is known so far."""
        write_text(self.path / STATE, json.dumps(state, indent=1) + "\n")

    def forget(self) -> None:
        """Leave the folder as blank as it was."""
        with explained_write(self.path):
            (self.path / STATE).unlink(missing_ok=True)

    def judgement(self, name: str) -> dict[str, Any] | None:
        """What was found out about a policy, if anything was."""
        path = self._judgement_path(name)
        if not path.exists():
            return None
        return parse_json(path, lambda v: isinstance(v, dict) and "verdict" in v, "a judgement")

    def write_judgement(self, name: str, values: Mapping[str, Any]) -> None:
        """Keep what was found out about a policy."""
        write_text(self._judgement_path(name), json.dumps(values, indent=1) + "\n")

    def write_result(self, result: Mapping[str, Any]) -> None:
        """Keep what came of it."""
        write_text(self.path / RESULT, json.dumps(result, indent=1) + "\n")

    def _judgement_path(self, name: str) -> Path:
        return self.path / "judgements" / f"{slug(name)}.json"


def is_state(value: Any) -> bool:
    """Whether a state can be gone on from: what was decided, it holds whole or not at all."""
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        return False
    decided = "scale" in value
    numbers = {"spent": True, "pull": decided, "scale": decided, "seconds": decided}
    if not all(_is_amount(value[k]) if k in value else not need for k, need in numbers.items()):
        return False
    tried = value.get("tried", 0 if decided else 1)
    if type(tried) is not int or not 1 <= tried <= MOST_TRIED:
        return False
    if decided and not _are_costs(value.get("costs")):
        return False
    return isinstance(value.get("ask"), dict) and 0 <= value.get("scale", 0) <= 1


def _are_costs(value: Any) -> bool:
    """Whether these are the costs of methods, by their names."""
    names = {each.name for each in fields(Cost)}
    return isinstance(value, dict) and all(
        isinstance(cost, dict)
        and {"update"} <= set(cost) <= names
        and all(map(_is_amount, cost.values()))
        for cost in value.values()
    )


def _is_amount(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value <= MOST
