import json
import os
import subprocess
import sys

import pytest

from countmorl import threads
from countmorl.machine import cores

LOOK = """
import json, os, sys
from countmorl import threads
threads.take_those_of_a_run(sys.argv[1:])
print(json.dumps({name: os.environ.get(name) for name in (threads.XLA, *threads.BLAS)}))
"""
NAMES = (threads.XLA, *threads.BLAS)


def taken(*words, **said):
    """What a new process takes that is called with these words."""
    own = {name: value for name, value in os.environ.items() if name not in NAMES} | said
    done = subprocess.run(
        [sys.executable, "-c", LOOK, *map(str, words)], capture_output=True, env=own, check=True
    )
    return json.loads(done.stdout)


def begun_with(folder, xla, numpy):
    folder.mkdir(exist_ok=True)
    recorded = dict(zip(threads.RECORDED, (xla, numpy), strict=True))
    (folder / "config.json").write_text(json.dumps({"environment": recorded}))
    return folder


def test_those_of_the_run_are_taken(tmp_path):
    run = begun_with(tmp_path / "run", "1", str(cores()))
    found = taken("--epochs", 7, run)
    assert found == {"NPROC": "1"} | dict.fromkeys(threads.BLAS, str(cores()))


def test_what_the_user_says_goes_before_and_inexact_leaves_all_as_it_is(tmp_path):
    run, nothing = begun_with(tmp_path / "run", "1", "1"), dict.fromkeys(NAMES)
    assert taken(run, OMP_NUM_THREADS="2") == nothing | {"OMP_NUM_THREADS": "2"}
    assert taken(run, "--inexact") == nothing


def test_once_numpy_is_there_it_is_too_late(tmp_path, monkeypatch):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    threads.take_those_of_a_run([str(begun_with(tmp_path / "run", "1", "1"))])
    assert not [name for name in NAMES if name in os.environ]


@pytest.mark.parametrize(
    "said", ["0", "-1", "999999", "1.5", "", "x", None, True, [1], {"a": 1}, " 1", 10**19]
)
def test_a_file_cannot_ask_for_anything_else(tmp_path, said):
    assert threads._recorded(begun_with(tmp_path / "run", said, "1") / "config.json") is None
    assert threads._recorded(begun_with(tmp_path / "run", "1", said) / "config.json") is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"environment": 3}', "[" * 9999])
def test_a_damaged_file_is_not_our_matter(tmp_path, text):
    (tmp_path / "config.json").write_text(text)
    assert threads._recorded(tmp_path / "config.json") is None
    assert threads._recorded(tmp_path / "a\0b") is None
    assert threads._recorded(tmp_path / ("x" * 5000)) is None


def test_how_many_there_are(monkeypatch):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    assert (threads.of_xla(), threads.of_numpy()) == (cores(), str(cores()))
    monkeypatch.setenv("NPROC", "7")
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    assert (threads.of_xla(), threads.of_numpy()) == (7, "5")
    monkeypatch.setenv("NPROC", "none")
    assert threads.of_xla() == cores()


def test_how_to_take_them():
    recorded = {"threads": "1", "threads of NumPy": "2"}
    found = "NPROC=1 OPENBLAS_NUM_THREADS=2 MKL_NUM_THREADS=2 OMP_NUM_THREADS=2"
    assert threads.how_to_take(recorded) == found
    assert threads.how_to_take({"threads": "1"}) == "NPROC=1"
