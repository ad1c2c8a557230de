"""`countmorl doctor`: is this installation sound?"""

from __future__ import annotations

from countmorl.cli.output import print_json, print_pairs
from countmorl.doctor import examine


def doctor(json: bool = False) -> int:
    """Say what is installed, where caches lie, and whether a small training works here.

    Args:
        json: Print JSON.
    """
    report = examine()
    if json:
        print_json(report)
    else:
        for title, pairs in report.items():
            if isinstance(pairs, dict):
                print(f"{title}:")
                print_pairs({f"  {name}": value for name, value in pairs.items()})
        print("Everything works." if report["ok"] else "Something is broken; see above.")
    return 0 if report["ok"] else 1
