"""`countmorl figures RUN`: pictures of one run."""

from __future__ import annotations

from countmorl.cli.output import RunFolder, print_json
from countmorl.reports.figures import draw_all
from countmorl.runs.folder import Run


def figures(run: RunFolder, json: bool = False) -> int:
    """Draw a run's learning curve, the coverage of its rollouts, and its counts' calibration.

    Args:
        run: The run's folder; the PNG files go there.
        json: Print JSON.
    """
    paths = [str(path) for path in draw_all(Run.open(run))]
    print_json({"figures": paths}) if json else print("\n".join(paths))
    return 0
