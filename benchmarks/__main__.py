"""Run every benchmark (or those named), print a table, write benchmarks/results.json."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks import (
    algorithms,
    bundle,
    codes,
    importing,
    judging,
    learning,
    loading,
    memory,
    sweeps,
)
from benchmarks.measure import Result, show

SUITES = {
    "loading": loading.run,
    "importing": importing.run,
    "learning": learning.run,
    "algorithms": algorithms.run,
    "codes": codes.run,
    "judging": judging.run,
    "memory": memory.run,
    "sweeps": sweeps.run,
    "bundle": bundle.run,
}
OUT = Path(__file__).parent / "results.json"


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in SUITES]
    if unknown:
        print(f"No benchmark named {unknown[0]}. Known: {', '.join(SUITES)}.", file=sys.stderr)
        return 2
    results: list[Result] = []
    for name in names or SUITES:
        print(f"{name} ...", file=sys.stderr, flush=True)
        results += SUITES[name]()
    show(results)
    measured = {result.name for result in results}
    before = json.loads(OUT.read_text()) if OUT.exists() else []
    kept = [row for row in before if row["name"] not in measured]  # Of suites not named now.
    rows = kept + [result.as_dict() for result in results]
    OUT.write_text(json.dumps(rows, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
