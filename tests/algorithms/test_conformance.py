"""What every algorithm must do, whatever its idea."""

import json
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from countmorl import Policy, Run, RunOptions, load, resume, train
from countmorl.agents.conservative import ConservativeConfig
from countmorl.agents.sac import SACConfig
from countmorl.agents.td3 import TD3Config
from countmorl.algorithms import ALGORITHMS
from countmorl.algorithms.adversary import AdversaryConfig
from countmorl.algorithms.model_based import AbstractModelBased
from countmorl.counting.fit import CodesConfig
from countmorl.dynamics.fit import EnsembleConfig
from countmorl.errors import ConfigError
from countmorl.training.epoch import on_device

OPTIONS = RunOptions(save_every=1, eval_every=0)
SAC = SACConfig(hidden=(8, 8))
FLAT = replace(SAC, entropy_backup=False)
MODEL = EnsembleConfig(
    members=3, elites=2, width=8, batch=32, holdout=40, max_epochs=2, least_steps=1
)
EVERY = {"epochs": 3, "updates": 4, "batch": 20}
DREAMS = EVERY | {"horizon": 2, "branches": 20, "retain": 2, "model": MODEL, "sac": SAC}
OWN = {
    "bc": EVERY | {"hidden": (8,)},
    "td3-bc": EVERY | {"td3": TD3Config(hidden=(8, 8))},
    "cql": EVERY | {"sac": replace(FLAT, warm_start=5), "conservative": ConservativeConfig()},
    "count-morl": DREAMS | {"codes": CodesConfig(bits=6, fit_epochs=1, fit_updates=9)},
    "mopo": DREAMS,
    "morel": DREAMS,
    "combo": DREAMS | {"sac": FLAT},
    "rambo": DREAMS | {"clone_epochs": 2, "adversary_config": AdversaryConfig(steps=5, batch=8)},
    "repb-sde": DREAMS | {"first_epochs": 2},
}
NAMES = list(ALGORITHMS)


def config(name):
    """Small settings, also for an algorithm of which this file does not know."""
    cls = ALGORITHMS[name]
    return cls(**OWN.get(name, DREAMS if issubclass(cls, AbstractModelBased) else EVERY))


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    rng = np.random.default_rng(0)
    obs = rng.standard_normal((300, 2)).astype(np.float32)
    action = rng.uniform(0, 2, (300, 1)).astype(np.float32)
    next_obs = 0.9 * obs + 0.1 * action
    path = tmp_path_factory.mktemp("log") / "log.npz"
    arrays = {"obs": obs, "action": action, "next_obs": next_obs}
    bounds = {"action_low": np.zeros(1), "action_high": np.full(1, 2.0)}
    ended = next_obs[:, 0] > 1.5
    np.savez(path, **arrays, reward=-(obs**2).sum(axis=1), terminated=ended, **bounds)
    return path


@pytest.fixture(scope="module")
def runs(log, tmp_path_factory):
    """Each algorithm's finished run, made when it is first asked for."""
    folder, made = tmp_path_factory.mktemp("runs"), {}

    def run(name):
        if name not in made:
            options = {"options": OPTIONS, "quiet": True}
            # The termination rule is given, so that none has to be learned nine times.
            settings = config(name)
            if isinstance(settings, AbstractModelBased):
                settings = replace(settings, termination="never")
            made[name] = train(settings, log, out=folder / name, **options)
        return made[name]

    return run


def contents(run):
    return [(run.path / name).read_bytes() for name in ("metrics.jsonl", "policy.safetensors")]


def test_all_nine_are_there():
    assert len(OWN) == 9
    assert set(OWN) <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_epoch_is_recorded_and_finite(runs, name):
    records = [record for record in runs(name).metrics() if record["stage"] == "policy"]
    assert [record["epoch"] for record in records] == [1, 2, 3]
    for record in records:
        numbers = [np.ravel(value) for key, value in record.items() if key != "stage"]
        assert np.isfinite(np.concatenate(numbers)).all()


@pytest.mark.parametrize("name", NAMES)
def test_actions_are_in_bounds_and_those_of_the_agent(runs, log, name):
    policy, dataset = Policy.load(runs(name).path), load(log)
    obs = 10 * np.random.default_rng(1).standard_normal((200, 2)).astype(np.float32)
    actions = policy.act(obs)
    assert actions.shape == (200, 1)
    assert ((actions >= 0) & (actions <= 2)).all()
    assert (policy.act(obs[0]) == actions[0]).all() or np.allclose(policy.act(obs[0]), actions[0])
    agent = config(name).agent(dataset, key=jr.key(0))
    sampled = np.asarray(agent.act(jnp.asarray(obs), key=jr.key(1)))
    assert (np.abs(sampled) <= 1).all()


@pytest.mark.parametrize("name", NAMES)
def test_stopped_and_resumed_it_is_the_unbroken_run(runs, log, name, tmp_path, monkeypatch):
    whole, append = runs(name), Run.append

    class Kill(BaseException):
        pass

    def dying(run, file_name, record):
        append(run, file_name, record)
        if file_name == "metrics.jsonl" and (record["stage"], record["epoch"]) == ("policy", 2):
            raise Kill

    settings = json.loads((whole.path / "config.json").read_text())["config"]
    same = config(name)
    if "termination" in settings:
        same = replace(same, termination="never")  # type: ignore[call-arg]
    with monkeypatch.context() as patch:
        patch.setattr(Run, "append", dying)
        with pytest.raises(Kill):
            train(same, log, out=tmp_path / "run", options=OPTIONS, quiet=True)
    assert contents(resume(tmp_path / "run", quiet=True)) == contents(whole)


@pytest.mark.parametrize("name", NAMES)
def test_an_update_changes_the_agent_and_is_the_same_compiled_or_not(log, name):
    dataset = load(log)
    agent = config(name).agent(dataset, key=jr.key(0))
    rows = np.arange(20)
    batch = jax.tree.map(lambda leaf: leaf[rows], on_device(dataset.transitions("critic")))
    plain, facts = agent.update(batch, key=jr.key(1))
    compiled, _ = eqx.filter_jit(lambda a, b, k: a.update(b, key=k))(agent, batch, jr.key(1))
    assert all(np.isfinite(value) for value in facts.values())
    leaves = [jax.tree.leaves(eqx.filter(a, eqx.is_array)) for a in (agent, plain, compiled)]
    assert any((a != b).any() for a, b in zip(leaves[0], leaves[1], strict=True))
    for a, b in zip(leaves[1], leaves[2], strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wrong", [{"epochs": 0}, {"updates": 0}, {"batch": -1}])
def test_wrong_settings_are_refused(name, wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        replace(config(name), **wrong)
