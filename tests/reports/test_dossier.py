import hashlib
import json

import pytest

from countmorl.errors import RunError
from countmorl.reports.dossier import KEPT, read_dossier
from made_runs import make_run


@pytest.fixture
def run(tmp_path):
    run = make_run(tmp_path / "run")
    run.policy_path.write_bytes(b"a policy")
    return run


def test_what_nobody_has_asked_is_missing(run):
    found = read_dossier(run)
    assert found.missing == list(KEPT)
    assert found.older == ()
    assert found.command("guard") == f"countmorl guard {run.path}"


def test_what_was_asked_of_an_earlier_policy_is_told(run):
    now = hashlib.sha256(b"a policy").hexdigest()
    for name, digest in (("coverage", now), ("judgement", "of another")):
        path = run.path / KEPT[name][0]
        path.write_text(json.dumps({"policy": digest}))
    (run.path / "guard").mkdir()
    (run.path / KEPT["guard"][0]).write_text("{}")  # By a version that did not say.
    found = read_dossier(run)
    assert found.older == ("judgement",)
    assert found.missing == ["card"]
    assert found.path("guard") == run.path / "guard" / "curve.json"


@pytest.mark.parametrize("content", ["[]", "{", "NaN"])
def test_damaged_parts_end_in_a_sentence(run, content):
    (run.path / "coverage.json").write_text(content)
    with pytest.raises(RunError, match=r"coverage\.json"):
        read_dossier(run)
