import pytest

from countmorl.errors import RunError
from countmorl.reports.search import read_runs
from made_runs import make_run


def names(runs):
    return [run.summary.name for run in runs]


def test_a_run_and_a_folder_of_runs(tmp_path):
    make_run(tmp_path / "sweep" / "one")
    make_run(tmp_path / "sweep" / "two", seed=1)
    make_run(tmp_path / "alone", seed=2)
    (tmp_path / "sweep" / "sweep.json").write_text("{}")
    (tmp_path / "sweep" / "logs").mkdir()
    found = read_runs([tmp_path / "alone", tmp_path / "sweep"])
    assert names(found.methods) == ["alone", "one", "two"]
    assert (found.shared, found.damaged, found.empty) == ((), (), ())


def test_two_levels_are_searched_and_no_more(tmp_path):
    make_run(tmp_path / "all" / "sweep" / "run")
    make_run(tmp_path / "all" / "sweep" / "run" / "inner")
    make_run(tmp_path / "all" / "a" / "b" / "deep")
    make_run(tmp_path / "all" / ".hidden" / "run")
    assert names(read_runs([tmp_path / "all"]).methods) == ["run"]


def test_a_run_that_is_named_twice_counts_once(tmp_path):
    make_run(tmp_path / "sweep" / "one")
    found = read_runs([tmp_path / "sweep" / "one", tmp_path / "sweep", tmp_path / "sweep/../sweep"])
    assert names(found.methods) == ["one"]


def test_models_and_data_are_no_methods(tmp_path):
    for name in ("model", "codes", "recipe", "bc"):
        make_run(tmp_path / name, algorithm=name)
    found = read_runs([tmp_path])
    assert names(found.methods) == ["bc"]
    assert names(found.shared) == ["codes", "model", "recipe"]


def test_a_damaged_run_is_left_out_with_its_sentence(tmp_path):
    make_run(tmp_path / "good")
    make_run(tmp_path / "bad").append("metrics.jsonl", {"stage": 3})
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "config.json").write_text('{"format": 1}')
    found = read_runs([tmp_path])
    assert names(found.methods) == ["good"]
    assert [each.path for each in found.damaged] == [str(tmp_path / "bad"), str(tmp_path / "old")]
    assert "does not say which stage" in found.damaged[0].sentence
    assert "written in format 1" in found.damaged[1].sentence


def test_a_folder_without_runs_beside_one_with(tmp_path):
    make_run(tmp_path / "run")
    (tmp_path / "empty").mkdir()
    assert read_runs([tmp_path / "empty", tmp_path / "run"]).empty == (str(tmp_path / "empty"),)


class TestNothing:
    def test_no_folder(self):
        with pytest.raises(RunError, match="No folder is given; wanted run folders"):
            read_runs([])

    def test_no_run(self, tmp_path):
        with pytest.raises(RunError, match=r"There is no run in .*a run is a folder with a config"):
            read_runs([tmp_path])

    def test_a_file_and_a_hole(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(RunError, match="file is a file; wanted a run folder"):
            read_runs([tmp_path / "file"])
        with pytest.raises(RunError, match="hole is not there; wanted a run folder"):
            read_runs([tmp_path / "hole"])

    def test_only_damaged_runs(self, tmp_path):
        for name in "ab":
            (tmp_path / name).mkdir()
            (tmp_path / name / "config.json").write_text("no")
        with pytest.raises(RunError, match=r"None of 2 runs can be read; the first: .*a/config"):
            read_runs([tmp_path])
        with pytest.raises(RunError, match=r"The only run cannot be read: .*is not readable JSON"):
            read_runs([tmp_path / "a"])
