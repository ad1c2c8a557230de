"""`countmorl export RUN -o DIR`: a policy, its counts and its guard as one folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import tyro

from countmorl.cli.output import RunFolder, print_json
from countmorl.export.bundle import ExportConfig, load_bundle
from countmorl.export.bundle import export as export_run

Flat = tyro.conf.arg(name="")


def export(
    run: RunFolder,
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])],
    config: Annotated[ExportConfig, Flat],
    data: str | None = None,
    json: bool = False,
) -> int:
    """Write a run's policy, counts and guard into one folder that goes into production.

    The folder needs neither countmorl nor JAX: runtime.py in it is one file that wants NumPy alone,
    policy.onnx runs in other languages, contract.json says what goes in and comes out. Nothing in
    it is executed by anybody but you.

    From Python `runtime.load(DIR).act_row({"age": 61, "ward": "B"})` gives an action and why it is
    taken.

    docs/deploying.md has a whole example. `countmorl guard RUN` chooses a guard before.

    Args:
        run: The folder of a run with a policy.
        out: The new folder.
        data: Where the run's log lies now, if it has moved; its ranges go into the contract.
        json: Print JSON.
    """
    said: list[str] = []
    folder = export_run(run, out, config=config, data=data, say=said.append)
    bundle = load_bundle(folder)
    files = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
    guard = bundle.contract.guard
    if json:
        print_json(
            {
                "bundle": str(folder),
                "files": files,
                "counts": bundle.contract.counts,
                "guard": None if guard is None else guard.fall_back,
                "notes": said,
            }
        )
        return 0
    for text in said:
        print(text, file=sys.stderr)
    for name, size in files.items():
        print(f"{name:<24} {size:>12,} bytes")
    if bundle.counts is None:
        print("note: this run counts nothing, so nothing will warn where the log is left.")
    elif guard is None:
        print(f"note: there is no guard; `countmorl guard {run}` chooses one.")
    print(f"Bundle: {folder}")
    return 0
