import numpy as np
import pytest

from countmorl.envs.gridworld import WORLDS
from countmorl.errors import ConfigError, RunError
from countmorl.studies.drawing import chance_to_pass, draw_ground, draw_pairs, draw_plan, drawn
from countmorl.tabular.mdp import TabularMDP

plots = pytest.importorskip("matplotlib.pyplot")
CLIFF = WORLDS["cliff"]
UP = np.tile([1.0, 0, 0, 0], (64, 1))


class TestDrawn:
    @pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
    def test_the_ending_decides(self, tmp_path, ending, start):
        path = tmp_path / "deep" / f"x.{ending}"
        with drawn(path, 1, 2, (2, 1)) as (figure, axes):
            assert axes.shape == (1, 2)
            assert not path.exists()
        assert path.read_bytes().startswith(start)
        assert not plots.fignum_exists(figure.number)

    def test_another_ending_is_refused_before_any_work(self, tmp_path):
        with (
            pytest.raises(ConfigError, match=r"wanted .png, .pdf, .svg"),
            drawn(tmp_path / "x.doc", 1, 1, (1, 1)),
        ):
            pytest.fail("drew")

    def test_a_place_that_cannot_be_written_is_a_sentence(self, tmp_path):
        (tmp_path / "file").touch()
        with (
            pytest.raises(RunError, match="is not a folder"),
            drawn(tmp_path / "file" / "x.png", 1, 1, (1, 1)),
        ):
            pass

    def test_what_fails_leaves_nothing_behind(self, tmp_path):
        before = plots.get_fignums()
        with pytest.raises(ZeroDivisionError), drawn(tmp_path / "x.png", 1, 1, (1, 1)):
            raise ZeroDivisionError
        assert list(tmp_path.iterdir()) == []
        assert plots.get_fignums() == before


def test_the_ground_shows_lava_start_and_goal():
    _, axis = plots.subplots()
    draw_ground(axis, CLIFF)
    assert {text.get_text() for text in axis.texts} == {"S", "G"}
    assert len(axis.patches) == 6 + 1 + 1  # Lava, the goal, the frame.
    plots.close()


def test_every_pair_has_a_triangle_and_every_state_an_arrow():
    figure, (pairs, plan) = plots.subplots(1, 2)
    draw_pairs(figure, pairs, CLIFF, np.arange(256.0).reshape(64, 4), "Blues", "count")
    (triangles,) = pairs.collections
    live = (~CLIFF.terminal).sum()
    assert len(triangles.get_array()) == 4 * live
    assert triangles.get_array()[:4].tolist() == [0, 1, 2, 3]
    draw_plan(figure, plan, CLIFF, TabularMDP.of_world(CLIFF), UP)
    (arrows,) = plan.collections
    assert arrows.U.tolist() == [0] * live
    assert (arrows.V < 0).all()  # Up, where rows are counted downwards.
    plots.close(figure)


def test_chance_to_pass_by_hand():
    chances = chance_to_pass(TabularMDP.of_world(CLIFF), UP)
    assert np.flatnonzero(chances == 1).tolist() == [0, 8, 16, 24, 32, 40, 48, 56]
    assert chances.sum() == 8
