import json
import subprocess
import sys
from pathlib import Path

import pytest

import ray_cluster
from countmorl.errors import ConfigError
from countmorl.sweeps.folder import SweepFolder
from countmorl.sweeps.on_ray import (
    RayEngine,
    RayOptions,
    _first_line,
    _knock,
    bring_back,
    files_in,
    work,
)
from countmorl.sweeps.run import sweep
from countmorl.sweeps.worker import environment
from ray_cluster import plan_of
from sweeps_parts import Silent, contents, small_plan

pytest.importorskip("ray")
PROGRAM = Path(ray_cluster.__file__)


def on_cluster(folder: Path, what: str) -> dict:
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(folder), what],
        cwd=folder,
        capture_output=True,
        env=environment() | {"RAY_USAGE_STATS_ENABLED": "0"},
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    # Ray, too, writes to standard output.
    (said,) = [line for line in done.stdout.splitlines() if line.startswith(b'{"complete"')]
    return json.loads(said)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["kill", "returned"])
def test_a_cluster_gives_the_same_bytes(tmp_path, monkeypatch, what):
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
    told = on_cluster(there, what)
    assert told["complete"], told["failed"]
    assert told["killed"] == (what == "kill")
    assert any("It goes on." in line for line in told["lines"]) == (what == "kill")
    monkeypatch.chdir(here)
    assert sweep(plan_of(here, what), "sweep", workers=2, memory=9, watcher=Silent()).complete
    one, two = contents(here / "sweep"), contents(there / "sweep")
    assert one.keys() == two.keys()
    assert [name for name in one if one[name] != two[name]] == []


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("127.0.0.1:9", r"No Ray cluster answers at '127.0.0.1:9': .*refused"),
        ("rubbish", r"`address` must be auto or host:port, got 'rubbish'"),
        ("host:port", r"`address` must be auto or host:port"),
        ("127.0.0.1:99999999", r"No Ray cluster answers at"),
    ],
)
def test_an_address_where_nobody_answers(tmp_path, address, said):
    with pytest.raises(ConfigError, match=said):
        RayEngine(SweepFolder(tmp_path), need=lambda row: 1, options=RayOptions(address=address))


def test_addresses_that_ray_itself_finds_are_not_asked():
    _knock("auto")
    _knock("local")


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("wrong", [{"cpus": 0}, {"gpus": -1.0}, {"storage": "tape"}])
def test_wrong_options(wrong):
    with pytest.raises(ConfigError):
        RayOptions(**wrong)


@pytest.mark.slow
def test_a_node_that_does_not_see_the_folder_is_sent_what_it_needs(tmp_path):
    model, mopo = small_plan(tmp_path, "mopo").rows
    data, home = (tmp_path / "log.npz").read_bytes(), tmp_path / "home"
    job = {"folder": "/nowhere", "cwd": "/nowhere", "threads": 1, "shared": False}
    for row in (model, mopo):
        sent = {name: files_in(home / name) for name in (row.name, row.model) if name}
        said, code, files = work(job | {"row": row.as_dict()}, data, sent)
        assert (code, json.loads(said)["state"]) == (0, "done")
        for name, content in files.items():
            bring_back(home, name, content)
    told = json.loads((home / mopo.name / "config.json").read_text())
    assert told["data"]["source"] == str(tmp_path / "log.npz")
    assert (home / "logs" / f"{mopo.name}.log").read_text()
    assert not (home / mopo.name / ".lock").exists()


def test_files_are_written_below_their_folder_and_nowhere_else(tmp_path):
    bring_back(tmp_path / "x", "a/b", b"1")
    assert files_in(tmp_path / "x") == {"a/b": b"1"}
    assert files_in(tmp_path / "none") == {}
    for name in ("../up", "/etc/hosts", "a/../../up"):
        with pytest.raises(ConfigError, match=r"which is not within"):
            bring_back(tmp_path / "x", name, b"")


def test_of_what_ray_says_the_first_sentence():
    assert _first_line(ValueError("It fell. And pages more.\nmore")) == "It fell."
    assert _first_line(ValueError("")) == "ValueError."
