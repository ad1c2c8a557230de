from types import SimpleNamespace

import jax.numpy as jnp

from countmorl.algorithms.adversary import (
    Adversary,
    AdversaryConfig,
)
from countmorl.algorithms.rambo import RAMBO


def test_without_weight_the_model_makes_no_step():
    build = SimpleNamespace(pairs=jnp.zeros((1, 3)), targets=jnp.zeros((1, 3)))
    assert RAMBO(adversary=AdversaryConfig(weight=0.0)).model_adversary(build) is None  # type: ignore[arg-type]
    assert isinstance(RAMBO().model_adversary(build), Adversary)  # type: ignore[arg-type]
