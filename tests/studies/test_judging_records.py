"""Records on disk, and points."""

from dataclasses import asdict, replace

import pytest

from countmorl.envs.tasks import find_task
from countmorl.errors import RunError
from countmorl.runs.folder import Run
from countmorl.studies.judging_records import LogTruth, Tried, keep, kept, unread
from countmorl.studies.truth import Truth
from judged import field, tried


def test_a_policy_is_read_as_it_was_written(tmp_path, trained):
    one = tried("a", 20, fitted=(18, 16, 22), model=None, q=1.5, last=True)
    keep(tmp_path / "new" / "a.json", {}, {"q": 1.5, "judgement": one.judgement.as_dict()})
    judged, run = kept(tmp_path / "new" / "a.json", {}), Run.open(trained / "run")
    again = Tried.of("a", run, True, judged, asdict(one.truth))
    assert (again.name, again.run, again.last, again.q) == ("a", "run", True, 1.5)
    assert again.clone
    assert again.truth == one.truth
    assert again.judgement == one.judgement


def test_a_log_is_read_as_it_was_written(tmp_path):
    log = field().log
    keep(tmp_path / "log.json", {}, asdict(log))
    assert LogTruth.of_dict(kept(tmp_path / "log.json", {})) == log


def test_what_was_made_otherwise_or_is_damaged_is_made_again(tmp_path):
    path = tmp_path / "a.json"
    assert kept(path, {"seed": 0}) is None
    keep(path, {"seed": 0}, {"x": 1})
    assert kept(path, {"seed": 0}) == {"x": 1}
    assert kept(path, {"seed": 1}) is None
    path.write_text("{")
    assert kept(path, {"seed": 0}) is None


def test_points_are_the_tasks_own_where_it_has_references():
    pool = field(tried("a", 20, fitted=None, model=None))
    assert pool.points(pool.tried[0].truth) == 100
    assert pool.points(None) == 50
    known = replace(pool, task=find_task("hopper"))
    assert known.points(Truth(value=3.0, error=0.0, total=3234.3)) == pytest.approx(100)
    assert known.points(None) == pytest.approx(100 * (10 + 20.272305) / (3234.3 + 20.272305))


@pytest.mark.usefixtures("unchecked")
def test_a_record_that_holds_other_things_is_named(tmp_path):
    one, path = tried("a", 20, fitted=None, model=None), tmp_path / "a.json"
    judged = {"q": 1.5, "judgement": one.judgement.as_dict()}
    truth = asdict(one.truth)
    for wrong in ({}, judged | {"q": "x"}, {"q": 1.5, "judgement": 3}):
        with pytest.raises(RunError, match=r"a\.json is damaged .* Remove it"), unread(path):
            Tried.of("a", path, True, wrong, truth)
    for wrong in ({}, truth | {"value": None}, 3):
        with pytest.raises(RunError, match="Remove it"), unread(path):
            Tried.of("a", path, True, judged, wrong)
