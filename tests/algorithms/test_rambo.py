from countmorl.algorithms.adversary import (
    Adversary,
    AdversaryConfig,
)
from countmorl.algorithms.rambo import RAMBO
from models import build


def test_without_weight_the_model_makes_no_step():
    assert RAMBO(adversary=AdversaryConfig(weight=0.0)).model_adversary(build()) is None
    assert isinstance(RAMBO().model_adversary(build()), Adversary)
