import json

from countmorl.evaluation.base import Estimate, Evaluator
from countmorl.evaluation.simulate import Simulation


def test_an_estimate_says_how_sure_it_is_and_how_it_was_made():
    estimate = Estimate(
        value=3.0, interval=(1.0, 5.0), unit="return of an episode", made_by="guessing"
    )
    assert json.loads(json.dumps(estimate.as_dict())) == {
        "value": 3.0,
        "interval": [1.0, 5.0],
        "unit": "return of an episode",
        "made_by": "guessing",
        "facts": {},
    }


def test_facts_stand_beside_it_by_their_names_in_the_metrics():
    estimate = Estimate(value=3.0, unit="x", made_by="y", facts={"return": 3.0})
    assert estimate.as_dict()["facts"] == {"return": 3.0}
    assert estimate.interval is None


def test_a_simulation_is_an_evaluator():
    asked = {name for name in ("check", "__call__") if name in vars(Evaluator)}
    assert asked == {"check", "__call__"}
    assert asked <= set(vars(Simulation))
