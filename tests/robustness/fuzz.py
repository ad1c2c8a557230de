"""The fuzzer: damaged files are read; anything but a sentence or a right answer is a failure.

`make fuzz MINUTES=30` goes on until the time is over, every format in turn, in child processes:
a reader that crashes or hangs ends its child, and its file is kept. Files that failed go to
tests/robustness/corpus, where the suite reads them again for ever.
"""

import argparse
import faulthandler
import hashlib
import itertools
import random
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

from countmorl.errors import CountMorlError
from robustness.format import Format
from robustness.formats import FORMATS

CORPUS = Path(__file__).parent / "corpus"
PATIENCE = 20.0
"""Seconds of a processor that reading one damaged file may take, however busy the machine is."""
ASLEEP = 600.0
"""Seconds after which a reader that waits for something is ended too."""
ROUND = 400
"""Files that a child process reads."""


def outcome(form: Format, path: Path) -> str | None:
    """Read a file; None where that ended well, else what went wrong."""
    try:
        with warnings.catch_warnings(action="ignore"):
            form.read(path)
    except CountMorlError as error:
        return None if str(error).strip() else "an error without a sentence"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def attack(form: Format, folder: Path, seeds: Iterable[int]) -> Iterator[tuple[int, Path, str]]:
    """Damage a valid file in as many ways as there are seeds; yield the failures."""
    path = form.make(folder)
    whole = path.read_bytes()
    if said := outcome(form, path):
        raise AssertionError(f"The undamaged file cannot be read: {said}")
    for seed in seeds:
        path.write_bytes(whole)
        form.damages[seed % len(form.damages)](path, random.Random(seed))
        if said := outcome(form, path):
            yield seed, path, said


def keep(name: str, path: Path) -> Path:
    """Add a file that failed to the corpus."""
    raw = path.read_bytes()
    kept = CORPUS / name / hashlib.sha256(raw).hexdigest()[:12]
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(raw)
    return kept


def _child(name: str, folder: Path, first: int, count: int) -> None:
    """Attack one format; a watchdog ends the process where a file takes too long."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # The system ends it, whatever Python is in.

    def seeds() -> Iterator[int]:
        for seed in range(first, first + count):
            (folder / "seed").write_text(str(seed))
            signal.setitimer(signal.ITIMER_PROF, PATIENCE)
            faulthandler.dump_traceback_later(ASLEEP, exit=True)
            yield seed
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()

    (folder / "work").mkdir()
    failures = 0
    for seed, path, said in attack(FORMATS[name], folder / "work", seeds()):
        failures += 1
        print(f"{name}, seed {seed}: {said[:300]}\n  kept as {keep(name, path)}", flush=True)
    (folder / "failures").write_text(str(failures))


def _round(name: str, first: int, count: int) -> int:
    """Attack one format in a child process; return the failures, a crash counted as one."""
    with tempfile.TemporaryDirectory(prefix="countmorl-fuzz-") as place:
        folder = Path(place)
        words = ["--child", name, place, str(first), str(count)]
        code = subprocess.run([sys.executable, "-m", "robustness.fuzz", *words]).returncode
        if (folder / "failures").exists():
            return int((folder / "failures").read_text())
        if not (folder / "seed").exists():
            raise SystemExit(f"The fuzzer of {name} does not start.")
        seed = int((folder / "seed").read_text())
        path = damaged(name, folder / "again", seed)
        print(f"{name}, seed {seed}: ended with {code}\n  kept as {keep(name, path)}", flush=True)
        return 1


def damaged(name: str, folder: Path, seed: int) -> Path:
    """The file of a seed, made again."""
    form = FORMATS[name]
    folder.mkdir()
    path = form.make(folder)
    form.damages[seed % len(form.damages)](path, random.Random(seed))
    return path


def main() -> int:
    """Attack every format, or those named, until the time is over."""
    if sys.argv[1:2] == ["--child"]:
        _, _, name, folder, first, count = sys.argv
        _child(name, Path(folder), int(first), int(count))
        return 0
    parser = argparse.ArgumentParser(prog="make fuzz")
    parser.add_argument("names", nargs="*", default=list(FORMATS))
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**40))
    said = parser.parse_args()
    until = time.monotonic() + 60 * said.minutes
    done, failed = dict.fromkeys(said.names, 0), dict.fromkeys(said.names, 0)
    # In another order each time: where time is short, it is not always the last that have no turn.
    for name in itertools.cycle(random.Random(said.seed).sample(said.names, len(said.names))):
        if time.monotonic() > until:
            break
        failed[name] += _round(name, said.seed + done[name], ROUND)
        done[name] += ROUND
    for name in said.names:
        print(f"{name:<16} {done[name]:>9,} files damaged, {failed[name]} failures")
    print(f"{'in all':<16} {sum(done.values()):>9,} files damaged, {sum(failed.values())} failures")
    return 1 if any(failed.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
