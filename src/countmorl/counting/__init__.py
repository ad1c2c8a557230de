"""How often was a state-action pair seen? Codes, exact tables of codes, and count estimates."""

from countmorl.counting.base import AbstractCounter
from countmorl.counting.exact import ExactCounter
from countmorl.counting.learned import CodeCounter
from countmorl.counting.simhash import SimHashCounter
from countmorl.errors import ConfigError, did_you_mean

COUNTERS: dict[str, type[AbstractCounter]] = {
    "codes": CodeCounter,
    "simhash": SimHashCounter,
    "exact": ExactCounter,
}
"""Every counter, by the name that `--counter` knows."""


def find_counter(name: str) -> type[AbstractCounter]:
    """Return the counter of that name."""
    if name not in COUNTERS:
        raise ConfigError(
            f"No counter named '{name}'.{did_you_mean(name, COUNTERS)} "
            f"Known: {', '.join(COUNTERS)}."
        )
    return COUNTERS[name]
