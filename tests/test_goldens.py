"""Small runs of every algorithm against numbers that were recorded once and are kept for good.

A change that was not meant to move any number must not move these. Other processors and other
versions of XLA round differently, so they are compared within rounding, over few updates. Where a
change is meant: `python tests/test_goldens.py` records them anew, and its commit says why.
"""

import json
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

if __name__ == "__main__":
    import conftest  # noqa: F401  (the suite's flags for XLA)

from countmorl import Run, train
from countmorl.algorithms import ALGORITHMS
from countmorl.collecting.qlearning import gridworld_dataset, replay
from countmorl.counting.base import CodesConfig
from countmorl.envs.gridworld import WORLDS
from countmorl.files import read_arrays
from countmorl.tabular.train import train_tabular
from small_runs import MODEL, QUIET, numbered_log, small, vector_log

FOLDER = Path(__file__).parent / "goldens"
CODES = CodesConfig(bits="auto", fit_epochs=1, fit_updates=9)


def _trained(name: str, log: Callable[[], dict], **changes: object) -> Callable[[Path], Run]:
    return lambda out: train(small(name, **changes), log(), out=out, **QUIET)


def _planned(out: Path) -> Run:
    world = WORLDS["cliff"]
    return train_tabular(gridworld_dataset(world, replay(world, slip=0.2)).first(2000), out=out)


RUNS: dict[str, Callable[[Path], Run]] = {
    "tabular": _planned,
    **{name: _trained(name, vector_log) for name in ALGORITHMS},
    **{
        f"{name}-discrete": _trained(name, numbered_log)
        for name, cls in ALGORITHMS.items()
        if cls.takes_discrete
    },
    "mopo-normalised": _trained("mopo", vector_log, model=replace(MODEL, norm=True)),
    # What none of the above has: a learned rule of ends, a choice of the code's length, verified
    # codes and imitation by the data; counters.
    "count-morl-search": _trained(
        "count-morl", vector_log, termination=None, codes=CODES, imitate="auto"
    ),
    "count-morl-simhash": _trained("count-morl", vector_log, counter="simhash"),
    "count-morl-exact": _trained("count-morl", numbered_log, counter="exact", estimate="LC"),
}


def numbers(run: Run) -> dict:
    """Metrics and policy of a run as JSON-able values."""
    arrays, _ = read_arrays(run.policy_path)
    lines = run.metrics_path.read_text().splitlines()
    return {
        "metrics": [json.loads(line) for line in lines],
        "policy": {name: array.ravel().tolist() for name, array in sorted(arrays.items())},
    }


def flat(value: object, path: str = "") -> dict[str, object]:
    """Every number by its path."""
    if isinstance(value, (dict, list)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return {k: v for key, each in items for k, v in flat(each, f"{path}/{key}").items()}
    return {path: value}


QUICK = ("tabular", *ALGORITHMS)
"""One of every method; the rest of them are slow."""


@pytest.mark.parametrize(
    "name",
    [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in RUNS if name not in QUICK)],
)
def test_a_run_gives_the_numbers_it_always_gave(name, finished_small, tmp_path):
    run = finished_small(name).run if name in ALGORITHMS else RUNS[name](tmp_path / "run")
    got = flat(numbers(run))
    wanted = flat(json.loads((FOLDER / f"{name}.json").read_text()))
    assert list(got) == list(wanted)
    for path, value in wanted.items():
        if isinstance(value, float):
            assert got[path] == pytest.approx(value, rel=2e-3, abs=2e-4), path
        else:
            assert got[path] == value, path


def test_every_golden_belongs_to_a_run():
    assert {path.stem for path in FOLDER.glob("*.json")} == set(RUNS)


def record(names: list[str]) -> None:
    """Write the goldens anew, numbers with seven digits."""
    FOLDER.mkdir(exist_ok=True)
    for name in names or RUNS:
        with tempfile.TemporaryDirectory() as folder:
            run = RUNS[name](Path(folder) / "run")
            rounded = json.loads(
                json.dumps(numbers(run)), parse_float=lambda text: float(f"{float(text):.7g}")
            )
            (FOLDER / f"{name}.json").write_text(json.dumps(rounded, indent=None) + "\n")
            if keep := os.environ.get("KEEP_RUNS"):  # For a comparison byte by byte.
                target = Path(keep) / name
                target.mkdir(parents=True, exist_ok=True)
                for path in (run.metrics_path, run.policy_path):
                    (target / path.name).write_bytes(path.read_bytes())


if __name__ == "__main__":
    record(sys.argv[1:])
