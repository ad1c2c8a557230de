"""Pictures of coverage are written, with and without a policy."""

import pytest

from countmorl.coverage.density import density_of_data
from countmorl.coverage.figure import coverage_figure
from countmorl.coverage.regions import Region
from countmorl.coverage.report import Coverage, Way
from countmorl.coverage.ways import WayOut
from countmorl.errors import ConfigError
from worlds import chain_log

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def density():
    return density_of_data(chain_log(30))[0]


def test_data_alone_and_a_policy(density, tmp_path):
    region = Region(text="a$ above 1 with b up to 2", rows=1, expected=20.0)
    alone = Coverage(source="log", density=density, untried=(region,), situations=())
    empty = Coverage(source="log", density=density, untried=(), situations=())
    steps = [{"unseen": 0.5, "thin": 0.25, "covered": 0.25}] * 3
    ways = tuple(
        Way(name=name, shares=steps[0], by_step=steps, left=1.0) for name in ("policy", "clone")
    )
    out = WayOut(column="dose", side="above", rollouts=3, share=0.5, step=2, value=3.0, logged=1.0)
    gone = Coverage(source="run", density=density, untried=(), situations=(), ways=ways)
    left = Coverage(
        source="run", density=density, untried=(), situations=(), ways=ways, ways_out=(out,)
    )
    sizes = []
    for number, coverage in enumerate((alone, empty, gone, left)):
        path = tmp_path / f"{number}.png"
        coverage_figure(coverage, path)
        sizes.append(path.stat().st_size)
    assert sizes[0] > sizes[1]
    assert sizes[3] > sizes[2] > 1000


def test_another_ending_is_refused(density, tmp_path):
    with pytest.raises(ConfigError, match=r"wanted \.png"):
        coverage_figure(
            Coverage(source="log", density=density, untried=(), situations=()), tmp_path / "a.gif"
        )
