import numpy as np
import pytest

from countmorl.envs.gridworld import WORLDS
from countmorl.studies.checks import FAMILIES, violation_study
from countmorl.studies.planners import Outcome
from countmorl.studies.tightness import shrinkage
from countmorl.tabular.mdp import TabularMDP

pytest.importorskip("matplotlib")
figures = pytest.importorskip("countmorl.studies.figures")
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
