import shutil
from pathlib import Path

import numpy as np
import pytest

from countmorl import Run, resume, train
from countmorl.algorithms.model_alone import CodesAlone, ModelAlone
from countmorl.counting.base import CodesConfig
from countmorl.errors import ConfigError, RunError
from small_runs import MODEL, QUIET, small, vector_log


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    out = tmp_path_factory.mktemp("model") / "run"
    return train(ModelAlone(model=MODEL, termination="never"), vector_log(), out=out, **QUIET)


def test_a_run_of_a_model_alone_holds_nothing_else(alone):
    assert alone.stages() == ["model"]
    assert {record.stage for record in alone.records()} == {"model"}
    assert Run.open(alone.path).finished
    assert not alone.policy_path.exists()
    assert resume(alone.path, data=vector_log(), quiet=True).stages() == ["model"]


@pytest.mark.slow
def test_it_is_the_model_that_a_method_would_have_fitted_and_methods_take_it(alone, tmp_path):
    own = train(small("mopo", epochs=1), vector_log(), out=tmp_path / "own", **QUIET)
    shared = train(
        small("mopo", epochs=1), vector_log(), out=tmp_path / "shared", model=alone.path, **QUIET
    )
    for run in (own, shared):
        for name, array in alone.load_result("model")[0].items():
            np.testing.assert_array_equal(run.load_result("model")[0][name], array)
    assert {record.stage for record in shared.records()} == {"policy"}
    assert (shared.path / shared.manifest.model_run).resolve() == alone.path.resolve()


@pytest.mark.usefixtures("unchecked")
def test_it_has_no_policy_to_train():
    with pytest.raises(ConfigError, match="has no policy"):
        ModelAlone().agent(None, key=None)  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_rule_for_ends_is_learned_where_none_is_known_and_shared_too(tmp_path):
    run = train(ModelAlone(model=MODEL), vector_log(), out=tmp_path / "model", **QUIET)
    assert run.stages() == ["model", "termination"]
    learned = small("mopo", epochs=1, termination=None)
    own = train(learned, vector_log(), out=tmp_path / "own", **QUIET)
    shared = train(learned, vector_log(), out=tmp_path / "shared", model=run.path, **QUIET)
    assert {record.stage for record in shared.records()} == {"policy"}
    assert shared.policy_path.read_bytes() == own.policy_path.read_bytes()


CODES = CodesConfig(bits=6, fit_epochs=1, fit_updates=9, follow="pairs")


@pytest.fixture(scope="module")
def coded(alone, tmp_path_factory):
    out = tmp_path_factory.mktemp("codes") / "run"
    config = CodesAlone(codes=CODES, termination="never")
    return train(config, vector_log(), out=out, model=alone.path, **QUIET)


@pytest.mark.slow
def test_codes_alone_are_those_that_count_morl_would_have_fitted(alone, coded, tmp_path):
    assert coded.finished
    assert coded.stages() == ["codes", "codes-6", "model"]
    own = train(small("count-morl", epochs=1), vector_log(), out=tmp_path / "own", **QUIET)
    shared = train(
        small("count-morl", epochs=1),
        vector_log(),
        out=tmp_path / "shared",
        model=coded.path,
        **QUIET,
    )
    assert {record.stage for record in shared.records()} == {"policy"}
    assert shared.policy_path.read_bytes() == own.policy_path.read_bytes()


def test_killed_before_its_codes_are_there_it_has_not_ended(coded, tmp_path):
    part = shutil.copytree(coded.path, tmp_path / "part")
    (part / "stages" / "codes.safetensors").unlink()
    (part / "stages" / "codes-6.safetensors").unlink()
    assert not Run.open(part).finished
    resume(part, data=vector_log(), quiet=True)
    for stage in ("codes", "codes-6", "model"):
        path = f"stages/{stage}.safetensors"
        assert (part / path).read_bytes() == (coded.path / path).read_bytes()


@pytest.mark.slow
def test_a_run_killed_before_it_took_the_shared_model_takes_it_when_it_goes_on(coded, tmp_path):
    whole = train(
        small("count-morl", epochs=1),
        vector_log(),
        out=tmp_path / "whole",
        model=coded.path,
        **QUIET,
    )
    for gone in (["model"], ["model", "codes-6"]):
        part = tmp_path / "-".join(gone)
        (part / "stages").mkdir(parents=True)
        for name in ("config.json", "stages/model.safetensors", "stages/codes-6.safetensors"):
            if Path(name).stem not in gone:
                shutil.copy(whole.path / name, part / name)
        resume(part, data=vector_log(), quiet=True)
        assert (part / "metrics.jsonl").read_bytes() == whole.metrics_path.read_bytes()


@pytest.mark.slow
def test_a_shared_model_that_has_gone_is_named(coded, tmp_path):
    gone = shutil.copytree(coded.path, tmp_path / "gone")
    config = small("count-morl", epochs=1)
    run = train(config, vector_log(), out=tmp_path / "run", model=gone, **QUIET)
    (run.path / "stages" / "model.safetensors").unlink()
    (run.path / "stages" / "policy.safetensors").unlink()
    shutil.rmtree(gone)
    with pytest.raises(RunError, match="There is no run folder"):
        resume(run.path, data=vector_log(), quiet=True)
