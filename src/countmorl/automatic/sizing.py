"""How much of the portfolio fits into a time, by a short timing on this machine."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from countmorl.automatic.portfolio import Ask, Trial, plan
from countmorl.errors import ConfigError
from countmorl.progress import duration
from countmorl.sweeps import trials
from countmorl.sweeps.estimate import row_seconds, wall_seconds
from countmorl.sweeps.facts import DataFacts
from countmorl.sweeps.plan import Sweep
from countmorl.sweeps.trials import Cost

SCALES = tuple(0.9**step for step in range(30))
"""Shares of all epochs that are tried, from all of them down to 5 %."""
MARGIN = 1.3
"""What is estimated takes longer: imitation by which weights are found, calibration, saving."""
USEFUL = 0.12
"""Share of all epochs below which a policy is rather left out than trained so briefly: 24 epochs of
Count-MORL. After 7 of them it was far below HalfCheetah's medium-expert log, and after 14 far
above it (lab/normalised.md)."""
FASTEST = 0.3
"""Share of what was expected that trainings are not believed to fall short of."""
SOME = 3
"""Policies that are rather trained briefly than left out: two clones and Count-MORL."""
FEWEST = 2
"""Policies at the least: the clone, and one that may be better."""


@dataclass(frozen=True, kw_only=True)
class Sized:
    """What is trained."""

    plan: Sweep
    tried: tuple[Trial, ...]
    scale: float
    seconds: float
    """How long it is expected to take."""


def costs_of(ask: Ask, tried: Sequence[Trial], facts: DataFacts) -> dict[str, Cost]:
    """What an update of each method costs here, by its name."""
    rows = {row.algorithm: row for row in plan(ask, tuple(tried), 1.0).trained}
    found, _ = trials.measure_apart([(row, facts) for row in rows.values()], [])
    return dict(zip(rows, found, strict=True))


def sized(
    ask: Ask,
    tried: tuple[Trial, ...],
    facts: DataFacts,
    costs: Mapping[str, Cost],
    *,
    workers: int,
    seconds: float,
) -> Sized:
    """As many policies as fit, and as many epochs of each; too little time is a `ConfigError`."""
    found = None
    for count, scale in _attempts(len(tried)):
        found = _sized(ask, tried[:count], scale, facts, costs, workers)
        if found.seconds <= seconds:
            return found
    assert found is not None
    raise ConfigError(
        f"The budget is too small: a clone and one other policy alone take about "
        f"{duration(found.seconds)} to train here, and {duration(max(0.0, seconds))} are there for "
        "that. Give a larger --budget."
    )


def further(
    ask: Ask,
    tried: tuple[Trial, ...],
    facts: DataFacts,
    costs: Mapping[str, Cost],
    done: Sized,
    *,
    workers: int,
    seconds: float,
    pace: float,
) -> Sized | None:
    """More policies of as many epochs, where they fit into what is left; None where none does.

    `pace` is how long it took so far, as a share of what was expected.
    """
    ready = {row.name for row in done.plan.rows}
    pace = min(1.0, max(FASTEST, pace))
    for count in range(len(tried), len(done.tried), -1):
        found = _sized(ask, tried[:count], done.scale, facts, costs, workers, ready)
        if pace * found.seconds <= seconds:
            return found
    return None


def _sized(
    ask: Ask,
    tried: tuple[Trial, ...],
    scale: float,
    facts: DataFacts,
    costs: Mapping[str, Cost],
    workers: int,
    ready: Collection[str] = (),
) -> Sized:
    """How long it takes to train some policies, those apart that are ready."""
    whole = plan(ask, tried, scale)
    each = {
        row.name: 0.0
        if row.name in ready
        else row_seconds(row, facts, _cost(row.algorithm, costs), {})
        for row in whole.rows
    }
    wall = MARGIN * wall_seconds(whole, each, workers)
    return Sized(plan=whole, tried=tried, scale=scale, seconds=wall)


def _attempts(most: int) -> Iterator[tuple[int, float]]:
    """Numbers of policies and shares of their epochs, what is wanted most first."""
    for count in range(most, min(SOME, most) - 1, -1):
        yield from ((count, scale) for scale in SCALES if scale >= USEFUL)
    for count in range(min(SOME, most), FEWEST - 1, -1):
        yield from ((count, scale) for scale in SCALES if scale < USEFUL or count < SOME)


def _cost(algorithm: str, costs: Mapping[str, Cost]) -> Cost:
    return costs["count-morl" if algorithm in ("model", "codes") else algorithm]
