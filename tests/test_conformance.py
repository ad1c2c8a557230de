"""What every algorithm must do, whatever its idea."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from countmorl import Policy, Run, resume, train
from countmorl.agents.bc import BCAgent
from countmorl.agents.td3 import TD3BC
from countmorl.algorithms import ALGORITHMS
from countmorl.algorithms.adversary import AdversaryConfig
from countmorl.algorithms.model_based import AbstractModelBased
from countmorl.dynamics.fit import EnsembleConfig
from countmorl.errors import ConfigError
from countmorl.training.epoch import epoch
from countmorl.training.stages import Stages
from small_runs import OWN, QUIET, small, vector_log

NAMES = list(ALGORITHMS)
MODELS = [name for name, cls in ALGORITHMS.items() if issubclass(cls, AbstractModelBased)]


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "log.npz"
    np.savez(path, **vector_log())
    return path


@pytest.fixture(scope="module")
def runs(finished_small):
    """Each algorithm's finished run, made when it is first asked for."""
    return lambda name: finished_small(name).run


def contents(run):
    return [(run.path / name).read_bytes() for name in ("metrics.jsonl", "policy.safetensors")]


def test_all_ten_are_there():
    assert len(OWN) == 10
    assert set(OWN) <= set(NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_epoch_is_recorded_and_finite(runs, name):
    lines = runs(name).lines("metrics.jsonl")
    records = [line for line in lines if line["stage"] == "policy"]
    assert [record["epoch"] for record in records] == [1, 2, 3]
    for record in records:
        numbers = [np.ravel(value) for key, value in record.items() if key != "stage"]
        assert np.isfinite(np.concatenate(numbers)).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_actions_are_in_bounds_and_those_of_the_trained_agent(finished_small, name):
    made = finished_small(name)
    policy, agent = Policy.load(made.run.path), made.agent
    obs = 10 * np.random.default_rng(1).standard_normal((200, 2)).astype(np.float32)
    actions = policy.act(obs)
    assert actions.shape == (200, 1)
    assert ((actions >= 0) & (actions <= 2)).all()
    assert np.allclose(policy.act(obs[0]), actions[0])
    # Saved and loaded it does what the trained agent did in memory; bounds are 0 and 2 here.
    np.testing.assert_allclose(actions, 1 + best_action(agent, obs), rtol=1e-4, atol=1e-5)
    assert np.ptp(actions) > 1e-3
    sampled = np.asarray(agent.act(jnp.asarray(obs), key=jr.key(1)))
    assert (np.abs(sampled) <= 1).all()


def best_action(agent, obs):
    """What a trained agent thinks best, by its own JAX networks."""
    if isinstance(agent, BCAgent):
        return agent.act(jnp.asarray(obs), key=jr.key(0))
    if isinstance(agent, TD3BC):
        return jnp.tanh(agent.state.averaged(agent.standardizer(jnp.asarray(obs))))
    return agent.distribution(agent.state.averaged, agent.standardizer(jnp.asarray(obs))).mode()


EARLIER = [("rambo", "clone"), ("repb-sde", "policy-0"), ("repb-sde", "model-1")]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "stage"), [*((name, "policy") for name in NAMES), *EARLIER])
def test_stopped_and_resumed_it_is_the_unbroken_run(runs, log, name, stage, tmp_path, monkeypatch):
    whole, append = runs(name), Run.append
    last = max(record.epoch for record in whole.records(stage))

    class Kill(BaseException):
        pass

    def dying(run, file_name, record):
        append(run, file_name, record)
        if file_name == "metrics.jsonl" and (record["stage"], record["epoch"]) == (stage, last - 1):
            raise Kill

    with monkeypatch.context() as patch:
        patch.setattr(Run, "append", dying)
        with pytest.raises(Kill):
            train(small(name), log, out=tmp_path / "run", **QUIET)
    assert contents(resume(tmp_path / "run", quiet=True)) == contents(whole)


PLAIN = ("count-morl", "cql", "rambo", "td3-bc")
"""Between them they have every part that an epoch has; without a compiler each takes long."""


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_an_epoch_changes_the_agent_and_is_the_same_compiled_or_not(finished_small, name):
    """Rollouts, pessimism and adversary are in it, beside the agent's updates."""
    stage = finished_small(name).stage
    frozen = replace(stage.frozen, updates=1)
    start = lambda: jax.tree.map(jnp.copy, stage.init(key=jr.key(0)))  # noqa: E731
    compiled, facts = epoch(frozen, start(), jr.key(1))
    assert all(np.isfinite(value).all() for value in facts.values())
    leaves = [jax.tree.leaves(state) for state in (start(), compiled)]
    assert any((a != b).any() for a, b in zip(*leaves, strict=True))
    if name in PLAIN:
        with jax.disable_jit():
            plain, _ = epoch(frozen, start(), jr.key(1))
        for a, b in zip(jax.tree.leaves(plain), leaves[1], strict=True):
            np.testing.assert_allclose(a, b, rtol=5e-3, atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_shared_model_is_used_as_it_is(runs, log, name, tmp_path):
    donor = runs("mopo")
    run = train(small(name), log, model=donor.path, out=tmp_path / "run", **QUIET)
    assert "model" not in {record["stage"] for record in run.lines("metrics.jsonl")}
    for a, b in zip(
        *(sorted(each.load_result("model")[0].items()) for each in (donor, run)), strict=True
    ):
        assert a[0] == b[0]
        np.testing.assert_array_equal(a[1], b[1])


@pytest.mark.slow
def test_the_second_model_of_repb_sde_is_balanced_and_the_first_is_not(runs, log, tmp_path):
    plain = replace(small("repb-sde"), balance=0.0)  # type: ignore[call-arg]
    without = train(plain, log, out=tmp_path / "run", **QUIET)

    def same(stage):
        both = [run.load_result(stage)[0] for run in (runs("repb-sde"), without)]
        return all((both[0][name] == both[1][name]).all() for name in both[0])

    assert same("model")
    assert not same("model-1")


@pytest.mark.slow
def test_every_stage_of_both_rounds_draws_numbers_of_its_own(log, tmp_path, monkeypatch):
    do, streams = Stages.do, {}

    def recording(stages, stage):
        streams[stage.name] = stage.stream
        return do(stages, stage)

    monkeypatch.setattr(Stages, "do", recording)
    train(small("repb-sde"), log, out=tmp_path / "run", **QUIET)
    assert {"model", "policy-0", "model-1", "policy"} <= set(streams)
    assert len(set(streams.values())) == len(streams)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mopo", "combo"])
def test_any_model_based_method_may_imitate(runs, log, name, tmp_path):
    config = replace(small(name), imitate=1.0, real_share=0.5)  # type: ignore[call-arg]
    run = train(config, log, model=runs("mopo").path, out=tmp_path / "run", **QUIET)
    records = run.records("policy")
    assert all(record.imitation is not None and record.imitation > 0 for record in records)
    assert all(record.imitation is None for record in runs(name).records("policy"))


@pytest.mark.slow
def test_rambo_without_weight_leaves_its_model_alone_and_begins_as_a_clone(
    runs, finished_small, log, tmp_path
):
    calm = replace(small("rambo"), adversary=AdversaryConfig(weight=0.0))  # type: ignore[call-arg]
    run = train(calm, log, out=tmp_path / "run", **QUIET)
    lines = {
        name: [r for r in each.lines("metrics.jsonl") if r["stage"] == "policy"]
        for name, each in (("calm", run), ("rambo", runs("rambo")))
    }
    assert "adversary" in lines["rambo"][0]
    assert "adversary" not in lines["calm"][0]
    stage = finished_small("rambo").stage
    assert stage.clone is not None
    actor = stage.init(key=jr.key(0)).agent.state.actor
    assert eqx.tree_equal(actor, stage.clone.state.actor)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wrong", [{"epochs": 0}, {"updates": 0}, {"batch": -1}])
def test_wrong_settings_are_refused(name, wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        replace(small(name), **wrong)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("bc", {"learning_rate": 0.0}),
        ("td3-bc", {"value_weight": -1.0}),
        ("cql", {"conservative": 5.0}),
        ("count-morl", {"beta": -1.0}),
        ("mopo", {"weight": -1.0}),
        ("mopo", {"uncertainty": "guess"}),
        ("morel", {"coefficient": 0.0}),
        ("morel", {"penalty": -1.0}),
        ("combo", {"states": "real"}),
        ("combo", {"real_share": 1.0}),
        ("rambo", {"adversary": 3e-4}),
        ("rambo", {"clone_epochs": -1}),
        ("mobile", {"weight": -1.0}),
        ("mobile", {"samples": 0}),
        ("repb-sde", {"balance": -1.0}),
        ("repb-sde", {"first_epochs": 0}),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_wrong_settings_of_its_own_are_refused(name, wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        replace(small(name), **wrong)


@pytest.mark.parametrize("wrong", [{"weight": -1.0}, {"rate": 0.0}, {"steps": 0}, {"batch": 0}])
def test_wrong_settings_of_the_adversary_are_refused(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        AdversaryConfig(**wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"width": 0},
        {"patience": -1},
        {"elites": 9},
        {"decays": (-1.0, 0.0, 0.0, 0.0, 0.0)},
        {"learning_rate": 0.0},
    ],
)
def test_wrong_settings_of_the_model_are_refused(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        EnsembleConfig(**wrong)
