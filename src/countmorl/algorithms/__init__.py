"""Every algorithm, by the name the command line knows."""

from countmorl.algorithms.base import AbstractAlgorithm
from countmorl.algorithms.bc import BC
from countmorl.algorithms.combo import COMBO
from countmorl.algorithms.count_morl import CountMORL
from countmorl.algorithms.cql import CQL
from countmorl.algorithms.mobile import MOBILE
from countmorl.algorithms.model_alone import CodesAlone, ModelAlone
from countmorl.algorithms.mopo import MOPO
from countmorl.algorithms.morel import MOReL
from countmorl.algorithms.rambo import RAMBO
from countmorl.algorithms.repb_sde import RepBSDE
from countmorl.algorithms.td3_bc import TD3PlusBC
from countmorl.errors import ConfigError, did_you_mean
from countmorl.extras import import_named

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
    "mobile": MOBILE,
}


ALONE: dict[str, type[AbstractAlgorithm]] = {"model": ModelAlone, "codes": CodesAlone}
"""What is trained like an algorithm and gives no policy: parts that other runs share."""


def find_algorithm(name: str) -> type[AbstractAlgorithm]:
    """Return the algorithm of that name, or one of the user's own as module:Class.

    A module before a colon is imported, so a name must come from the user, never from a file.
    """
    if ":" in name:
        return _own(name)
    known = ALGORITHMS | ALONE
    if name not in known:
        raise ConfigError(
            f"No method named '{name}'.{did_you_mean(name, known)} Known: {', '.join(known)}; or "
            "your own as module:Class."
        )
    return known[name]


def _own(name: str) -> type[AbstractAlgorithm]:
    try:
        found = import_named(name)
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f"The method '{name}' could not be imported: {error}. It must be module:Class, "
            "importable from here."
        ) from error
    if not (isinstance(found, type) and issubclass(found, AbstractAlgorithm)):
        raise ConfigError(f"'{name}' is not a method: it must be a class of `AbstractAlgorithm`.")
    return found


def algorithm_name(algorithm: AbstractAlgorithm) -> str:
    """Return the name by which an algorithm's class is found again."""
    kind = algorithm if isinstance(algorithm, type) else type(algorithm)
    if isinstance(algorithm, type):
        raise ConfigError(f"Give settings, not their class: {kind.__name__}(), with brackets.")
    for name, cls in (ALGORITHMS | ALONE).items():
        if kind is cls:
            return name
    if not isinstance(algorithm, AbstractAlgorithm):
        raise ConfigError(
            f"{kind.__name__} is not a method: it must be a class of `AbstractAlgorithm`."
        )
    return f"{kind.__module__}:{kind.__qualname__}"
