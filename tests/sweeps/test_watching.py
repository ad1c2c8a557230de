import io

import pytest
from rich.console import Console

from countmorl.sweeps.engine import Outcome
from countmorl.sweeps.folder import SweepFolder
from countmorl.sweeps.standing import Standing
from countmorl.sweeps.watching import Lines, LiveTable, cells, watcher_for
from sweeps_parts import finish, small_plan


@pytest.fixture
def sweep(tmp_path):
    return small_plan(tmp_path, "count-morl", "bc"), SweepFolder(tmp_path / "sweep")


def test_one_line_per_run_that_ended(sweep, capsys):
    plan, folder = sweep
    lines = Lines(plan, folder)
    lines.begin({plan.rows[0].name})
    lines.tick([])
    clone = plan.rows[-1]
    finish(folder, clone)
    lines.ended(clone, Outcome(name=clone.name, state="done"))
    other = plan.rows[1]
    lines.ended(other, Outcome(name=other.name, state="failed", sentence="It fell."))
    lines.close()
    first, second, third = capsys.readouterr().err.splitlines()
    assert first == f"4 runs, 1 of them finished before. Folder: {folder.path}"
    assert second.startswith("[2/4] bc-log-seed0: score 12.5 over the last 1, ")
    assert second.endswith(" left")
    assert third.startswith(f"[3/4] {other.name}: failed: It fell., ")


def test_the_last_line_has_no_time_left_and_unjudged_runs_no_score(sweep, capsys):
    plan, folder = sweep
    lines = Lines(plan, folder)
    lines.begin({row.name for row in plan.rows[1:]})
    run = finish(folder, plan.rows[0])
    run.metrics_path.unlink()
    lines.ended(plan.rows[0], Outcome(name=plan.rows[0].name, state="done"))
    assert capsys.readouterr().err.splitlines()[-1] == f"[4/4] {plan.rows[0].name}: finished"


def test_a_live_table_shows_what_is_under_way(sweep):
    plan, folder = sweep
    table = LiveTable(plan, folder)
    shown = io.StringIO()
    table.console = Console(file=shown, width=100)
    finish(folder, plan.rows[-1])
    table.console.print(table.shown([plan.rows[-1].name, plan.rows[0].name]))
    text = shown.getvalue()
    assert "bc-log-seed0" in text
    assert "policy" in text
    assert "1/3" in text
    assert "12.5" in text
    assert "starting" in text
    assert "0 of 4 runs ended" in text


def test_it_opens_renews_itself_and_goes_away(sweep):
    plan, folder = sweep
    table = LiveTable(plan, folder)
    shown = io.StringIO()
    table.console = table.live.console = Console(file=shown, width=100, force_terminal=True)
    table.begin(set())
    table.tick([plan.rows[0].name])
    table.say("[bold]not markup[/bold]")
    table.close()
    assert "4 runs." in shown.getvalue()
    assert "[bold]not markup[/bold]" in shown.getvalue()
    assert "time left" in shown.getvalue()


def test_cells():
    at = Standing(stage="policy", epoch=3, epochs=None, score=None, seconds_left=None)
    assert cells(at) == ("policy", "3", "", "")
    at = Standing(stage="policy", epoch=3, epochs=9, score=70.123, seconds_left=65.0)
    assert cells(at) == ("policy", "3/9", "70.1", "1:05")
    assert cells(None) == ("starting", "", "", "")


def test_lines_where_nobody_looks_at_a_terminal(sweep):
    assert type(watcher_for(*sweep)) is Lines
