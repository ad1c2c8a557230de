import errno
import json
import os

import numpy as np
import pytest

from countmorl.errors import RunError
from countmorl.runs.folder import Run

ARRAYS = {"state": np.arange(4, dtype=np.float32)}


@pytest.fixture
def run(tmp_path):
    return Run.create(tmp_path / "run", {"algorithm": "bc", "versions": {"countmorl": "0.0.1"}})


class TestCreate:
    def test_writes_the_config(self, run):
        assert json.loads((run.path / "config.json").read_text()) == {
            "format": 1,
            "algorithm": "bc",
            "versions": {"countmorl": "0.0.1"},
        }
        assert run.config["algorithm"] == "bc"

    def test_an_empty_folder_is_taken(self, tmp_path):
        (tmp_path / "run").mkdir()
        assert Run.create(tmp_path / "run", {}).config == {"format": 1}

    def test_an_existing_run_is_never_touched(self, run):
        with pytest.raises(RunError, match=f"exists already.*countmorl resume {run.path}.*--out"):
            Run.create(run.path, {"algorithm": "other"})
        assert run.config["algorithm"] == "bc"

    def test_a_file_is_never_touched(self, tmp_path):
        (tmp_path / "run").write_text("mine")
        with pytest.raises(RunError, match="exists already"):
            Run.create(tmp_path / "run", {})
        assert (tmp_path / "run").read_text() == "mine"


class TestOpen:
    def test_reads_what_was_created(self, run):
        assert Run.open(str(run.path)).config == run.config

    def test_a_missing_folder(self, tmp_path):
        with pytest.raises(RunError, match=r"no run folder .*nowhere"):
            Run.open(tmp_path / "nowhere")

    def test_another_folder(self, tmp_path):
        with pytest.raises(RunError, match=r"not a run folder: it holds no config.json"):
            Run.open(tmp_path)

    @pytest.mark.parametrize("text", ["{", "[]", "3", '"x"'])
    def test_a_damaged_config(self, run, text):
        (run.path / "config.json").write_text(text)
        with pytest.raises(RunError, match=r"config.json.*config of a run"):
            Run.open(run.path)

    def test_another_format(self, run):
        changed = run.config | {"format": 7}
        (run.path / "config.json").write_text(json.dumps(changed))
        with pytest.raises(RunError, match=r"in format 7, .* reads format 1.*countmorl 0.0.1"):
            Run.open(run.path)

    def test_another_format_without_a_table_of_versions(self, run):
        (run.path / "config.json").write_text('{"format": 7, "versions": "0.0.1"}')
        with pytest.raises(RunError, match="in format 7"):
            Run.open(run.path)


class TestMetrics:
    def test_lines_are_read_in_order(self, run):
        assert run.metrics() == []
        run.append("metrics.jsonl", {"epoch": 1, "loss": 0.5})
        run.append("metrics.jsonl", {"epoch": 2, "loss": 0.25})
        assert run.metrics() == [{"epoch": 1, "loss": 0.5}, {"epoch": 2, "loss": 0.25}]

    def test_an_unfinished_last_line_is_passed_over(self, run):
        run.append("metrics.jsonl", {"epoch": 1})
        with open(run.metrics_path, "a") as file:
            file.write('{"epo')
        assert run.metrics() == [{"epoch": 1}]

    @pytest.mark.parametrize("line", [b"{oops}\n", b"\xff\n"])
    def test_a_damaged_line_is_said(self, run, line):
        run.metrics_path.write_bytes(b'{"epoch": 1}\n' + line)
        with pytest.raises(RunError, match=r"metrics.jsonl is damaged"):
            run.metrics()

    def test_a_full_disk_is_said(self, run, monkeypatch):
        def full(descriptor):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(RunError, match=r"disk is full: .*metrics.jsonl"):
            run.append("metrics.jsonl", {"epoch": 1})


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
        assert run.metrics() == [{"epoch": 1}]
        run.rewind(size)
        assert run.metrics() == [{"epoch": 1}]

    def test_to_the_beginning(self, run):
        run.rewind(0)
        run.append("metrics.jsonl", {"epoch": 1})
        run.rewind(0)
        assert run.metrics() == []

    def test_metrics_that_were_shortened_are_said(self, run):
        run.append("metrics.jsonl", {"epoch": 1})
        with pytest.raises(RunError, match=r"shorter than when the checkpoint.*start a new run"):
            run.rewind(1000)
        assert run.metrics() == [{"epoch": 1}]


class TestLock:
    def test_a_second_one_is_refused_while_the_first_is_held(self, run):
        with run.lock(), pytest.raises(RunError, match="Another process is training"), run.lock():
            pass

    def test_it_can_be_taken_again(self, run):
        for _ in range(2):
            with run.lock():
                pass
