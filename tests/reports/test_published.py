import pytest

from countmorl.reports.published import (
    DIMENSION_ESTIMATES,
    DIMENSIONS,
    ESTIMATES,
    MAIN,
    MAIN_V0,
    MAIN_V2,
    ROWS,
    Number,
    d4rl_name,
    parsed,
)


def test_the_notation_of_spreads():
    assert parsed("41.0(09)") == Number(mean=41.0, spread=0.9)
    assert parsed("20.9(139)") == Number(mean=20.9, spread=13.9)
    assert parsed("76.5(1.7)") == Number(mean=76.5, spread=1.7)
    assert parsed("-0.1(01)") == Number(mean=-0.1, spread=0.1)
    assert parsed("32.9") == Number(mean=32.9)
    with pytest.raises(ValueError, match="'fast' is no number"):
        parsed("fast")


def average(table, column):
    return sum(row[column].mean for row in table.values()) / len(table)


# The last line of each table of the paper: a check of our copy of its cells.
@pytest.mark.parametrize(
    ("column", "printed"),
    [
        ("count-morl", 78.8),
        ("repb-sde", 51.2),
        ("rambo", 68.9),
        ("combo", 55.9),
        ("mopo", 37.6),
        ("morel", 64.4),
        ("cql", 62.0),
        ("td3-bc", 58.2),
        ("bc", 25.1),
    ],
)
def test_columns_come_to_the_printed_averages(column, printed):
    assert average(MAIN_V2, column) == pytest.approx(printed, abs=0.06)


@pytest.mark.parametrize(
    ("column", "printed"), [("count-morl", 69.7), ("combo", 66.8), ("mopo", 36.7), ("cql", 54.9)]
)
def test_columns_of_v0_too(column, printed):
    assert average(MAIN_V0, column) == pytest.approx(printed, abs=0.06)


def test_the_main_column_is_the_best_estimate():
    for name, row in ESTIMATES.items():
        assert max(each.mean for each in row.values()) == MAIN_V2[name]["count-morl"].mean


def test_the_best_length_has_the_score_of_its_estimate():
    for name, row in DIMENSIONS.items():
        best = max(each.mean for each in row.values())
        assert best == ESTIMATES[name][DIMENSION_ESTIMATES[name]].mean


def test_some_cells_by_hand():
    assert MAIN["hopper-medium-replay-v2"]["mopo"] == Number(mean=64.2, spread=28.9)
    assert MAIN["walker2d-medium-expert-v0"]["combo"] == Number(mean=103.3)
    assert DIMENSIONS["hopper-medium-expert-v2"]["32"] == Number(mean=90.3, spread=16.6)
    assert DIMENSION_ESTIMATES["walker2d-medium-v2"] == "AVG"
    assert ESTIMATES["walker2d-random-v2"]["LC"] == Number(mean=21.9, spread=0.1)
    assert len(ROWS) == 12


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("hopper-medium-replay-v2", "hopper-medium-replay-v2"),
        ("hopper_medium_replay-v2", "hopper-medium-replay-v2"),
        ("data/Hopper_medium-v2.hdf5", "hopper-medium-v2"),
        ("hopper-medium-v0", "hopper-medium-v0"),
        ("hopper_medium_replay-recipe", None),
        ("hopper-medium", None),
        ("hopper-expert-v2", None),
    ],
)
def test_names_of_d4rl(name, known):
    assert d4rl_name(name) == known
