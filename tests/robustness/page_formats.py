"""What a run was asked and its page shows, for the fuzzer."""

import json
from collections.abc import Callable
from pathlib import Path

from countmorl.reports.dossier import KEPT, read_dossier
from countmorl.reports.run_page import render_run_page
from countmorl.runs.folder import Run
from made_dossier import asked_run
from robustness.damage import by_bytes, by_json
from robustness.format import Format

FILES = {"config": "config.json", **{name: file for name, (file, _) in KEPT.items()}}


def part_of_page(name: str) -> Callable[[Path], Path]:
    """A run that was asked everything, of which one answer is damaged."""
    return lambda folder: asked_run(folder / "run").path / FILES[name]


def _refused(word: str) -> float:
    raise ValueError(f"{word} is no JSON")


def read_page(path: Path) -> None:
    """Make the run's page; its figures are JSON that no browser stumbles over."""
    folder = next(each for each in path.parents if each.name == "run")
    page = render_run_page(read_dossier(Run.open(folder)))
    figures = page.split('id="figures">', 1)[1].split("</script>", 1)[0]
    assert isinstance(json.loads(figures, parse_constant=_refused), dict)


PAGE_FORMATS = {
    f"page-{name}": Format(part_of_page(name), read_page, (by_bytes, by_json, by_json))
    for name in FILES
}
