import pytest

from countmorl.collecting.qlearning import count_steps, replay
from countmorl.envs.gridworld import WORLDS
from countmorl.studies.approximate import Comparison

pytest.importorskip("matplotlib")
counted = pytest.importorskip("countmorl.studies.count_figures")
CLIFF = WORLDS["cliff"]


@pytest.mark.parametrize("number", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_counts_and_their_maps_are_drawn(tmp_path, number):
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
