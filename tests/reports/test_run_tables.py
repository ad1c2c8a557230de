from countmorl.reports import run_tables as tables
from made_dossier import CARD, CHOSEN, COVERAGE, GUARD
from made_runs import CALIBRATION


def texts(grid):
    return [[cell.text for cell in row] for row in grid.rows]


def test_density_by_codes_and_by_distances():
    by_codes = dict(texts(tables.density_grid(COVERAGE["density"])))
    assert by_codes["rows of each"] == "8.0"
    assert by_codes["with a single row"] == "12.5 %"
    assert by_codes["unseen, of episodes set aside"] == "25.0 %"
    by = COVERAGE["density"] | {"counted_by": "neighbours", "held_out": False}
    found = dict(texts(tables.density_grid(by)))
    assert found["covered, of the log's own rows"] == "50.0 %"
    assert "rows of each" not in found


def test_played_guards_have_two_more_columns():
    game = {"returns": 5.0, "score": None, "rate": 0.25, "switches": 1.0}
    points = [CHOSEN | {"played": game}, CHOSEN | {"threshold": 3.0}]
    first, second = texts(tables.guard_grid(points, CHOSEN))
    assert first[0] == "guarded, chosen"
    assert first[-2:] == ["5", "25.0 %"]
    assert second[0] == "guarded"
    assert second[-2:] == ["-", "-"]
    assert len(tables.guard_grid(GUARD["points"], CHOSEN).heads) == 8


def test_a_move_of_more_than_all_rows_cannot_come():
    ((*_, few, many),) = texts(tables.watch_grid(CARD["watch"]))
    assert (few, many) == ("-", "34 points")


def test_what_is_rounding_alone_is_none():
    column = CARD["log"]["columns"][0] | {"quantiles": [-1.0, -0.99, -6.1e-17, 0.99, 1.0]}
    assert texts(tables.column_grid([column]))[0][3:8] == ["-1", "-0.99", "0", "0.99", "1"]


def test_what_counts_notice():
    first, second = texts(tables.calibration_grid(CALIBRATION))
    assert first == ["actions of other rows", "1", "-", "75.0 %"]
    assert second == ["actions moved by 0.3 deviations", "2", "25.0 %", "87.5 %"]


def test_regions_ways_and_questions():
    assert texts(tables.region_grid(COVERAGE["untried"], []))[0][2:] == ["3", "41"]
    assert texts(tables.way_grid(COVERAGE["ways"]))[0][-1] == "75.0 %"
    assert texts(tables.way_out_grid(COVERAGE["ways_out"]))[0][1:] == ["40.0 %", "7"]
    assert texts(tables.wanted_grid(COVERAGE["log_next"]))[0][1:5] == ["50.0 %", "9", "4", "2"]
    assert texts(tables.column_grid(CARD["log"]["columns"]))[0][-1] == "200"
