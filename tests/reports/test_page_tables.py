from dataclasses import replace

from countmorl.reports import page_tables as grids
from countmorl.reports.aggregates import aggregate
from countmorl.reports.beside import beside
from countmorl.reports.costs import costs, counted
from countmorl.reports.groups import group
from countmorl.reports.scores import score_tables
from countmorl.runs.manifest import DataOrigin
from made_runs import CALIBRATION, make_facts


def facts(score, algorithm="bc", seed=0):
    origin = DataOrigin(name="hopper-medium-v2", hash="0123456789abcdef")
    return make_facts(score, algorithm=algorithm, seed=seed, data=origin, config={"epochs": 9})


STUDY = group([facts(10.0), facts(14.0, seed=1), facts(3.0, "mopo")])
TABLE = score_tables(STUDY, 5)[0]


def texts(grid):
    return [[f"{cell.text} {cell.small}".strip() for cell in row] for row in grid.rows]


def test_scores():
    grid = grids.score_grid(TABLE)
    assert grid.heads == ("data", "bc", "mopo")
    assert texts(grid) == [["hopper-medium-v2", "12.0 ± 2.8 2 seeds", "3.0 1 seed"]]
    _, best, worse = grid.rows[0]
    assert (best.sort, best.bold, best.numeric, worse.bold) == (12, True, True, False)


def test_seeds_that_are_the_same_for_all_are_not_repeated():
    alike = score_tables(group([facts(10.0), facts(3.0, "mopo")]), 5)[0]
    assert texts(grids.score_grid(alike)) == [["hopper-medium-v2", "10.0", "3.0"]]
    lacking = replace(alike, cells={("bc", "hopper-medium-v2"): alike.cells["bc", alike.data[0]]})
    empty = grids.score_grid(lacking).rows[0][2]
    assert (empty.text, empty.sort, empty.numeric) == ("-", None, True)


def test_unfinished_runs_are_marked():
    run = facts(10.0)
    late = replace(run, summary=replace(run.summary, finished=False))
    table = score_tables(group([late]), 5)[0]
    assert texts(grids.score_grid(table))[0][1] == "10.0 †"


def test_the_paper_beside_ours():
    grid = grids.paper_grid(beside(STUDY, TABLE, 5).pairs)
    assert texts(grid) == [
        ["hopper-medium-v2", "bc", "12.0 ± 2.8 2 seeds", "29.0 v0 data", "-17.0", "-", "-"],
        ["hopper-medium-v2", "mopo", "3.0 1 seed", "20.9 ± 13.9", "-17.9", "-", "-"],
    ]


def test_over_tasks():
    found = aggregate(TABLE)
    first, second = texts(grids.overall_grid(found))
    assert first[1].startswith("12.0 [10.0, 14.0]")
    assert second == ["mopo", "3.0", "3.0", "3.0", "1"]
    assert texts(grids.improvement_grid(found))[0] == ["bc", "mopo", "1.00", "1"]


def test_costs():
    model = replace(make_facts(algorithm="model"), seconds={"model": 3600.0}, peak_memory=2.5e9)
    *_, shared = texts(grids.cost_grid(costs(STUDY, [model])))
    assert shared[:4] == ["models and codes, shared", "1", "1.00", "0.00"]
    assert shared[-1] == "2.50"
    assert texts(grids.cost_grid(costs(STUDY, [])))[0] == [
        *("bc", "2", "0.02", "0.02", "0.7", "4", "100", "-"),
    ]


def test_counts():
    run = replace(make_facts(1.0), calibration=CALIBRATION, unseen=0.125)
    (row,) = texts(grids.counted_grid(counted(group([run]))))
    assert row[2:] == ["4.5", "12.5", "7.5", "-0.50", "Counts predict the model's error."]
    (row,) = texts(grids.counted_grid(counted(group([replace(run, unseen=None)]))))
    assert row[3] == "-"


def test_what_was_run():
    assert texts(grids.method_grid(STUDY)) == [
        ["bc", "bc", "1", "0, 1", "2", "2"],
        ["mopo", "mopo", "1", "0", "1", "1"],
    ]
    assert texts(grids.data_grid(STUDY)) == [["hopper-medium-v2", "0123456789ab", "2", "3"]]


def test_every_run():
    run = facts(10.0)
    late = replace(run, summary=replace(run.summary, finished=False, measure="value"))
    rows = texts(grids.run_grid(group([late, make_facts(algorithm="cql")]), 5))
    told = ["runs/bc-0", "bc", "hopper-medium-v2", "0", "1", "unfinished, 1 of 9 epochs"]
    assert rows[0] == [*told, "value", "10", "10"]
    assert rows[1][-4:] == ["finished", "nothing", "-", "-"]
