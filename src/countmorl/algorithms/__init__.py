"""Every algorithm, by the name the command line knows."""

from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.algorithms.bc import BC
from countmorl.algorithms.count_morl import CountMORL
from countmorl.errors import ConfigError, did_you_mean

ALGORITHMS: dict[str, type[AbstractAlgorithm]] = {
    "count-morl": CountMORL,
    "bc": BC,
}


def find_algorithm(name: str) -> type[AbstractAlgorithm]:
    """Return the algorithm of that name."""
    if name not in ALGORITHMS:
        raise ConfigError(
            f"No algorithm named '{name}'.{did_you_mean(name, ALGORITHMS)} "
            f"Known: {', '.join(ALGORITHMS)}."
        )
    return ALGORITHMS[name]
