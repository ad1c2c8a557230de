"""`countmorl demo`: minutes, no download."""

from __future__ import annotations

from pathlib import Path

from countmorl.cli.output import print_json, print_pairs
from countmorl.demo import demo as run_demo


def demo(out: Path = Path("runs/demo"), json: bool = False) -> int:
    """Count-MORL on data that ships with the package: a few minutes, no download.

    Args:
        out: Folder for the two runs and the figures; an earlier demo there is replaced.
        json: Print the three scores and the paths as JSON on the last line.
    """
    result = run_demo(out)
    if json:
        print_json(result)
        return 0
    print("\nReturn on Pendulum-v1 (higher is better, 0 is best):")
    print_pairs(
        {
            "  the data's behaviour": f"{result['behaviour']:.0f}",
            "  behaviour cloning": f"{result['bc']:.0f}",
            "  Count-MORL": f"{result['count_morl']:.0f}",
        }
    )
    print(f"Run: {result['run']}")
    for path in result["figures"]:
        print(f"Figure: {path}")
    return 0
