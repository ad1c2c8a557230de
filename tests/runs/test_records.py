import runpy
from dataclasses import fields

import pytest

from countmorl.errors import RunError
from countmorl.runs.folder import Run
from countmorl.runs.records import METRICS, Record, Timing, table

WHERE = "metrics.jsonl, line 3"
ABOUT = {"stage": "policy", "epoch": 2}


class TestRecord:
    def test_metrics_are_read_by_attribute(self):
        record = Record.of(ABOUT | {"q": 1.5, "return": -3, "rollout_unseen": [0.1, 0.2]}, WHERE)
        assert (record.stage, record.epoch, record.q) == ("policy", 2, 1.5)
        assert (record.return_, record.judged) == (-3, True)
        assert record.rollout_unseen == [0.1, 0.2]
        assert (record.loss, record.others) == (None, {})

    def test_one_that_was_not_judged(self):
        assert not Record.of(ABOUT, WHERE).judged

    def test_metrics_of_ones_own_are_kept(self):
        """Also those that have a name of ours and another form: no reader stumbles over them."""
        record = Record.of(ABOUT | {"surprise": 1.0, "q": [1.0, 2.0], "rollout_unseen": 3}, WHERE)
        assert record.others == {"surprise": 1.0, "q": [1.0, 2.0], "rollout_unseen": 3}
        assert record.q is record.rollout_unseen is None

    @pytest.mark.parametrize("line", [3, None, [], "x"])
    def test_what_is_no_table(self, line):
        with pytest.raises(RunError, match="line 3 is not a record of an epoch"):
            Record.of(line, WHERE)

    @pytest.mark.parametrize(
        "line", [{}, {"stage": "a"}, {"epoch": 1}, {"stage": 3, "epoch": 1}, ABOUT | {"epoch": 1.5}]
    )
    def test_what_is_of_no_stage_and_epoch(self, line):
        with pytest.raises(RunError, match="line 3 does not say which stage and epoch it is of"):
            Record.of(line, WHERE)

    @pytest.mark.parametrize("value", ["high", None, {"a": 1}, [1, "2"], [[1], [None]]])
    def test_what_is_no_number(self, value):
        with pytest.raises(RunError, match=r"line 3: `loss` is .*, wanted numbers"):
            Record.of(ABOUT | {"loss": value}, WHERE)


class TestTiming:
    def test_is_read_by_attribute(self):
        timing = Timing.of(ABOUT | {"seconds": 2.0, "updates_per_second": 9.0}, WHERE)
        assert (timing.seconds, timing.compile_seconds, timing.updates_per_second) == (2, 0, 9)
        assert timing.peak_memory is None
        assert Timing.of(ABOUT | {"seconds": 2.0, "peak_memory": 3e9}, WHERE).peak_memory == 3e9

    @pytest.mark.parametrize("values", [{}, {"compile_seconds": 1.0}, {"seconds": 1, "minutes": 2}])
    def test_what_is_none_is_said(self, values):
        with pytest.raises(RunError, match="line 3 is not a timing: it has"):
            Timing.of(ABOUT | values, WHERE)


class TestTable:
    def test_every_metric_has_its_stage_and_a_sentence(self):
        told = {field.name for field in fields(Record)} - {"stage", "epoch", "others"}
        assert {field.name for field in METRICS.values()} == told
        for name, field in METRICS.items():
            assert field.metadata["stage"], name
            assert field.metadata["about"][0].isupper(), name
            assert field.metadata["about"].endswith("."), name

    def test_names_are_those_of_the_file(self):
        assert METRICS["return"].name == "return_"
        assert "alpha" not in METRICS  # The margin of LC and UC; SAC's is the entropy's weight.

    def test_in_markdown(self):
        head, _, *rows = table().splitlines()
        assert head == "| metric | stage | meaning |"
        assert len(rows) == len(METRICS)
        wanted = "| `return` | policy, evaluations | Mean undiscounted return of the episodes"
        assert any(row.startswith(wanted) for row in rows)
        assert all(row.count("|") == 4 for row in rows)

    def test_the_module_prints_it(self, capsys):
        with pytest.warns(RuntimeWarning, match="found in sys.modules"):
            runpy.run_module("countmorl.runs.records", run_name="__main__")
        assert capsys.readouterr().out == table() + "\n"


def test_all_that_a_training_writes_is_in_the_table(trained):
    for record in Run.open(trained / "run").records():
        assert record.others == {}
