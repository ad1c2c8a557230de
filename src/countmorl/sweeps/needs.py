"""How much memory a run needs at the most, from its data and settings."""

from __future__ import annotations

from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.algorithms.model_alone import AbstractAlone
from countmorl.algorithms.model_based import AbstractModelBased
from countmorl.dynamics.fit import EnsembleConfig
from countmorl.sweeps.facts import DataFacts

PROGRAM = 1.2e9
"""Bytes of Python, JAX and what XLA compiles."""
COPIES = 5.0
"""How often the data lie in memory while they are read, scaled and put on the device."""
BUFFER = 1.7
"""The ring buffer, and the epoch's rollouts on their way into it."""
LAYERS = 4.0
"""Hidden layers of all members that are there at once for all rollouts of a step."""
FLOAT = 4


def memory_need(config: AbstractAlgorithm, facts: DataFacts) -> int:
    """Bytes at the peak: the data, the buffer, one step of all rollouts.

    The constants are above what was measured (`python -m benchmarks sweeps`).
    """
    need = PROGRAM + COPIES * facts.rows * facts.row_bytes
    model = getattr(config, "model", None)
    if isinstance(model, EnsembleConfig):
        need += FLOAT * model.members * facts.rows  # Each member's bootstrap.
    if isinstance(config, AbstractModelBased):
        steps = config.begun * config.horizon
        need += BUFFER * config.retain * steps * facts.row_bytes
        need += LAYERS * FLOAT * config.begun * config.model.members * config.model.width
    elif isinstance(config, AbstractAlone):
        need += LAYERS * FLOAT * config.model.holdout * config.model.members * config.model.width
    return int(need)
