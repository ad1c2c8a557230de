import json

import numpy as np
import pytest

from countmorl import train
from countmorl.envs.simulators import make_env, record
from small_runs import QUIET, small

pytest.importorskip("gymnasium")
SHORT = ("--horizon", 3, "--starts", 20, "--clone-updates", 5)


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    """A folder with a pendulum's log, a run of count-morl on it, and a model alone."""
    folder, rng = tmp_path_factory.mktemp("audited"), np.random.default_rng(0)
    env = make_env("Pendulum-v1")
    act = lambda _: rng.uniform(-2, 2, 1).astype(np.float32)  # noqa: E731
    names = ("obs", "action", "reward", "next_obs", "terminated", "truncated")
    columns = zip(*record(act, env, rows=300, seed=0), strict=True)
    bounds = {"action_low": np.full(1, -2.0), "action_high": np.full(1, 2.0)}
    columns = {name: np.array(column) for name, column in zip(names, columns, strict=True)}
    np.savez(folder / "log.npz", **columns, **bounds)
    train(small("count-morl", epochs=1), folder / "log.npz", out=folder / "run", **QUIET)
    train(small("mopo", epochs=1), folder / "log.npz", out=folder / "mopo", **QUIET)
    return folder


@pytest.mark.slow
def test_tables_and_a_figure(run_cli, audited, tmp_path):
    pytest.importorskip("matplotlib")
    words = ("study", "audit", audited / "run", audited / "mopo", "--task", "Pendulum-v1")
    code, out, err = run_cli(*words, *SHORT, "--out", "a.png")
    assert code == 0, err
    assert "rollouts of 2 steps, 200 pairs" in out
    assert "rollouts of 3 steps, 300 pairs" in out
    assert "counts verified" in out
    assert "mopo: clone + 0.3: imagining, then simulating ..." in err
    assert (tmp_path / "a.png").exists()


@pytest.mark.slow
def test_json(run_cli, audited):
    words = ("study", "audit", audited / "mopo", "--task", "Pendulum-v1", "--json")
    code, out, _ = run_cli(*words, *SHORT)
    first, second = json.loads(out)
    assert (code, first["horizon"], second["horizon"]) == (0, 2, 3)
    names = [each["name"] for each in first["penalties"]]
    assert "MOPO max_std" in names
    assert not any("counts" in name for name in names)
    assert first["policies"][0]["name"] == "run"
    assert first["policies"][0]["unseen"] is None


@pytest.mark.slow
def test_bad_input_is_a_sentence(run_cli, audited, trained):
    run = audited / "run"
    for words, sentence in [
        ((), "Name at least one run"),
        ((trained / "run",), "holds no fitted model to audit"),
        ((run,), "without a known environment"),
        ((run, "--task", "CartPole-v1"), "Give its own --task"),
        ((run, "--task", "Pendulum-v1", "--data", "none.npz"), "name them with --data"),
        ((run, "--task", "Pendulum-v1", "--data", trained / "log.hdf5"), "on other data"),
        ((run, "--out", "a.doc"), "wanted .png"),
        ((run, "--horizon", 0), "`horizon` must be at least 1, got 0."),
    ]:
        code, _, err = run_cli("study", "audit", *words)
        assert (code, err.count("\n")) == (2, 1), err
        assert sentence in err
