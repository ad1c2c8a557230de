import numpy as np
import pytest

from countmorl.collecting.qlearning import count_steps, replay
from countmorl.envs.gridworld import WORLDS
from countmorl.studies.approximate import Comparison
from countmorl.studies.checks import FAMILIES, violation_study
from countmorl.studies.drawing import chance_to_pass
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


def test_chance_to_pass_by_hand():
    chances = chance_to_pass(TabularMDP.of_world(CLIFF), UP)
    assert np.flatnonzero(chances == 1).tolist() == [0, 8, 16, 24, 32, 40, 48, 56]
    assert chances.sum() == 8


@pytest.mark.parametrize("number", [1, 3])
def test_counts_and_their_maps_are_drawn(tmp_path, number):
    counted = pytest.importorskip("countmorl.studies.count_figures")
    true = count_steps(CLIFF, replay(CLIFF, rows=500))
    counts = true.counts.reshape(-1)
    guess = counts.copy()
    guess[:2] = 40_000
    comparison = Comparison(
        world=CLIFF,
        seed=0,
        bits=6,
        true=counts.astype(int),
        members=guess[None],
        estimates={"AVG": guess},
        collisions=(((0, 1),),),
        updates=1,
        restarts=0,
        model_error=0.0,
        seconds=0.0,
        cpu_seconds=0.0,
    )
    counted.counts_figure([comparison] * number, tmp_path / "counts.png")
    counted.learned_maps(comparison, true, tmp_path / "maps.png", beta=0.1)
    assert all(5_000 < path.stat().st_size < 150_000 for path in tmp_path.glob("*.png"))
    assert comparison.errors["AVG"] == 40_000 - counts[:2].min()
