import numpy as np
import pytest

from countmorl import load
from countmorl.dynamics.termination import KnownTermination, LearnedTermination
from countmorl.dynamics.termination_fit import TerminationFit
from countmorl.runs.folder import Run
from countmorl.runs.manifest import Manifest
from countmorl.training.build import Build
from countmorl.training.stages import Stages
from small_runs import small, vector_log


@pytest.fixture(autouse=True, scope="module")
def _one_epoch_of_ends():
    """What is asked is which rule it is, not how good it gets."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TerminationFit, "epochs", 1)
        yield


def build(folder, log=None, **changes):
    stages = Stages(Run.create(folder / "run", Manifest(algorithm="x")), 0, 1, quiet=True)
    return Build(small("count-morl", **changes), load(log or vector_log()), stages, 0)


@pytest.mark.slow
def test_a_build_offers_the_rows_that_the_model_was_fitted_on(tmp_path):
    made = build(tmp_path)
    assert made.pairs.shape == (260, 3)  # 40 of 300 rows are held out.
    assert made.targets.shape == (260, 3)
    np.testing.assert_allclose(np.asarray(made.pairs).mean(axis=0), 0, atol=1e-5)
    imagination = made.imagination()
    assert (imagination.horizon, imagination.branches, imagination.rows) == (2, 20, 10)
    assert imagination.adversary is None


@pytest.mark.parametrize(
    ("given", "known", "wanted"),
    [("never", True, KnownTermination), (None, True, LearnedTermination)],
)
def test_ends_are_known_or_learned(tmp_path, given, known, wanted):
    assert isinstance(build(tmp_path, termination=given).termination(), wanted)


@pytest.mark.slow
def test_ends_are_learned_without_the_next_observation_where_the_log_has_none(tmp_path):
    log = vector_log()
    assert build(tmp_path / "with", log, termination=None).termination().sees_next
    del log["next_obs"]  # The last step of an episode then has no next observation.
    rule = build(tmp_path / "without", log, termination=None).termination()
    assert isinstance(rule, LearnedTermination)
    assert not rule.sees_next
