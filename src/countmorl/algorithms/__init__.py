"""Every algorithm, by the name the command line knows."""

from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.algorithms.bc import BC
from countmorl.algorithms.combo import COMBO
from countmorl.algorithms.count_morl import CountMORL
from countmorl.algorithms.cql import CQL
from countmorl.algorithms.mopo import MOPO
from countmorl.algorithms.morel import MOReL
from countmorl.algorithms.rambo import RAMBO
from countmorl.algorithms.repb_sde import RepBSDE
from countmorl.algorithms.td3_bc import TD3PlusBC
from countmorl.errors import ConfigError, did_you_mean

ALGORITHMS: dict[str, type[AbstractAlgorithm]] = {
    "count-morl": CountMORL,
    "bc": BC,
    "td3-bc": TD3PlusBC,
    "cql": CQL,
    "mopo": MOPO,
    "morel": MOReL,
    "combo": COMBO,
    "rambo": RAMBO,
    "repb-sde": RepBSDE,
}


def find_algorithm(name: str) -> type[AbstractAlgorithm]:
    """Return the algorithm of that name."""
    if name not in ALGORITHMS:
        raise ConfigError(
            f"No algorithm named '{name}'.{did_you_mean(name, ALGORITHMS)} "
            f"Known: {', '.join(ALGORITHMS)}."
        )
    return ALGORITHMS[name]
