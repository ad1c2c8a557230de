"""The study of judging on the smallest pool: two clones in a grid world, one that was kept."""

import shutil

import pytest

from countmorl import RunOptions, train
from countmorl.cli import main
from countmorl.dynamics.fit import EnsembleConfig
from countmorl.errors import ConfigError
from countmorl.evaluation.bench import BenchConfig
from countmorl.evaluation.fqe import FQEConfig
from countmorl.runs.folder import Run
from countmorl.studies.judging import StudyConfig, candidates, study
from small_runs import small

TINY = StudyConfig(
    discount=0.8,
    bench=BenchConfig(
        clone_updates=20,
        fqe=FQEConfig(members=2, hidden=(8,), updates=5, batch=8, least=10, most=10),
        model=EnsembleConfig(members=2, elites=2, width=8, batch=32, holdout=20, max_epochs=1),
    ),
)


@pytest.fixture(scope="module")
def pool(tmp_path_factory):
    """A clone of a log of a grid world, with the policies of two evaluations."""
    folder = tmp_path_factory.mktemp("pool")
    data = folder / "bridge.npz"
    assert main(["study", "log", "bridge", str(data), "--rows", "400", "--json"]) == 0
    options = RunOptions(eval_every=1, eval_episodes=1, keep_policies=2, save_every=9)
    train(small("bc"), data, out=folder / "bc", options=options, quiet=True)
    return folder


@pytest.fixture(scope="module")
def found(pool):
    """What came of it."""
    (field,) = study([Run.open(pool / "bc")], TINY, pool / "out", kept_too=True)
    return field


def test_every_policy_once(pool):
    run = Run.open(pool / "bc")
    epochs = [each.epoch for each in candidates([run], kept_too=True)]
    assert epochs == [None, 2]  # The last that was kept is what the run ended with.
    assert len(list(candidates([run], kept_too=False))) == 1


@pytest.mark.slow
def test_policies_are_judged_and_valued(found):
    assert [each.name for each in found.tried] == ["bc", "bc epoch 2"]
    assert [each.last for each in found.tried] == [True, False]
    for each in found.tried:
        assert each.truth.error == 0
        assert -1 <= each.truth.value <= 1
        assert "fitted Q" in each.judgement.opinions
        assert each.q is None  # A clone has no critics.
    assert found.log.unit == "discounted return (0.8)"


@pytest.mark.slow
def test_it_goes_on_where_it_stopped(pool, found, monkeypatch, tmp_path):
    out = shutil.copytree(pool / "out", tmp_path / "out")
    (folder,) = out.iterdir()
    records = sorted(path.name for path in folder.iterdir())
    assert len(records) == 5

    def never(*args, **options):
        raise AssertionError("nothing is left to judge")

    monkeypatch.setattr("countmorl.studies.judging.bench_of", never)
    (again,) = study([Run.open(pool / "bc")], TINY, out, kept_too=True)
    assert [each.judgement for each in again.tried] == [each.judgement for each in found.tried]
    assert [each.truth for each in again.tried] == [each.truth for each in found.tried]
    (judged,) = [name for name in records[:2] if "truth" not in name]
    (folder / judged).write_text("{")
    with pytest.raises(AssertionError, match="nothing is left"):
        study([Run.open(pool / "bc")], TINY, out, kept_too=True)


def test_wrong_words_are_sentences(pool, tmp_path):
    with pytest.raises(ConfigError, match="at least 2"):
        StudyConfig(episodes=1)
    with pytest.raises(ConfigError, match=r"No run learned from 'brigde'. Their data: bridge"):
        study([Run.open(pool / "bc")], TINY, tmp_path, development=["brigde"])
