import json

import numpy as np
import pytest

from countmorl.runs.folder import Run
from small_runs import vector_log

MODEL = (
    "--model.members 3 --model.elites 2 --model.width 8 --model.batch 32 --model.holdout 40 "
    "--model.max-epochs 2 --model.least-steps 1"
)
DREAMS = (
    "--epochs 3 --updates 4 --batch 20 --horizon 2 --branches 20 --retain 2 --sac.hidden 8 8 "
    "--termination never --eval-every 0 --save-every 1"
)


@pytest.mark.slow
def test_a_model_alone_and_then_policies_in_it(run_cli, tmp_path):
    np.savez(tmp_path / "log.npz", **vector_log())
    code, out, _ = run_cli("train", "model", "log.npz", "--out", "shared", *MODEL.split())
    assert (code, out) == (0, "Run: shared\n")
    shared = Run.open("shared")
    assert (shared.finished, shared.stages()) == (True, ["model", "termination"])
    assert {record.stage for record in shared.records()} == {"model", "termination"}
    words = ("train", "mopo", "log.npz", "--out", "run", "--model", "shared", *DREAMS.split())
    assert run_cli(*words)[0] == 0
    run = Run.open("run")
    assert (run.manifest.model_run, run.manifest.config["model"]["width"]) == ("../shared", 8)
    assert {record.stage for record in run.records()} == {"policy"}
    assert shared.result_path("model").exists()
    code, _, err = run_cli("evaluate", "shared")
    assert (code, "holds no policy.safetensors" in err) == (2, True)
    code, _, err = run_cli("train", "bc", "log.npz", "--model", "shared", "--out", "x")
    assert (code, "has no option '--model'." in err) == (2, True)


@pytest.mark.slow
def test_codes_alone_and_then_two_estimates_that_count_by_them(run_cli, tmp_path):
    np.savez(tmp_path / "log.npz", **vector_log())
    assert (
        run_cli("train", "model", "log.npz", "--out", "model", "--seed", 3, *MODEL.split())[0] == 0
    )
    codes = "--codes.bits 6 --codes.fit-epochs 1 --codes.fit-updates 9".split()
    words = ("train", "codes", "log.npz", "--model", "model", "--out", "codes", *codes)
    assert run_cli(*words)[0] == 0
    assert (Run.open("codes").manifest.options.seed, Run.open("codes").finished) == (3, True)
    for estimate in ("LC", "UC"):
        more = ("--model", "codes", "--estimate", estimate, "--out", estimate, *codes)
        assert run_cli("train", "count-morl", "log.npz", *DREAMS.split(), *more)[0] == 0
        assert {record.stage for record in Run.open(estimate).records()} == {"policy"}


class TestTabular:
    def test_from_data_to_certificate(self, run_cli, tabular):
        known = ("--value-range", -1, 1, "--successors", 4)
        words = ("train", "tabular", tabular / "cliff.hdf5", *known)
        code, out, err = run_cli(*words, "--out", "run")
        assert (code, err) == (0, "")
        assert "pairs seen              228 of 228" in out
        assert "with 95% certainty" in out
        assert "run                     run" in out.splitlines()

    def test_json(self, run_cli, tabular):
        words = ("train", "tabular", tabular / "cliff.hdf5", "--out", "run", "--json")
        result = json.loads(run_cli(*words)[1])
        assert (result["run"], result["rows"], result["states"]) == ("run", 3000, 64)
        assert result["policy"] == "run/policy.safetensors"
        assert result["certified"] <= result["value_model"]

    def test_the_default_folder(self, run_cli, tabular):
        run_cli("train", "tabular", tabular / "cliff.hdf5")
        assert Run.open("runs/tabular-cliff").finished

    def test_a_certificate_that_says_nothing_says_so(self, run_cli, tabular):
        code, out, _ = run_cli("train", "tabular", tabular / "cliff.hdf5", "--out", "run")
        assert code == 0
        assert "This certificate says nothing" in out

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            (("continuous.npz",), "are continuous"),
            (("missing.npz",), "There is no file missing.npz"),
            (("continuous.npz", "--gamma", 1), "gamma"),
            (("continuous.npz", "--value-range", 1, -1), "`value_range` must be (least, greatest)"),
        ],
    )
    def test_bad_input_is_a_sentence(self, run_cli, tmp_path, words, sentence):
        columns = {"observations": np.linspace(0, 1, 5), "actions": np.zeros(5)}
        np.savez(tmp_path / "continuous.npz", rewards=np.zeros(5), **columns)
        code, _, err = run_cli("train", "tabular", *words)
        assert (code, err.count("\n")) == (2, 1)
        assert sentence in err
        assert not (tmp_path / "runs").exists()
