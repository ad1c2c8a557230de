"""The trade-off's picture, where nobody acts too; that of a run is drawn in test_choose."""

from types import SimpleNamespace

import pytest

from countmorl.errors import ConfigError
from countmorl.guarding.curve import Point
from countmorl.guarding.figure import guard_figure

pytest.importorskip("matplotlib")


def chosen(**more):
    points = [
        Point(name="unguarded"),
        Point(name="guarded", threshold=2.0, held_out=0.1, at_logged=0.5, **more),
        Point(name="fall-back alone"),
    ]
    return SimpleNamespace(points=points, point=points[1])


@pytest.mark.usefixtures("unchecked")
def test_with_and_without_values(tmp_path):
    guard_figure(chosen(), "run", tmp_path / "a.png")
    guard_figure(chosen(value=1.0, interval=(0.0, 2.0), imagined=0.3), "run", tmp_path / "b.png")
    sizes = [(tmp_path / name).stat().st_size for name in ("a.png", "b.png")]
    assert 1000 < sizes[0] < sizes[1]
    with pytest.raises(ConfigError, match=r"wanted \.png"):
        guard_figure(chosen(), "run", tmp_path / "a.gif")
