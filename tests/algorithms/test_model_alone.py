import numpy as np
import pytest

from countmorl import Run, resume, train
from countmorl.algorithms.model_alone import ModelAlone
from countmorl.errors import ConfigError
from small_runs import MODEL, QUIET, small, vector_log


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    out = tmp_path_factory.mktemp("model") / "run"
    return train(ModelAlone(model=MODEL), vector_log(), out=out, **QUIET)


def test_a_run_of_a_model_alone_holds_nothing_else(alone):
    assert alone.stages() == ["model"]
    assert {record.stage for record in alone.records()} == {"model"}
    assert Run.open(alone.path).finished
    assert not alone.policy_path.exists()
    assert resume(alone.path, data=vector_log(), quiet=True).stages() == ["model"]


def test_it_is_the_model_that_a_method_would_have_fitted_and_methods_take_it(alone, tmp_path):
    own = train(small("mopo", epochs=1), vector_log(), out=tmp_path / "own", **QUIET)
    shared = train(
        small("mopo", epochs=1), vector_log(), out=tmp_path / "shared", model=alone.path, **QUIET
    )
    for run in (own, shared):
        for name, array in alone.load_result("model")[0].items():
            np.testing.assert_array_equal(run.load_result("model")[0][name], array)
    assert {record.stage for record in shared.records()} == {"policy"}
    assert shared.manifest.model_run == str(alone.path)


@pytest.mark.usefixtures("unchecked")
def test_it_has_no_policy_to_train():
    with pytest.raises(ConfigError, match="has no policy"):
        ModelAlone().agent(None, key=None)  # type: ignore[arg-type]
