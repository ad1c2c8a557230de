"""One run of a sweep in a process of its own: `python -m countmorl.sweeps.worker`.

The job comes as one line of JSON on standard input, which then stays open: when it closes, whoever
started this process has died, and it ends at once, as good as killed. The outcome is one line of
JSON on standard output; progress goes to standard error.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any, Literal

from countmorl import threads

State = Literal["done", "stopped", "failed"]
ORPHANED = 7
PATIENCE, TICK = 30.0, 0.2


def environment(each: int = 1) -> dict[str, str]:
    """This process's environment with so many threads for each run.

    One thread a run trains most on a machine; and the same number of threads, the same bytes.
    """
    return dict(os.environ) | threads.settings(each, each)


def command() -> list[str]:
    """What starts a worker."""
    return [sys.executable, "-m", "countmorl.sweeps.worker"]


def main() -> int:
    """Do the job that standard input tells, tell the outcome."""
    sys.path.append(os.getcwd())  # Methods of one's own are found as the sweep has found them.
    job = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    state, sentence = outcome(job)
    print(json.dumps({"state": state, "sentence": sentence}), flush=True)
    return 0


def _end_with_parent() -> None:
    # Not by sys.stdin, whose lock a thread that still waits would take into the interpreter's end.
    while os.read(sys.stdin.fileno(), 1):
        pass
    os._exit(ORPHANED)


def outcome(job: dict[str, Any]) -> tuple[State, str]:
    """Carry out a row; how it ended, and in a sentence why."""
    from countmorl.errors import CountMorlError, Interrupted

    try:
        carry_out(job)
    except Interrupted as stop:
        return "stopped", str(stop)
    except KeyboardInterrupt:
        return "stopped", "Stopped before its first epoch."
    except CountMorlError as error:
        print(f"countmorl: {error}", file=sys.stderr, flush=True)
        return "failed", str(error)
    except MemoryError:
        return "failed", "There was not enough memory; fewer --workers leave more for each."
    except Exception as error:  # One run's fault must not end the others.
        traceback.print_exc()
        return "failed", f"{type(error).__name__}: {error}"
    return "done", ""


def carry_out(job: dict[str, Any]) -> None:
    """Begin a row's run, or go on with it; one that has ended is left as it is."""
    from countmorl import api
    from countmorl.runs.folder import CONFIG, Run
    from countmorl.sweeps.rows import Row, check_same

    row, folder = Row.from_dict(job["row"]), Path(job["folder"])
    path = folder / row.name
    if not (path / CONFIG).exists():
        api.train(
            row.config,
            row.data,
            out=path,
            data_options=row.data_options,
            options=row.options,
            model=folder / row.model if row.model else None,
        )
        return
    wait_for_others(path)
    run = Run.open(path)
    check_same(row, run.manifest)
    if run.finished:
        return
    api.resume(
        path,
        data=row.data,
        method=_own(row.algorithm),
        termination=_own(getattr(row.config, "termination", None)),
        reward_function=_own(getattr(row.config, "reward_function", None)),
        task=_own(row.data_options.task),
        log=row.options.log,
    )


def wait_for_others(path: Path) -> None:
    """Give a process whose sweep has died the time to notice it."""
    from countmorl.runs.lock import is_locked

    until = time.monotonic() + PATIENCE
    while is_locked(path) and time.monotonic() < until:
        time.sleep(TICK)


def _own(name: str | None) -> str | None:
    """Code of the user's own, which is said again when a run goes on."""
    return name if name and ":" in name else None


if __name__ == "__main__":
    sys.exit(main())
