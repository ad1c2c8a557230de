import equinox as eqx
import jax
import jax.random as jr
import numpy as np
import pytest

from countmorl import Policy, Run, RunOptions, load, resume, train
from countmorl.errors import ConfigError
from countmorl.evaluation.base import Estimate
from countmorl.schema import Column, Schema, schema_bytes
from countmorl.training.policy_fit import CloneFit, PolicyFit, PolicyJob
from small_runs import numbered_log, small, vector_log


class Ruler:
    """An evaluator that measures the first weight, and remembers whom it was asked about."""

    def __init__(self):
        self.asked = []

    def check(self, policy, name):
        if policy.obs_dim != 2:
            raise ConfigError(f"{name} is too long")

    def __call__(self, policy, *, seed):
        self.asked.append(seed)
        value = float(policy.weights[0][0, 0])
        return Estimate(value=value, unit="inches", made_by="a ruler", facts={"inches": value})


def job(**options):
    evaluator = options.pop("evaluator", None)
    return PolicyJob(
        algorithm=small("bc"),
        dataset=load(vector_log()),
        options=RunOptions(**options),
        info={"algorithm": "bc"},
        evaluator=evaluator,
    )


def test_an_evaluator_of_ones_own_judges_every_few_epochs_and_at_the_end(tmp_path):
    ruler = Ruler()
    run = train(
        small("bc"),
        vector_log(),
        out=tmp_path / "run",
        options=RunOptions(eval_every=2, seed=5),
        evaluator=ruler,
        quiet=True,
    )
    judged = {r.epoch: r.others["inches"] for r in run.records() if r.others}
    assert list(judged) == [2, 3]
    assert ruler.asked == [5 * 1_000_003 + 2, 5 * 1_000_003 + 3]
    assert judged[3] == float(Policy.load(run.path).weights[0][0, 0])


def test_an_evaluator_may_refuse_before_anything_is_trained(tmp_path):
    log = vector_log()
    log |= {name: np.repeat(log[name], 2, axis=1) for name in ("obs", "next_obs")}
    with pytest.raises(ConfigError, match="A policy for 'arrays' is too long"):
        train(small("bc"), log, out=tmp_path / "run", evaluator=Ruler(), quiet=True)
    assert not (tmp_path / "run").exists()


def test_the_policies_of_the_last_evaluations_are_kept_without_any_simulator(tmp_path):
    options = RunOptions(eval_every=1, keep_policies=2, save_every=1)
    run = train(
        small("bc", epochs=4), vector_log(), out=tmp_path / "run", options=options, quiet=True
    )
    kept = Run.open(run.path).kept_policies()
    assert list(kept) == [3, 4]
    last, policy = Policy.load(kept[4]), Policy.load(run.path)
    np.testing.assert_array_equal(last.weights[0], policy.weights[0])
    assert (Policy.load(kept[3]).weights[0] != policy.weights[0]).any()


def test_none_is_kept_where_none_is_wanted(tmp_path):
    options = RunOptions(eval_every=1, keep_policies=0)
    run = train(small("bc"), vector_log(), out=tmp_path / "run", options=options, quiet=True)
    assert run.kept_policies() == {}


def test_when_a_policy_is_judged():
    fit = PolicyFit(job(eval_every=2))
    assert [epoch for epoch in range(1, 4) if fit.kept(epoch)] == [2, 3]
    assert not any(PolicyFit(job(eval_every=0)).kept(epoch) for epoch in range(1, 4))


def test_the_policy_acts_in_the_datas_own_bounds():
    fit = PolicyFit(job())
    policy = fit.policy(fit.init(key=jr.key(0)))
    assert policy.info["algorithm"] == "bc"
    assert (policy.space.low, policy.space.high) == (0, 2)


def test_a_clone_is_made_by_imitation_and_begins_the_policy():
    whole = PolicyJob(
        algorithm=small("rambo"), dataset=load(vector_log()), options=RunOptions(), info={}
    )
    clone = CloneFit(whole, 2)
    state, metrics = clone.epoch(
        jax.tree.map(lambda leaf: leaf.copy(), clone.init(key=jr.key(0))), key=jr.key(1)
    )
    assert set(metrics) == {"loss"}
    begun = PolicyFit(whole, clone=clone.result(state)).init(key=jr.key(2))
    assert eqx.tree_equal(begun.agent.state.actor, clone.result(state).state.actor)


OBS = tuple(Column(name=name, unit="bar") for name in ("inlet", "outlet"))


def named_log(**schema):
    """The small log, as if it had come from a table."""
    columns = Schema(obs=OBS, action=(Column(name="valve", fill=1.0),), **schema)
    return vector_log() | {"schema": schema_bytes(columns)}


def test_names_travel_from_the_data_to_the_run_and_its_policy(tmp_path):
    log = named_log()
    options = RunOptions(eval_every=1, keep_policies=1)
    run = train(small("bc"), log, out=tmp_path / "run", options=options, quiet=True)
    schema = load(log).schema
    opened = Run.open(run.path)
    assert opened.manifest.data.schema == schema
    for policy in map(Policy.load, (run.path, *opened.kept_policies().values())):
        assert policy.schema == schema
        advised = policy.act_row({"outlet": 0.25, "inlet": -1.5, "operator": "Kim"})
        assert advised == {"valve": policy.act([-1.5, 0.25])[0]}


def test_discrete_actions_come_back_by_name(tmp_path):
    moves = Column(name="move", kind="category", values=("down", "stay", "up"))
    schema = Schema(obs=(Column(name="height"),), action=(moves,))
    log = numbered_log(schema=schema_bytes(schema))
    run = train(small("bc"), log, out=tmp_path / "run", quiet=True)
    policy = Policy.load(run.path)
    heights = [{"height": height} for height in (-1.0, 0.0, 1.0)]
    numbers = policy.act(np.array([[-1.0], [0.0], [1.0]]))
    assert policy.act_rows(heights) == [moves.values[number] for number in numbers]


def test_a_session_shows_the_policy_what_the_data_held(tmp_path):
    """Observations with history are stacked here by definition, and a session replays them."""
    plain, schema = (
        vector_log(),
        Schema(obs=OBS, action=(Column(name="valve", fill=1.0),), history=3),
    )
    seen, done = plain["obs"][:30], plain["action"][:30]
    at = np.arange(30)
    parts = [seen]
    for lag in (1, 2):
        before = np.where((at % 10 >= lag)[:, None], done[at - lag], np.float32(1.0))
        parts += [seen[np.where(at % 10 >= lag, at - lag, at - at % 10)], before]
    ends = at % 10 == 9
    log = {"obs": np.hstack(parts), "action": done, "reward": plain["reward"][:30]}
    log |= {"truncated": ends, "action_low": np.zeros(1), "action_high": np.full(1, 2.0)}
    log |= {"schema": schema_bytes(schema)}
    run = train(small("bc"), log, out=tmp_path / "run", quiet=True)
    dataset, policy = load(log), Policy.load(run.path)
    for row in range(30):
        if row % 10 == 0:
            session = policy.session()
        advised = session.act_row(dict(zip(("inlet", "outlet"), seen[row], strict=True)))
        assert advised == {"valve": policy.act(dataset.obs[row])[0]}
        session.executed(done[row])


class Script:
    """An evaluator that says what it was told to say in each epoch."""

    def __init__(self, *values):
        self.values = values

    def check(self, policy, name):
        """Anything will do."""

    def __call__(self, policy, *, seed):
        value = self.values[seed % 1_000_003 - 1]
        # Even one that plays is believed by its value.
        return Estimate(value=value, unit="points", made_by="a script", facts={"return": 1.0})


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    return train(
        small("bc", epochs=12),
        vector_log(),
        out=tmp_path_factory.mktemp("stopped") / "run",
        options=RunOptions(eval_every=1, stop="offline"),
        evaluator=Script(1, 3, 2, 3, 1, 0, 2, 9, 9, 9, 9, 9),
        quiet=True,
    )


def test_a_run_ends_when_its_value_has_not_risen_for_five_evaluations(stopped):
    assert [record.value for record in stopped.records("policy")] == [1, 3, 2, 3, 1, 0, 2]
    assert stopped.finished


def test_the_policy_that_was_judged_best_is_kept(stopped):
    best, last = (stopped.kept_policy_path(epoch).read_bytes() for epoch in (2, 7))
    assert stopped.policy_path.read_bytes() == best != last


def test_a_run_that_ended_by_itself_is_not_trained_on(stopped):
    with pytest.raises(ConfigError, match="ended after epoch 7, since its judged value"):
        resume(stopped.path, data=vector_log(), epochs=20, evaluator=Script(), quiet=True)


def test_a_value_that_rises_to_the_end_is_the_last_policy(tmp_path):
    options = RunOptions(eval_every=2, stop="offline")
    evaluator = Script(0, 1, 0, 2, 3)
    where = {"out": tmp_path / "run", "quiet": True}
    run = train(small("bc", epochs=5), vector_log(), options=options, evaluator=evaluator, **where)
    assert [record.value for record in run.records("policy")] == [None, 1, None, 2, 3]
    assert run.policy_path.read_bytes() == run.kept_policy_path(5).read_bytes()
