import errno
import json
import os
import shutil
import sys
from importlib.metadata import version

import numpy as np
import pytest

from countmorl import BC, MOPO, DataOptions, Policy, RunOptions, load, resume, train
from countmorl.algorithms.model_alone import ModelAlone
from countmorl.configs import to_json
from countmorl.data.holdout import split
from countmorl.errors import ConfigError, DataError, MissingExtraError, RunError
from countmorl.runs.folder import Run
from small_runs import MODEL, QUIET, small, vector_log

TINY = BC(epochs=4, updates=3, batch=8, hidden=(8,))


def assert_same_run(one, two):
    for name in ("metrics.jsonl", "policy.safetensors", "checkpoint.safetensors"):
        assert (one / name).read_bytes() == (two / name).read_bytes(), name


def read_config(run):
    return json.loads((run / "config.json").read_text())


def edit_config(run, **changes):
    path = run / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


class TestFolder:
    def test_holds_everything(self, trained):
        names = {path.name for path in (trained / "run").iterdir()}
        assert names >= {
            "config.json",
            "metrics.jsonl",
            "timing.jsonl",
            "checkpoint.safetensors",
            "policy.safetensors",
        }
        assert not [name for name in names if name.endswith(".tmp")]

    def test_config(self, trained):
        config = json.loads((trained / "run" / "config.json").read_text())
        assert config["algorithm"] == "bc"
        assert config["config"]["hidden"] == [8]
        assert (config["config"]["epochs"], config["config"]["updates"]) == (4, 3)
        assert config["options"]["save_every"] == 2
        assert config["data"]["source"] == str(trained / "log.hdf5")
        assert config["data"]["hash"] == load(trained / "log.hdf5").hash
        assert config["versions"]["countmorl"] == version("countmorl")
        assert {"jax", "numpy", "python"} <= set(config["versions"])

    def test_metrics(self, trained):
        lines = Run.open(trained / "run").lines("metrics.jsonl")
        assert [(line["stage"], line["epoch"]) for line in lines] == [
            ("policy", epoch) for epoch in (1, 2, 3, 4)
        ]
        assert all(0 < line["loss"] < 2 for line in lines)

    def test_policy(self, trained, log):
        policy = Policy.load(trained / "run")
        assert policy.info == {
            "algorithm": "bc",
            "dataset": "log",
            "task": None,
            "countmorl": version("countmorl"),
        }
        assert np.abs(policy.act(log()["observations"])).max() <= 1

    def test_its_default_name(self, log, save, tmp_path):
        data = save(tmp_path / "my log!.npz", log())
        run = train(TINY, data, options=RunOptions(seed=3), quiet=True)
        assert run.path.resolve() == tmp_path / "runs" / "bc-my-log--seed3"

    def test_an_existing_one_is_refused(self, finished, log):
        before = (finished / "metrics.jsonl").read_bytes()
        with pytest.raises(RunError, match="exists already"):
            train(TINY, log(), out=finished)
        assert (finished / "metrics.jsonl").read_bytes() == before


class TestSeed:
    def test_the_same_gives_the_same_numbers(self, trained, tmp_path):
        options = RunOptions(save_every=2)
        run = train(TINY, trained / "log.hdf5", out=tmp_path / "a", options=options, quiet=True)
        assert_same_run(run.path, trained / "run")

    def test_the_name_and_format_of_the_data_do_not_matter(self, trained, log, tmp_path):
        options = RunOptions(save_every=2)
        run = train(TINY, log(), out=tmp_path / "a", options=options, quiet=True)
        assert run.metrics_path.read_bytes() == (trained / "run" / "metrics.jsonl").read_bytes()

    def test_another_gives_others(self, trained, log, tmp_path):
        run = train(TINY, log(), out=tmp_path / "a", options=RunOptions(seed=1), quiet=True)
        assert run.metrics_path.read_bytes() != (trained / "run" / "metrics.jsonl").read_bytes()

    def test_how_often_it_is_saved_changes_nothing(self, trained, log, tmp_path):
        run = train(TINY, log(), out=tmp_path / "a", options=RunOptions(save_every=3), quiet=True)
        assert run.metrics_path.read_bytes() == (trained / "run" / "metrics.jsonl").read_bytes()


def test_data_options_reach_the_dataset(trained, tmp_path):
    data_options = DataOptions(rows=30, mode="d4rl-exact")
    run = train(
        TINY, trained / "log.hdf5", out=tmp_path / "a", data_options=data_options, quiet=True
    )
    expected = load(trained / "log.hdf5", mode="d4rl-exact", rows=30)
    assert run.manifest.data.hash == expected.hash
    assert len(expected) == 30


class TestEpisodesSetAside:
    """What judges a policy later teaches neither it nor its model."""

    def test_the_manifest_names_them_and_the_policy_does_not_see_them(self, log, tmp_path):
        arrays = log(60, episode=5)
        run = train(TINY, arrays, out=tmp_path / "run", quiet=True)
        origin = run.manifest.data
        assert vars(origin.holdout) == {"share": 0.1, "seed": 0, "episodes": 1, "rows": 5}
        part = split(load(arrays), origin.holdout).taught
        policy = Policy.load(run.path)
        np.testing.assert_allclose(policy.obs_mean, part.obs.mean(axis=0), rtol=1e-5)

    @pytest.mark.slow
    def test_a_run_that_shares_a_model_takes_those_of_its_owner(self, tmp_path):
        owner = train(ModelAlone(model=MODEL), vector_log(), out=tmp_path / "a", **QUIET)
        other = {"options": RunOptions(seed=3, eval_every=0), "quiet": True}
        user = train(small("mopo"), vector_log(), out=tmp_path / "b", model=owner.path, **other)
        assert user.manifest.data.holdout == owner.manifest.data.holdout
        assert user.manifest.data.holdout.seed == 0
        alone = DataOptions(holdout_episodes=0.2)
        with pytest.raises(ConfigError, match=r"was fitted with --holdout-episodes 0\.1"):
            train("mopo", vector_log(), out=tmp_path / "c", model=owner.path, data_options=alone)

    def test_a_share_out_of_range(self):
        with pytest.raises(ConfigError, match=r"a share from 0 to 0\.5, got 0\.7"):
            DataOptions(holdout_episodes=0.7)


def test_quiet_prints_nothing(log, tmp_path, capfd):
    train(TINY, log(), out=tmp_path / "a", quiet=True)
    assert capfd.readouterr() == ("", "")


class TestRefusals:
    """Nothing is left behind by what could have been known before."""

    def test_an_unknown_name(self, log, tmp_path):
        with pytest.raises(ConfigError, match="No method named 'bx'"):
            train("bx", log(), out=tmp_path / "a")
        assert not (tmp_path / "a").exists()

    def test_what_is_no_method(self, log, tmp_path, unchecked):
        class Mine:
            pass

        with pytest.raises(ConfigError, match=r"Mine is not a method: it must be a class of"):
            train(Mine(), log(), out=tmp_path / "a")  # type: ignore[arg-type]
        assert not (tmp_path / "a").exists()

    def test_bad_data(self, log, tmp_path):
        arrays = log()
        arrays["rewards"][3] = np.inf
        with pytest.raises(DataError, match="row 3"):
            train(TINY, arrays, out=tmp_path / "a")
        assert not (tmp_path / "a").exists()

    @pytest.mark.parametrize("rule", ["hoper", "os:nope", "os:getcwd"])
    def test_a_termination_rule_that_is_none(self, log, tmp_path, rule):
        with pytest.raises(ConfigError, match="termination rule"):
            train(MOPO(termination=rule), log(), out=tmp_path / "a")
        assert not (tmp_path / "a").exists()

    @pytest.mark.parametrize("name", ["tensorboard", "wandb", "mlflow"])
    def test_a_logger_that_is_not_installed(self, log, tmp_path, monkeypatch, name):
        package = "tensorboardX" if name == "tensorboard" else name
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(MissingExtraError, match=rf'pip install "countmorl\[{name}\]"'):
            train(TINY, log(), out=tmp_path / "a", options=RunOptions(log=(name,)))
        assert not (tmp_path / "a").exists()


def test_tensorboard_events_lie_in_the_run(log, tmp_path):
    pytest.importorskip("tensorboardX")
    options = RunOptions(log=("tensorboard",))
    run = train(TINY, log(), out=tmp_path / "a", options=options, quiet=True)
    (events,) = (run.path / "tensorboard").iterdir()
    assert events.read_bytes().count(b"policy/loss") == 4


class TestEvaluation:
    def test_every_few_epochs_and_at_the_end(self, log, tmp_path):
        run = train(
            TINY,
            log(action=1),
            out=tmp_path / "a",
            data_options=DataOptions(task="Pendulum-v1"),
            options=RunOptions(eval_every=3, eval_episodes=1),
            quiet=True,
        )
        judged = {line["epoch"]: line.get("return") for line in run.lines("metrics.jsonl")}
        assert [epoch for epoch, value in judged.items() if value is not None] == [3, 4]
        assert "score" not in run.lines("metrics.jsonl")[2]
        assert run.lines("metrics.jsonl")[2]["length"] == 200

    def test_a_known_task_has_a_score(self, log, tmp_path):
        run = train(
            TINY,
            log(obs=11, action=3),
            out=tmp_path / "a",
            data_options=DataOptions(task="hopper"),
            options=RunOptions(eval_episodes=2),
            quiet=True,
        )
        last = run.lines("metrics.jsonl")[-1]
        assert last["score"] == pytest.approx(100 * (last["return"] + 20.272305) / 3254.572305)
        assert last["score_std"] == pytest.approx(100 * last["return_std"] / 3254.572305)
        assert Policy.load(run.path).info["task"] == "Hopper-v4"

    def test_can_be_switched_off(self, log, tmp_path):
        run = train(
            TINY,
            log(action=1),
            out=tmp_path / "a",
            data_options=DataOptions(task="Pendulum-v1"),
            options=RunOptions(eval_every=0),
            quiet=True,
        )
        assert not [line for line in run.lines("metrics.jsonl") if "return" in line]

    def test_does_not_change_the_training(self, log, tmp_path):
        options = {"data_options": DataOptions(task="Pendulum-v1"), "quiet": True}
        judged, not_judged = (
            train(
                TINY,
                log(action=1),
                out=tmp_path / str(every),
                options=RunOptions(eval_every=every, eval_episodes=1),
                **options,
            )
            for every in (1, 0)
        )
        assert judged.policy_path.read_bytes() == not_judged.policy_path.read_bytes()

    def test_is_left_out_where_the_environment_is_not_registered(self, log, save, tmp_path):
        data = save(tmp_path / "log.hdf5", log(), env_id="Elsewhere-v0")
        run = train(TINY, data, out=tmp_path / "a", options=RunOptions(eval_every=1), quiet=True)
        assert len(run.lines("metrics.jsonl")) == 4

    def test_a_file_cannot_name_a_module_to_import(self, log, save, tmp_path, monkeypatch):
        (tmp_path / "hostile_module.py").write_text("open('imported', 'w').close()\n")
        monkeypatch.syspath_prepend(tmp_path)
        data = save(tmp_path / "log.hdf5", log(), env_id="hostile_module:Env-v0")
        try:
            train(TINY, data, out=tmp_path / "a", options=RunOptions(eval_every=1), quiet=True)
        except (ConfigError, RunError, DataError):
            pass
        assert not (tmp_path / "imported").exists()

    def test_a_task_of_other_sizes_is_refused_in_a_sentence(self, log, tmp_path):
        with pytest.raises(RunError, match="takes 3 numbers and gives 2, but Pendulum-v1 has"):
            train(
                TINY,
                log(),
                out=tmp_path / "a",
                data_options=DataOptions(task="Pendulum-v1"),
                quiet=True,
            )


class TestResume:
    def test_gives_the_unbroken_run(self, halted, trained):
        assert len(Run.open(halted).lines("metrics.jsonl")) == 3
        assert resume(halted, quiet=True).path == halted
        assert_same_run(halted, trained / "run")

    def test_before_the_first_checkpoint_begins_again(self, halted, trained):
        (halted / "checkpoint.safetensors").unlink()
        resume(halted, quiet=True)
        assert_same_run(halted, trained / "run")

    def test_of_a_finished_run_changes_nothing(self, finished, trained):
        resume(finished, quiet=True)
        assert_same_run(finished, trained / "run")

    def test_after_a_full_disk(self, trained, tmp_path, monkeypatch):
        fsync, calls = os.fsync, []

        def full(descriptor):
            calls.append(descriptor)
            if len(calls) == 9:
                raise OSError(errno.ENOSPC, "No space left on device")
            fsync(descriptor)

        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.raises(RunError, match="disk is full"):
                train(
                    TINY,
                    trained / "log.hdf5",
                    out=tmp_path / "a",
                    options=RunOptions(save_every=2),
                    quiet=True,
                )
        resume(tmp_path / "a", quiet=True)
        assert_same_run(tmp_path / "a", trained / "run")

    def test_where_the_data_has_moved(self, halted, trained, tmp_path):
        moved = shutil.copy(trained / "log.hdf5", tmp_path / "moved.hdf5")
        data = read_config(halted)["data"] | {"source": "/gone.hdf5"}
        edit_config(halted, data=data)
        with pytest.raises(DataError, match=r"no file /gone.hdf5.*name them with --data"):
            resume(halted, quiet=True)
        resume(halted, data=moved, inexact=True, quiet=True)
        assert len(Run.open(halted).lines("metrics.jsonl")) == 4

    def test_of_arrays_in_memory_needs_the_arrays(self, log, tmp_path):
        run = train(TINY, log(), out=tmp_path / "a", quiet=True)
        with pytest.raises(RunError, match="arrays in memory; pass the same ones as `data`"):
            resume(run.path, quiet=True)
        assert resume(run.path, data=log(), quiet=True).path == run.path


class TestResumeRefuses:
    def refused(self, run, words, **kwargs):
        """A sentence, and nothing in the folder is touched (the lock aside)."""

        def snapshot():
            files = [path for path in run.rglob("*") if path.is_file() and path.name != ".lock"]
            return {path: path.read_bytes() for path in files}

        before = snapshot()
        with pytest.raises((RunError, ConfigError, DataError), match=words) as caught:
            resume(run, quiet=True, **kwargs)
        assert "\n" not in str(caught.value)
        assert snapshot() == before

    def test_a_changed_dataset(self, halted, log):
        other = log()
        other["rewards"][0] += 1
        self.refused(halted, "dataset has changed since .*--data.*or start a new run", data=other)

    def test_another_version(self, halted):
        versions = read_config(halted)["versions"] | {"countmorl": "0.0.1"}
        edit_config(halted, versions=versions)
        self.refused(halted, r"made by countmorl 0.0.1.*countmorl==0.0.1")

    def test_another_format(self, halted):
        edit_config(halted, format=1)
        self.refused(halted, "format 1, this version reads format 2")

    def test_a_damaged_checkpoint(self, halted):
        path = halted / "checkpoint.safetensors"
        raw = bytearray(path.read_bytes())
        raw[-3] ^= 1
        path.write_bytes(raw)
        self.refused(halted, "checkpoint.safetensors is damaged")

    def test_a_checkpoint_cut_short(self, halted):
        path = halted / "checkpoint.safetensors"
        path.write_bytes(path.read_bytes()[:-10])
        self.refused(halted, "checkpoint.safetensors is not a readable")

    def test_a_policy_instead_of_the_checkpoint(self, halted):
        shutil.copy(halted / "policy.safetensors", halted / "checkpoint.safetensors")
        self.refused(halted, "is not a checkpoint")

    def test_a_checkpoint_of_a_larger_network(self, halted):
        config = read_config(halted)["config"] | {"hidden": [9]}
        edit_config(halted, config=config)
        self.refused(halted, "cannot go on bit for bit: its config.json was changed by hand")
        with pytest.raises(RunError, match=r"checkpoint.safetensors does not fit this run"):
            resume(halted, inexact=True, quiet=True)

    def test_metrics_that_were_shortened(self, halted):
        path = halted / "metrics.jsonl"
        path.write_bytes(path.read_bytes()[:20])
        self.refused(halted, "shorter than when the checkpoint was saved")

    def test_metrics_that_were_deleted(self, halted):
        (halted / "metrics.jsonl").unlink()
        self.refused(halted, "shorter than when the checkpoint was saved")

    def test_a_folder_in_use(self, halted):
        with Run.open(halted).lock():
            self.refused(halted, "Another process is training")

    @pytest.mark.parametrize("key", ["algorithm", "config", "options", "data", "versions"])
    def test_an_incomplete_config(self, halted, key):
        config = read_config(halted)
        del config[key]
        (halted / "config.json").write_text(json.dumps(config))
        self.refused(halted, f"config.json does not hold the config of a run: .*lacks {key}")

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"algorithm": "bx"}, "No method named 'bx'"),
            ({"config": {"epoch": 3}}, "no setting 'epoch'. Did you mean 'epochs'"),
            ({"config": {"epochs": "3"}}, "`epochs` must be int, got '3'"),
            ({"config": {"epochs": 3}}, "config of BC lacks .*another version"),
            ({"config": []}, "must be a table"),
            ({"options": {"seeds": 3}}, "no setting 'seeds'"),
            ({"options": {"log": ["paper"]}}, "`log` must be"),
            ({"data": 3}, "`data` must be a table or None, got 3"),
            ({"data": []}, "`data` must be a table or None"),
            ({"data": None}, "says nothing of its data"),
            ({"versions": {}}, "does not say which version"),
        ],
    )
    def test_a_changed_config(self, halted, changes, words):
        edit_config(halted, **changes)
        self.refused(halted, words)

    def test_a_value_out_of_range(self, halted):
        edit_config(halted, config=read_config(halted)["config"] | {"epochs": 0})
        self.refused(halted, "`epochs` must be at least 1")

    def test_code_that_only_the_folder_names(self, halted, tmp_path, monkeypatch):
        ran = f"import pathlib; pathlib.Path({str(tmp_path / 'ran')!r}).touch()"
        (tmp_path / "hostile.py").write_text(ran)
        monkeypatch.syspath_prepend(tmp_path)
        edit_config(halted, algorithm="mopo", config=to_json(MOPO(termination="hostile:rule")))
        self.refused(halted, "no file alone makes code run.*--termination hostile:rule")
        self.refused(halted, "no file alone", termination="other:rule")
        assert not (tmp_path / "ran").exists()
        self.refused(halted, "could not be imported", termination="hostile:rule")
        assert (tmp_path / "ran").exists()

    def test_a_config_without_a_hash(self, halted):
        edit_config(halted, data=read_config(halted)["data"] | {"hash": None})
        self.refused(halted, "config.json|hash")


@pytest.mark.usefixtures("unchecked")
def test_a_class_in_place_of_settings_is_said(log):
    with pytest.raises(ConfigError, match=r"MOPO\(\), with brackets"):
        train(MOPO, log())  # type: ignore[arg-type]


class TestDivergence:
    def test_is_said_with_epoch_and_quantity(self, log, tmp_path):
        wild = BC(epochs=4, updates=3, batch=8, hidden=(8, 8), learning_rate=1e30)
        with pytest.raises(
            RunError, match=r"diverged: `loss` is nan in epoch 1 of stage policy\. A lower learning"
        ):
            train(wild, log(), out=tmp_path / "a", quiet=True)
        # Nothing was learned, so the folder is free for the corrected command.
        assert not (tmp_path / "a").exists()

    def test_keeps_the_last_checkpoint_and_policy(self, halted, monkeypatch):
        from countmorl.agents.bc import BCAgent

        update = BCAgent.update

        def poisoned(agent, batch, *, key):
            new, metrics = update(agent, batch, key=key)
            return new, {"loss": metrics["loss"] * np.float32("nan")}

        before = {name: (halted / name).read_bytes() for name in KEPT}
        monkeypatch.setattr(BCAgent, "update", poisoned)
        # Another number of updates: the compiled epoch of other tests must not be used again.
        config = read_config(halted)["config"] | {"updates": 2}
        edit_config(halted, config=config)
        said = r"diverged: `loss` is nan in epoch 3 of stage policy\. The last good checkpoint is"
        with pytest.raises(RunError, match=said):
            resume(halted, inexact=True, quiet=True)
        assert {name: (halted / name).read_bytes() for name in KEPT} == before


KEPT = ("checkpoint.safetensors", "policy.safetensors")
