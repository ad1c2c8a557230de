"""Kill a sweep again and again, at random, and compare its end with an unbroken one.

`python -m benchmarks.sweep_kills [KILLS] [SEED]`: parents and workers in turn, with kill -9.
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.sweeps import Quiet, plan, within
from countmorl.sweeps.run import sweep

PROGRAM = """
from pathlib import Path
from benchmarks.sweeps import Quiet, plan
from countmorl.sweeps.run import sweep
import sys
sys.exit(0 if sweep(plan(Path.cwd()), "sweep", workers=2, watcher=Quiet()).complete else 1)
"""


def contents(folder: Path) -> dict[str, bytes]:
    """Every file that must be the same; the folder of the data is not, nor a digest of its name."""
    here, digest = str(folder).encode(), re.compile(rb'"digest": "[0-9a-f]{64}"')
    return {
        str(path.relative_to(folder)): digest.sub(b"", path.read_bytes().replace(here, b"HERE"))
        for path in sorted((folder / "sweep").rglob("*"))
        if path.is_file() and path.name not in ("timing.jsonl", ".lock") and path.suffix != ".log"
    }


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def broken(folder: Path, kills: int, choice: random.Random, seconds: float) -> list[str]:
    """Carry the plan out, killing on the way; return what was killed."""
    killed: list[str] = []
    environment = dict(os.environ, PYTHONPATH=str(Path(__file__).parents[1]))
    while True:
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM], cwd=folder, env=environment
        ) as parent:
            while len(killed) < kills:
                time.sleep(choice.uniform(0.05, 0.9) * seconds / kills)
                if parent.poll() is not None:
                    break
                workers = children(parent.pid)
                if len(killed) % 2 and workers:
                    os.kill(choice.choice(workers), signal.SIGKILL)
                    killed.append("worker")
                else:
                    parent.kill()
                    killed.append("parent")
                    break
            if parent.wait() == 0:
                return killed


def main(kills: int = 5, seed: int = 0) -> int:
    """Say whether the bytes are the same."""
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        start = time.perf_counter()
        with within(Path(one)):
            assert sweep(plan(Path(one)), "sweep", workers=2, watcher=Quiet()).complete
        seconds = time.perf_counter() - start
        killed = broken(Path(two), kills, random.Random(seed), seconds)
        whole, pieced = contents(Path(one)), contents(Path(two))
    wrong = [name for name in whole.keys() | pieced.keys() if whole.get(name) != pieced.get(name)]
    print(f"killed: {', '.join(killed)}; {len(whole)} files, {len(wrong)} differ {wrong[:5]}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
