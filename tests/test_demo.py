import pytest

from countmorl import Policy, demo
from countmorl.algorithms.bc import BC
from countmorl.api import train
from countmorl.errors import RunError
from countmorl.runs.folder import Run
from countmorl.runs.options import RunOptions


@pytest.fixture
def trained_on(monkeypatch):
    """Let the demo train small policies only; the value lists what it asked for."""
    asked = []

    def small(algorithm, dataset, *, out, options):
        asked.append(type(algorithm).__name__)
        tiny = BC(epochs=4, updates=3, batch=8, hidden=(8,))
        return train(tiny, dataset, out=out, options=RunOptions(eval_every=0), quiet=True)

    monkeypatch.setattr(demo, "train", small)
    monkeypatch.setattr(demo, "EPISODES", 2)
    monkeypatch.setattr(demo, "draw_all", lambda run, behaviour: [run.path / "curve.png"])
    return asked


def test_the_data_that_ships_is_sound():
    dataset = demo.demo_data()
    assert dataset.task is not None
    assert dataset.task.env_id == "Pendulum-v1"
    assert (dataset.obs_dim, dataset.action_dim) == (3, 1)
    assert dataset.next_known.all()


def test_trains_both_and_judges_them(trained_on, tmp_path):
    result = demo.demo(tmp_path / "demo")
    assert trained_on == ["BC", "CountMORL"]
    assert result["behaviour"] == pytest.approx(demo.demo_data().returns.mean())
    # Pendulum's returns lie between about -1900 and 0.
    assert -2000 < result["bc"] < 0
    assert -2000 < result["count_morl"] < 0
    assert Policy.load(result["run"]).info["task"] == "Pendulum-v1"
    assert result["figures"] == [f"{result['run']}/curve.png"]


def test_its_runs_can_be_resumed(trained_on, tmp_path):
    result = demo.demo(tmp_path / "demo")
    assert Run.open(result["run"]).manifest.data.hash == demo.demo_data().hash


def test_an_earlier_demo_is_replaced(trained_on, tmp_path):
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / demo.MARK).touch()
    (tmp_path / "demo" / "old").touch()
    demo.demo(tmp_path / "demo")
    assert not (tmp_path / "demo" / "old").exists()
    assert (tmp_path / "demo" / demo.MARK).exists()


def test_another_folder_is_never_touched(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    with pytest.raises(RunError, match="is not a demo's folder"):
        demo.demo(tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.tex").read_text() == "years of work"
