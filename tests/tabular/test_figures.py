import numpy as np
import pytest

from countmorl.envs.gridworld import WORLDS
from countmorl.errors import ConfigError
from countmorl.tabular.checks import FAMILIES, violation_study
from countmorl.tabular.drawing import chance_to_pass, check_ending
from countmorl.tabular.mdp import TabularMDP
from countmorl.tabular.study import Outcome
from countmorl.tabular.tightness import shrinkage

pytest.importorskip("matplotlib")
figures = pytest.importorskip("countmorl.tabular.figures")
CLIFF = WORLDS["cliff"]
UP = np.tile([1.0, 0, 0, 0], (64, 1))


def test_every_figure_is_written(tmp_path):
    truth = TabularMDP.of_world(CLIFF, slip=0.1)
    counts = np.arange(256.0).reshape(64, 4)
    outcomes = [
        Outcome(world="cliff", method=method, rows=rows, goal=np.ones(2), lava=np.zeros(2))
        for method in ("plain", "optimum")
        for rows in (10, 100)
    ]
    findings = violation_study(3, families={"random": FAMILIES["random"]})
    figures.worlds_figure(list(WORLDS.values()), tmp_path / "a.png")
    figures.maps_figure(CLIFF, truth, counts, counts / 256, {"plain": UP}, tmp_path / "b.png")
    figures.study_figure(outcomes, tmp_path / "c.png")
    figures.theory_figure(shrinkage(draws=50), findings, tmp_path / "deep" / "d.png")
    written = sorted(tmp_path.rglob("*.png"))
    assert [path.stem for path in written] == ["a", "b", "c", "d"]
    assert all(5_000 < path.stat().st_size < 150_000 for path in written)


def test_chance_to_pass_by_hand():
    chances = chance_to_pass(TabularMDP.of_world(CLIFF), UP)
    assert np.flatnonzero(chances == 1).tolist() == [0, 8, 16, 24, 32, 40, 48, 56]
    assert chances.sum() == 8


def test_unknown_endings_are_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"wanted \.png"):
        check_ending(tmp_path / "a.jpeg")
