import errno
import os
from dataclasses import replace

import numpy as np
import pytest

from countmorl.errors import RunError
from countmorl.runs.folder import Run
from countmorl.runs.lock import BusyError, hold_lock
from countmorl.runs.manifest import Manifest

ARRAYS = {"state": np.arange(4, dtype=np.float32)}
LINE = {"stage": "policy", "epoch": 1, "loss": 0.5}
MANIFEST = Manifest(algorithm="bc", versions={"countmorl": "0.0.1"})


@pytest.fixture
def run(tmp_path):
    return Run.create(tmp_path / "run", MANIFEST)


class TestCreate:
    def test_writes_the_manifest(self, run):
        assert {path.name for path in run.path.iterdir()} == {".lock", "config.json"}
        assert run.manifest == MANIFEST

    def test_an_empty_folder_is_taken(self, tmp_path):
        (tmp_path / "run").mkdir()
        (tmp_path / "run" / ".config.json.7.tmp").touch()  # What a kill in between leaves.
        assert Run.create(tmp_path / "run", MANIFEST).manifest == MANIFEST

    def test_an_existing_run_is_never_touched(self, run):
        with pytest.raises(RunError, match=f"exists already.*countmorl resume {run.path}.*--out"):
            Run.create(run.path, Manifest(algorithm="other"))
        assert run.manifest.algorithm == "bc"

    def test_a_file_is_never_touched(self, tmp_path):
        (tmp_path / "run").write_text("mine")
        with pytest.raises(RunError, match="exists already"):
            Run.create(tmp_path / "run", MANIFEST)
        assert (tmp_path / "run").read_text() == "mine"

    @pytest.mark.usefixtures("unchecked")
    def test_a_folders_name_will_do(self, run):
        assert Run(str(run.path)).manifest == MANIFEST

    def test_what_fails_before_its_first_epoch_is_discarded(self, tmp_path):
        self.fail_after(lambda run: run.save_result("model", ARRAYS), tmp_path / "run")
        assert not (tmp_path / "run").exists()

    def test_what_has_begun_is_kept(self, tmp_path):
        self.fail_after(lambda run: run.append("metrics.jsonl", LINE), tmp_path / "run")
        assert Run(tmp_path / "run").lines("metrics.jsonl") == [LINE]

    def fail_after(self, work, path):
        def begin():
            with Run.begin(path, MANIFEST) as run:
                work(run)
                raise RunError("mine")

        with pytest.raises(RunError, match="mine"):
            begin()

    def test_a_folder_that_was_there_stays(self, tmp_path):
        (tmp_path / "run").mkdir()
        self.fail_after(lambda run: None, tmp_path / "run")
        assert list((tmp_path / "run").iterdir()) == []

    def test_temporary_files_of_others_are_no_blank_folder(self, tmp_path):
        (tmp_path / "run").mkdir()
        (tmp_path / "run" / "thesis.tmp").write_text("mine")
        with pytest.raises(RunError, match="exists already"):
            Run.create(tmp_path / "run", MANIFEST)
        assert (tmp_path / "run" / "thesis.tmp").read_text() == "mine"

    def test_of_two_beginnings_the_second_is_told_and_removes_nothing(self, tmp_path):
        with Run.begin(tmp_path / "run", MANIFEST) as run:
            with pytest.raises(RunError, match="exists already"):
                Run.create(run.path, MANIFEST)
            assert run.manifest == MANIFEST

    def test_of_two_in_a_blank_folder_the_second_is_told_and_removes_nothing(self, tmp_path):
        """The first has the lock and no manifest yet."""
        (tmp_path / "run").mkdir()
        with hold_lock(tmp_path / "run"):
            with pytest.raises(BusyError, match="Another process"):
                Run.create(tmp_path / "run", MANIFEST)
            assert (tmp_path / "run" / ".lock").exists()


class TestOpen:
    def test_reads_what_was_created(self, run):
        assert Run.open(str(run.path)).manifest == run.manifest

    def test_a_missing_folder(self, tmp_path):
        with pytest.raises(RunError, match=r"no run folder .*nowhere"):
            Run.open(tmp_path / "nowhere")

    def test_another_folder(self, tmp_path):
        with pytest.raises(RunError, match=r"not a run folder: it holds no config.json"):
            Run.open(tmp_path)

    @pytest.mark.parametrize(
        "name",
        [".lock", "metrics.jsonl", "config.json", "stages", "policies", "stages/model.safetensors"],
    )
    def test_a_run_with_a_link_in_it_is_refused(self, run, tmp_path, name):
        (tmp_path / "victim").mkdir()
        path = run.path / name
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(tmp_path / "victim")
        with pytest.raises(RunError, match=rf"{name} is a link|holds no config.json"):
            Run.open(run.path)

    @pytest.mark.parametrize("text", ["{", "[]", "3", '"x"'])
    def test_a_damaged_config(self, run, text):
        (run.path / "config.json").write_text(text)
        with pytest.raises(RunError, match=r"config.json.*config of a run"):
            Run.open(run.path)


class TestFinished:
    @pytest.mark.parametrize(
        ("algorithm", "stage", "finished"),
        [
            ("bc", "policy", True),
            ("tabular", "plan", True),
            ("model", "model", True),
            ("count-morl", "model", False),
            ("repb-sde", "policy-0", False),
        ],
    )
    def test_when_what_was_asked_for_is_there(self, tmp_path, algorithm, stage, finished):
        run = Run.create(tmp_path / "run", Manifest(algorithm=algorithm))
        assert not run.finished
        run.save_result(stage, ARRAYS)
        assert run.finished is finished

    def test_trained_on(self, run):
        """Its last result is gone, its manifest another, everything else as it was."""
        run.save_result("model", ARRAYS)
        run.save_result("policy", ARRAYS)
        run.save_checkpoint(ARRAYS, {})
        run.trained_on(replace(MANIFEST, epochs_before=(4,)))
        assert not run.finished
        assert run.stages() == ["model"]
        assert run.load_checkpoint() is not None
        assert run.manifest.epochs_before == (4,)


class TestKeptPolicies:
    @pytest.fixture
    def kept(self, run):
        for epoch in (10, 2, 8):
            path = run.kept_policy_path(epoch)
            path.parent.mkdir(exist_ok=True)
            path.touch()
        (path.parent / "epoch-best.safetensors").touch()  # Somebody else's.
        return run

    def test_by_epoch_and_in_order(self, run, kept):
        assert list(kept.kept_policies()) == [2, 8, 10]
        assert kept.kept_policies()[8] == run.path / "policies" / "epoch-8.safetensors"

    def test_there_are_none_at_first(self, run):
        assert run.kept_policies() == {}
        run.drop_policies(keep=3)

    @pytest.mark.parametrize(
        ("keep", "after", "left"),
        [(2, None, [8, 10]), (9, None, [2, 8, 10]), (0, None, []), (9, 8, [2, 8]), (1, 8, [8])],
    )
    def test_earlier_ones_are_dropped_and_those_of_a_lost_attempt(self, kept, keep, after, left):
        kept.drop_policies(keep=keep, after=after)
        assert list(kept.kept_policies()) == left


class TestLines:
    def test_lines_are_read_in_order(self, run):
        assert run.lines("metrics.jsonl") == []
        run.append("metrics.jsonl", {"epoch": 1, "loss": 0.5})
        run.append("metrics.jsonl", {"epoch": 2, "loss": 0.25})
        lines = [{"epoch": 1, "loss": 0.5}, {"epoch": 2, "loss": 0.25}]
        assert run.lines("metrics.jsonl") == lines

    def test_an_unfinished_last_line_is_passed_over(self, run):
        run.append("metrics.jsonl", {"epoch": 1})
        with open(run.metrics_path, "a") as file:
            file.write('{"epo')
        assert run.lines("metrics.jsonl") == [{"epoch": 1}]

    @pytest.mark.parametrize("line", [b"{oops}\n", b"\xff\n"])
    def test_a_damaged_line_is_said(self, run, line):
        run.metrics_path.write_bytes(b'{"epoch": 1}\n' + line)
        with pytest.raises(RunError, match=r"metrics.jsonl is damaged"):
            run.lines("metrics.jsonl")

    def test_a_full_disk_is_said(self, run, monkeypatch):
        def full(descriptor):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(RunError, match=r"disk is full: .*metrics.jsonl"):
            run.append("metrics.jsonl", {"epoch": 1})


class TestRecords:
    def test_of_one_stage_or_of_all(self, run):
        for stage, epoch in (("model", 1), ("policy", 1), ("policy", 2)):
            about = {"stage": stage, "epoch": epoch}
            run.append("metrics.jsonl", about | {"loss": 0.5})
            run.append("timing.jsonl", about | {"seconds": 2.0})
        assert [record.stage for record in run.records()] == ["model", "policy", "policy"]
        assert [record.epoch for record in run.records("policy")] == [1, 2]
        assert run.records("policy")[0].loss == 0.5
        assert [timing.seconds for timing in run.timings("model")] == [2.0]
        assert run.records("codes") == run.timings("codes") == []

    @pytest.mark.parametrize(
        "read", [lambda run: run.records(), lambda run: run.timings()], ids=["metrics", "timing"]
    )
    def test_the_place_of_what_is_wrong_is_told(self, run, read):
        for name in ("metrics.jsonl", "timing.jsonl"):
            run.append(name, {"stage": "policy", "epoch": 1, "seconds": 1.0})
            run.append(name, {"seconds": 1.0})
        with pytest.raises(RunError, match=r"\.jsonl, line 2 does not say which stage and epoch"):
            read(run)


class TestResults:
    def test_what_a_stage_left(self, run):
        assert run.load_result("model") is None
        run.append("metrics.jsonl", LINE)
        run.save_result("model", ARRAYS, note="x")
        arrays, meta = run.load_result("model")
        np.testing.assert_array_equal(arrays["state"], ARRAYS["state"])
        assert (meta["stage"], meta["note"], meta["metrics_size"]) == (
            "model",
            "x",
            run.metrics_size,
        )
        assert run.stages() == ["model"]

    def test_numbers_that_are_none(self, run):
        run.save_result("model", {"best": np.array([np.inf, 1.0])})
        assert run.load_result("model") is not None
        run.save_result("model", {"weights": np.array([np.nan, 1.0])})
        with pytest.raises(RunError, match=r"model.safetensors is damaged: weights holds NaN"):
            run.load_result("model")
        run.save_checkpoint({"weights": np.array([np.nan, 1.0])}, {})
        with pytest.raises(RunError, match=r"checkpoint.safetensors is damaged: weights holds NaN"):
            run.load_checkpoint()

    def test_another_stages_result_in_its_place(self, run):
        run.save_result("codes-8", ARRAYS)
        run.result_path("codes-8").rename(run.result_path("model"))
        with pytest.raises(RunError, match="is not the result of stage model"):
            run.load_result("model")

    def test_a_run_that_counts_nothing_has_no_calibration(self, run):
        with pytest.raises(RunError, match="has no calibration"):
            run.calibration()


class TestCheckpoint:
    def test_there_is_none_at_first(self, run):
        assert run.load_checkpoint() is None

    def test_remembers_arrays_description_and_length_of_the_metrics(self, run):
        run.append("metrics.jsonl", {"epoch": 1})
        run.save_checkpoint(ARRAYS, {"stage": "policy", "epoch": 1})
        arrays, meta = run.load_checkpoint()
        np.testing.assert_array_equal(arrays["state"], ARRAYS["state"])
        assert meta["metrics_size"] == len(b'{"epoch": 1}\n')
        assert (meta["kind"], meta["stage"], meta["epoch"]) == ("checkpoint", "policy", 1)

    def test_another_file_in_its_place(self, run):
        run.save_checkpoint(ARRAYS, {"kind": "policy"})
        with pytest.raises(RunError, match="is not a checkpoint"):
            run.load_checkpoint()

    def test_a_damaged_file(self, run):
        run.save_checkpoint(ARRAYS, {})
        raw = bytearray(run.checkpoint_path.read_bytes())
        raw[-1] ^= 1
        run.checkpoint_path.write_bytes(raw)
        with pytest.raises(RunError, match=r"checkpoint.safetensors is damaged"):
            run.load_checkpoint()


class TestRewind:
    def test_cuts_what_came_after_the_checkpoint(self, run):
        run.append("metrics.jsonl", {"epoch": 1})
        size = run.metrics_path.stat().st_size
        run.append("metrics.jsonl", {"epoch": 2})
        run.rewind(size)
        assert run.lines("metrics.jsonl") == [{"epoch": 1}]
        run.rewind(size)
        assert run.lines("metrics.jsonl") == [{"epoch": 1}]

    def test_to_the_beginning(self, run):
        run.rewind(0)
        run.append("metrics.jsonl", {"epoch": 1})
        run.rewind(0)
        assert run.lines("metrics.jsonl") == []

    def test_metrics_that_were_shortened_are_said(self, run):
        run.append("metrics.jsonl", {"epoch": 1})
        with pytest.raises(RunError, match=r"shorter than when the checkpoint.*start a new run"):
            run.rewind(1000)
        assert run.lines("metrics.jsonl") == [{"epoch": 1}]

    def test_a_place_in_the_middle_of_a_line_is_said(self, run):
        run.append("metrics.jsonl", {"epoch": 1})
        with pytest.raises(RunError, match=r"No line of .*metrics.jsonl ends where"):
            run.rewind(3)
        assert run.lines("metrics.jsonl") == [{"epoch": 1}]

    @pytest.mark.parametrize("said", [0, 1, None])
    def test_a_checkpoint_that_lies_about_its_line_removes_none(self, run, said):
        """Cut to where it says the metrics ended, they would begin with the epoch after it."""
        ends = [0]
        for epoch in (1, 2, 3):
            run.append("metrics.jsonl", {"stage": "policy", "epoch": epoch})
            ends.append(run.metrics_size)
        whole = run.metrics_path.read_bytes()
        with pytest.raises(RunError, match=r"No line of .*metrics.jsonl ends where"):
            run.rewind(ends[-1 if said is None else said], ("policy", 2))
        assert run.metrics_path.read_bytes() == whole
        run.rewind(ends[2], ("policy", 2))
        assert [line["epoch"] for line in run.lines("metrics.jsonl")] == [1, 2]

    @pytest.mark.parametrize(
        ("torn", "left"),
        [('{"stage": "po', [1]), ("", [1]), ('{"epoch": 2}\n{"epo', [1, 2])],
    )
    def test_a_torn_line_is_cut_off_the_timings(self, run, torn, left):
        run.append("timing.jsonl", {"epoch": 1})
        with open(run.path / "timing.jsonl", "a") as file:
            file.write(torn)
        run.rewind(0)
        run.append("timing.jsonl", {"epoch": 9})
        assert [line["epoch"] for line in run.lines("timing.jsonl")] == [*left, 9]


class TestLinks:
    """What a foreign folder's links point to stays as it is."""

    @pytest.fixture
    def victim(self, tmp_path):
        path = tmp_path / "victim"
        path.write_text("precious")
        return path

    @pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
    def test_nothing_is_appended(self, run, victim, link):
        getattr(run.metrics_path, link)(victim)
        with pytest.raises(RunError, match="link"):
            run.append("metrics.jsonl", LINE)
        assert victim.read_text() == "precious"

    @pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
    def test_nothing_is_cut_off(self, run, victim, link):
        getattr(run.metrics_path, link)(victim)
        with pytest.raises(RunError, match="link"):
            run.rewind(0)
        assert victim.read_text() == "precious"

    def test_a_checkpoint_takes_a_links_place(self, run, victim):
        run.checkpoint_path.symlink_to(victim)
        run.save_checkpoint(ARRAYS, {})
        assert victim.read_text() == "precious"
        assert not run.checkpoint_path.is_symlink()


class TestLock:
    def test_a_second_one_is_refused_while_the_first_is_held(self, run):
        with run.lock(), pytest.raises(RunError, match="Another process is training"), run.lock():
            pass

    def test_it_can_be_taken_again(self, run):
        for _ in range(2):
            with run.lock():
                pass
