from countmorl.sweeps.engine import AbstractEngine, Outcome
from countmorl.sweeps.folder import SweepFolder
from sweeps_parts import Pretending, small_plan


def test_an_outcome_says_how_a_row_ended():
    outcome = Outcome(name="x", state="lost")
    assert (outcome.state, outcome.sentence) == ("lost", "")


def test_an_engine_that_knows_no_limit_never_refuses(tmp_path):
    engine: AbstractEngine = Pretending(SweepFolder(tmp_path))
    assert engine.why_never(small_plan(tmp_path).rows[0]) is None
