import pytest

from countmorl import BC, MOPO, CountMORL, RepBSDE, RunOptions
from countmorl.dynamics.fit import EnsembleConfig
from countmorl.sweeps import estimate as module
from countmorl.sweeps.estimate import IMPORTS, estimate, kind, row_seconds, wall_seconds
from countmorl.sweeps.facts import DataFacts
from countmorl.sweeps.plan import Sweep
from countmorl.sweeps.trials import Cost

FACTS = DataFacts(rows=25_600, obs_dim=11, action_dim=3, env_id="Hopper-v4", horizon=100)
COST = Cost(update=0.01, imagined=1e-5, model_step=0.02, codes_update=0.005, start=6.0)
STEPS = {"Hopper-v4": 0.001}
MODEL = EnsembleConfig(max_epochs=10, batch=256, least_steps=1)
OPTIONS = RunOptions(eval_every=10, eval_episodes=5)


def seconds(config):
    plan = Sweep.of([config], ["log.npz"], options=OPTIONS)
    return [row_seconds(row, FACTS, COST, STEPS) for row in plan.rows]


def test_a_clone_takes_its_updates_and_its_evaluations():
    (found,) = seconds(BC(epochs=25, updates=100))
    # 25 epochs are judged at 10, 20 and 25: 3 x 5 episodes x 100 steps.
    assert found == pytest.approx(IMPORTS + 6 + 25 * 100 * 0.01 + 3 * 5 * 100 * 0.001)


def test_models_codes_and_imagined_steps_by_hand():
    config = CountMORL(epochs=20, updates=100, horizon=5, branches=1000, model=MODEL)
    model, codes, policy = seconds(config)
    assert model == pytest.approx(IMPORTS + 6 + 10 * 100 * 0.02)  # 25,600 rows are 100 steps.
    assert codes == pytest.approx(IMPORTS + 6 + 6 * 1000 * 0.005)
    each = 100 * 0.01 + 1000 * 5 * 1e-5
    assert policy == pytest.approx(IMPORTS + 6 + 20 * each + 2 * 5 * 100 * 0.001)


def test_a_method_of_two_rounds_fits_a_second_model():
    _, policy = seconds(RepBSDE(epochs=10, first_epochs=5, updates=100, branches=100, model=MODEL))
    each = 100 * 0.01 + 100 * 5 * 1e-5
    again = 1.7 * 10 * 100 * 0.02
    assert policy == pytest.approx(IMPORTS + 6 + 15 * each + again + 5 * 100 * 0.001)


def test_what_is_not_judged_costs_no_evaluation():
    plan = Sweep.of([BC(epochs=1, updates=1)], ["x.npz"], options=RunOptions(eval_every=0))
    assert row_seconds(plan.rows[0], FACTS, COST, STEPS) == pytest.approx(IMPORTS + 6 + 0.01)


def test_rows_of_one_kind_are_timed_once(monkeypatch):
    methods = {"a": MOPO(weight=1.0), "b": MOPO(weight=2.0, horizon=9), "c": MOPO(batch=64)}
    plan = Sweep.of({**methods, "d": BC()}, ["log.npz"], seeds=2)
    assert len({kind(row) for row in plan.trained}) == 3
    asked = []

    def measured(rows, envs):
        asked.append((len(rows), list(envs)))
        return [COST] * len(rows), STEPS

    monkeypatch.setattr(module, "measure_apart", measured)
    facts = dict.fromkeys(plan.sources, FACTS)
    found = estimate(plan, facts, 2)
    assert asked == [(3, ["Hopper-v4"])]
    assert set(found.seconds) == {row.name for row in plan.rows}
    assert found.total == pytest.approx(sum(found.seconds.values()))
    assert found.total / 2 <= found.wall <= found.total


def test_the_wall_time_of_two_workers_by_hand():
    plan = Sweep.of([MOPO(), BC()], ["log.npz"])  # A model, MOPO in it, and a clone.
    each = dict(zip((row.name for row in plan.rows), (10.0, 5.0, 3.0), strict=True))
    assert wall_seconds(plan, each, 1) == 18
    assert wall_seconds(plan, each, 2) == 15  # MOPO waits for its model; the clone comes behind.
    assert wall_seconds(plan, each, 64) == 15
