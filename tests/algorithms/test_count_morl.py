"""Count-MORL through every stage, in miniature."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from countmorl import BC, DataOptions, Policy, Run, RunOptions, load, resume, train
from countmorl.agents.sac_config import SACConfig
from countmorl.algorithms.count_morl import CountMORL
from countmorl.counting.base import CodesConfig
from countmorl.counting.query import counts as load_query
from countmorl.data.holdout import split
from countmorl.dynamics.fit import EnsembleConfig
from countmorl.errors import ConfigError, RunError
from countmorl.training import stages as loop
from models import Given
from small_runs import QUIET, numbered_log, small, vector_log

SMALL = CountMORL(
    beta=1.0,
    epochs=4,
    updates=5,
    batch=20,
    horizon=3,
    branches=20,
    retain=2,
    model=EnsembleConfig(members=3, elites=2, width=8, batch=32, holdout=40, max_epochs=3),
    codes=CodesConfig(
        bits=6, fit_epochs=2, fit_updates=20, fit_batch=16, verified=None, follow="pairs"
    ),
    join="counts",
    unseen="pay",
    imitate=0.0,
    sac=SACConfig(hidden=(8, 8)),
)
OPTIONS = RunOptions(save_every=1, eval_every=0)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    rng = np.random.default_rng(0)
    obs = rng.standard_normal((400, 2)).astype(np.float32)
    action = rng.uniform(0, 2, (400, 1)).astype(np.float32)
    next_obs = 0.9 * obs + 0.1 * action
    path = tmp_path_factory.mktemp("log") / "log.npz"
    ended = next_obs[:, 0] > 1.5
    np.savez(
        path,
        obs=obs,
        action=action,
        reward=-(obs**2).sum(axis=1),
        next_obs=next_obs,
        terminated=ended,
        truncated=(np.arange(400) % 50 == 49) & ~ended,
        action_low=np.zeros(1),
        action_high=np.full(1, 2.0),
    )
    return path


@pytest.fixture(scope="module")
def whole(log, tmp_path_factory):
    return train(
        SMALL, log, out=tmp_path_factory.mktemp("whole") / "run", options=OPTIONS, quiet=True
    )


def contents(run):
    return {
        name: (run.path / name).read_bytes()
        for name in ("metrics.jsonl", "policy.safetensors", "stages/model.safetensors")
    }


class Kill(BaseException):
    """Stands for a kill: nothing may catch it."""


@pytest.mark.parametrize(
    "stop_at", [6, *(pytest.param(at, marks=pytest.mark.slow) for at in (1, 2, 4, 9, 11))]
)
def test_a_run_stopped_in_any_stage_goes_on_bit_for_bit(log, whole, tmp_path, monkeypatch, stop_at):
    lines = 0
    append = Run.append

    def dying(self, file_name, record):
        nonlocal lines
        append(self, file_name, record)
        lines += file_name == "metrics.jsonl"
        if lines == stop_at:
            raise Kill  # After the metrics, before the checkpoint.

    monkeypatch.setattr(Run, "append", dying)
    with pytest.raises(Kill):
        train(SMALL, log, out=tmp_path / "run", options=OPTIONS, quiet=True)
    monkeypatch.setattr(Run, "append", append)
    run = resume(tmp_path / "run", quiet=True)
    assert contents(run) == contents(whole)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_run_and_another_does_not(log, whole, tmp_path):
    again = train(SMALL, log, out=tmp_path / "a", options=OPTIONS, quiet=True)
    assert contents(again) == contents(whole)
    other = train(SMALL, log, out=tmp_path / "b", options=replace(OPTIONS, seed=1), quiet=True)
    assert contents(other) != contents(whole)


def test_every_stage_reports_what_it_did(whole):
    metrics = whole.lines("metrics.jsonl")
    stages = [m["stage"] for m in metrics]
    assert list(dict.fromkeys(stages)) == ["model", "codes-6", "termination", "policy"]
    policy = metrics[-1]
    for name in ("rollout_unseen", "rollout_count_median", "rollout_penalty", "rollout_terminated"):
        assert len(policy[name]) == SMALL.horizon
    assert {"q", "entropy_weight", "critic_loss", "actor_loss"} <= set(policy)
    codes = [m for m in metrics if m["stage"] == "codes-6"][-1]
    assert len(codes["samples_per_code"]) == len(codes["bit_entropy"]) == SMALL.model.elites
    assert {"missed_ends", "false_alarms", "calibration_error"} <= set(
        metrics[stages.index("termination")]
    )
    assert "verdict" in json.loads((whole.path / "calibration.json").read_text())


def test_penalties_lie_between_zero_and_beta(whole):
    for record in whole.lines("metrics.jsonl")[-SMALL.epochs :]:
        assert all(0 < value <= SMALL.beta for value in record["rollout_penalty"])


def test_actions_stay_in_the_logs_bounds(log, whole):
    action = Policy.load(whole.path).act(load(log).obs)
    assert action.min() >= 0
    assert action.max() <= 2


def test_counts_of_the_log_itself_agree_with_its_codes(log, whole):
    dataset = load(log)
    query = load_query(whole)
    counts = query(dataset.obs, dataset.action)
    # 360 of 400 rows are counted; every training row is counted at least once by each member.
    assert ((counts.members >= 1).all(axis=0)).sum() >= 360
    mean, deviation = counts.members.mean(axis=0), counts.members.std(axis=0, ddof=1)
    np.testing.assert_allclose(counts.estimates["UC"], mean + 0.5 * deviation, rtol=1e-5)
    np.testing.assert_allclose(counts.estimates["LC"], mean - 0.5 * deviation, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(counts.penalty, 1 / np.sqrt(np.maximum(mean, 1)), rtol=1e-5)
    one = query(dataset.obs[0], dataset.action[0])
    np.testing.assert_array_equal(one.members[:, 0], counts.members[:, 0])
    assert counts.summary()["pairs"] == 400


@pytest.mark.slow
def test_another_penalty_on_the_same_model_refits_nothing(log, whole, tmp_path):
    other = replace(SMALL, beta=3.0, horizon=2)
    options = replace(OPTIONS, seed=5)
    run = train(other, log, out=tmp_path / "run", options=options, model=whole.path, quiet=True)
    assert {m["stage"] for m in run.lines("metrics.jsonl")} == {"policy"}
    for name in ("model", "codes-6"):
        first, second = whole.load_result(name), run.load_result(name)
        for key, array in first[0].items():
            np.testing.assert_array_equal(array, second[0][key])
    assert resume(run.path, quiet=True).lines("metrics.jsonl") == run.lines("metrics.jsonl")


@pytest.mark.slow
def test_without_a_beta_an_unseen_pair_costs_two_fifths_of_a_mean_reward(log, whole, tmp_path):
    other = replace(SMALL, beta="auto", epochs=1)
    options = {"options": OPTIONS, "model": whole.path, "quiet": True}
    run = train(other, log, out=tmp_path / "run", **options)
    taught = split(load(log), run.manifest.data.holdout).taught
    assert load_query(run).beta == pytest.approx(0.4 * np.abs(taught.reward).mean())
    with pytest.raises(ConfigError, match="`beta` must be at least 0"):
        replace(SMALL, beta=-1.0)


@pytest.mark.usefixtures("unchecked")
def test_a_beta_that_is_no_number_is_refused():
    with pytest.raises(ConfigError, match="`beta` must be"):
        replace(SMALL, beta="much")  # type: ignore[arg-type]


@pytest.mark.parametrize(("ended", "wanted"), [(True, 1.2), (False, 3.0)])
def test_where_nothing_ever_ends_it_costs_a_whole_one(ended, wanted):
    data = SimpleNamespace(terminated=np.array([False, ended]), reward=np.array([2.0, -4.0]))
    build = Given(dataset=data)
    assert CountMORL().unseen_cost(build) == pytest.approx(wanted)
    assert CountMORL(beta=2.0).unseen_cost(build) == 2


@pytest.mark.parametrize(("best", "worst"), [(2.0, 0.0), (-2.0, -300.0)])
def test_an_end_is_worth_the_worst_future_that_the_log_knows(best, worst):
    # The rewards of the worst of five episodes, for ever; never more than an end.
    cut = np.arange(10) % 2 == 1
    steps = np.arange(10, dtype=np.float32)[:, None]
    reward = np.float32([best] * 8 + [best - 1] * 2)
    data = load({"obs": steps, "action": steps, "reward": reward, "truncated": cut})
    config = CountMORL(sac=SACConfig(discount=0.99))
    assert config.worst_value(Given(dataset=data)) == pytest.approx(worst)


@pytest.mark.slow
@pytest.mark.parametrize("stopped", [False, True])
def test_the_threshold_comes_from_the_clone_and_is_the_same_when_resumed(
    log, whole, tmp_path, stopped
):
    config = replace(SMALL, epochs=2, codes=replace(SMALL.codes, verified="auto"))
    options = {"options": OPTIONS, "model": whole.path, "quiet": True}
    run = train(config, log, out=tmp_path / "run", **options)
    if stopped:
        before = contents(run), (run.path / "calibration.json").read_bytes()
        run.result_path("policy").unlink()
        run.checkpoint_path.unlink()
        run = resume(run.path, quiet=True)
        assert (contents(run), (run.path / "calibration.json").read_bytes()) == before
    # Codes fitted for a run that verifies none are as good for this one.
    assert [m["stage"] for m in run.lines("metrics.jsonl")] == ["policy", "policy"]
    tried = run.calibration().verified
    assert tried[0].quantile == 0.99
    assert load_query(run).counter.limits.shape == (SMALL.model.elites,)


@pytest.mark.slow
def test_rollouts_that_end_in_the_unknown_learn_and_are_recorded(log, tmp_path):
    codes = replace(SMALL.codes, verified=0.5)
    config = replace(SMALL, join="penalties", unseen="end", codes=codes)
    run = train(config, log, out=tmp_path / "run", options=OPTIONS, quiet=True)
    shares = run.lines("metrics.jsonl")[-1]["rollout_unknown"]
    # Nearly all that a clone imagines is no end, though half of the data is not verified.
    assert len(shares) == config.horizon
    assert all(0 <= share < 0.5 for share in shares)
    query = load_query(run)
    assert query.join == "penalties"
    assert (np.asarray(query.counter.ends) >= np.asarray(query.counter.limits)).all()


@pytest.mark.slow
def test_a_shared_model_brings_its_settings_and_codes_fitted_otherwise_are_not_shared(
    log, whole, tmp_path
):
    codes = replace(SMALL.codes, fit_updates=SMALL.codes.fit_updates + 1)
    other = replace(SMALL, model=EnsembleConfig(), codes=codes, epochs=1)
    options = {"options": OPTIONS, "model": whole.path, "quiet": True}
    run = train(other, log, out=tmp_path / "run", **options)
    assert run.manifest.part("model") == whole.manifest.part("model")
    assert (run.path / run.manifest.model_run).resolve() == whole.path.resolve()
    assert {m["stage"] for m in run.lines("metrics.jsonl")} == {"codes-6", "policy"}


def test_a_model_of_a_run_without_one_is_refused(log, tmp_path):
    clone = train(BC(epochs=1, updates=1, hidden=(8,)), log, out=tmp_path / "bc", quiet=True)
    with pytest.raises(RunError, match="is a run of bc, which learns no model"):
        train(SMALL, log, out=tmp_path / "run", model=clone.path, quiet=True)
    config = json.loads((clone.path / "config.json").read_text())
    del config["data"]
    (clone.path / "config.json").write_text(json.dumps(config))
    with pytest.raises(RunError, match=r"does not hold the config of a run.*lacks data"):
        train(SMALL, log, out=tmp_path / "run", model=clone.path, quiet=True)


def test_a_model_of_other_data_or_settings_is_refused(log, whole, tmp_path):
    options = {"out": tmp_path / "run", "model": whole.path, "quiet": True}
    with pytest.raises(RunError, match="fitted on other data"):
        train(SMALL, log, data_options=DataOptions(rows=300), **options)
    wider = replace(SMALL, model=replace(SMALL.model, width=9))
    with pytest.raises(ConfigError, match=r"fitted with another width\. Omit --model"):
        train(wider, log, **options)
    with pytest.raises(ConfigError, match="bc learns no model"):
        train("bc", log, **options)
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "members"), [("simhash", 2), ("exact", 1)])
def test_other_counters_can_be_chosen(log, tmp_path, name, members):
    config = replace(SMALL, counter=name, epochs=1)
    run = train(config, log, out=tmp_path / "run", options=OPTIONS, quiet=True)
    dataset = load(log)
    assert load_query(run)(dataset.obs, dataset.action).members.shape == (members, 400)


@pytest.mark.slow
@pytest.mark.parametrize("make", [vector_log, numbered_log])
def test_steps_can_be_priced_by_the_elites_spread_whatever_the_actions(make, tmp_path):
    config = small("count-morl", price="spread", epochs=1)
    run = train(config, make(), out=tmp_path / "run", **QUIET)
    record = [each for each in run.records() if each.stage == "policy"][-1]
    assert 0 < min(record.rollout_penalty) < max(record.rollout_penalty) < np.inf
    assert 0 < min(record.rollout_uncertainty)


def test_a_single_elite_has_no_spread_to_price_by():
    with pytest.raises(ConfigError, match="with a single elite"):
        CountMORL(price="spread", model=replace(SMALL.model, elites=1))
    CountMORL(price="counts", model=replace(SMALL.model, elites=1))


@pytest.mark.slow
def test_a_diverging_run_names_epoch_and_quantity_and_keeps_its_checkpoint(log, tmp_path):
    wild = replace(SMALL, epochs=30, updates=50, sac=replace(SMALL.sac, critic_rate=1e18))
    with pytest.raises(RunError, match=r"diverged: `\w+` is .* in epoch \d+ of stage policy"):
        train(wild, log, out=tmp_path / "run", options=OPTIONS, quiet=True)
    assert Run.open(tmp_path / "run").load_result("model") is not None


@pytest.mark.slow
def test_an_automatic_code_is_fitted_once_and_shows_its_curve(log, tmp_path, capsys):
    config = replace(SMALL, epochs=1, codes=replace(SMALL.codes, bits="auto"))
    run = train(config, log, out=tmp_path / "run", options=OPTIONS)
    said = capsys.readouterr().err
    assert "rows per code by code length: 4: " in said
    assert [stage for stage in run.stages() if "codes" in stage] == ["codes-ordered"]
    found = [record for record in run.records() if record.samples_per_code][-1]
    counter = load_query(run).counter
    assert f"codes of {counter.bits} bits: {np.median(found.samples_per_code):.1f} rows" in said


@pytest.mark.slow
def test_a_compiled_epoch_is_compiled_once(log, tmp_path):
    run = train(SMALL, log, out=tmp_path / "run", options=OPTIONS, quiet=True)
    lines = [json.loads(line) for line in (run.path / "timing.jsonl").read_text().splitlines()]
    policy = [line for line in lines if line["stage"] == "policy"]
    assert all(line["compile_seconds"] == 0 for line in policy[1:])
    assert loop.COMPILED.endswith("compile_duration")
