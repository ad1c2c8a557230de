"""`countmorl choose`."""

import json
import shutil

import pytest

from countmorl.cli.choose import found_runs
from countmorl.errors import ConfigError
from countmorl.evaluation.base import Estimate
from countmorl.evaluation.choice import choose_among
from countmorl.evaluation.verdict import Way, decide

LOG = Estimate(value=50.0, interval=(48.0, 52.0), unit="return", made_by="log")


@pytest.fixture
def told(monkeypatch):
    """A choice, without its work."""
    facts = {"gain": 5.0, "gain_low": 4.0, "gain_high": 6.0}
    said = Estimate(value=55.0, unit="return", made_by="x", facts=facts)
    found = decide("run", LOG, {"fitted Q": said, "model": said}, Way(unseen=0.0, thin=0.0))
    asked = {"logs": ["log"]}

    def choose(runs, **options):
        asked.update(options, runs=runs)
        return {name: choose_among([found]) for name in asked["logs"]}

    monkeypatch.setattr("countmorl.cli.choose.choose_runs", choose)
    return asked


def test_the_table_and_what_to_do(run_cli, told, trained):
    code, out, _ = run_cli("choose", trained / "run", "--kept", "--out", "best.safetensors")
    assert code == 0
    assert told["kept"] is True
    *_, row, sentence, where = out.splitlines()
    assert row.split() == ["run", "better", "4"]
    assert sentence == "take run: better than the log by at least 4."
    assert where == "Policy: best.safetensors"


def test_json(run_cli, told, trained):
    _, out, _ = run_cli("choose", trained / "run", "--json")
    assert json.loads(out)["taken"] == "run"


def test_a_folder_of_runs_stands_for_those_that_have_a_policy(trained, tmp_path):
    for name in ("a", "b"):
        shutil.copytree(trained / "run", tmp_path / "many" / name)
    (tmp_path / "many" / "b" / "policy.safetensors").unlink()
    assert [run.path.name for run in found_runs((tmp_path / "many",))] == ["a"]
    (tmp_path / "many" / "a" / "policy.safetensors").unlink()
    with pytest.raises(ConfigError, match="no run with a policy"):
        found_runs((tmp_path / "many",))


def test_of_several_logs_each_has_its_own(run_cli, told, trained):
    told["logs"] = ["hopper-seed0", "hopper-seed1"]
    _, out, _ = run_cli("choose", trained / "run")
    assert [line for line in out.splitlines() if line.endswith(":")] == [
        "hopper-seed0:",
        "hopper-seed1:",
    ]
    assert told["save"] is True
    _, out, _ = run_cli("choose", trained / "run", "--json")
    assert json.loads(out)["hopper-seed1"]["taken"] == "run"
