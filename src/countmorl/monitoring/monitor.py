"""`monitor`: one log against a baseline; it reads the log once, part by part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from countmorl.data.batches import Batch, batches
from countmorl.errors import ConfigError, DataError
from countmorl.monitoring.baseline import Baseline
from countmorl.monitoring.chance import Chance, exceeding
from countmorl.monitoring.report import Alarm, Kind, Moved, Report, moved_sentence
from countmorl.monitoring.tally import Tally, starts_of
from countmorl.monitoring.watched import Column, Count, watch

FALSE_ALARMS = 0.01
MOVED, SHARE = 0.6, 0.1
"""Shares of the false alarms that moves may raise, and extreme values and new words. The rest is
left: what was asked for is not to be exceeded where a few hundred logs are counted, either."""
MOST_UNITS = 500
"""Episodes of a log that are told apart; of longer ones some count as one, which moves less."""
SMALL = 1e-4
"""Share of rows that stands for none in the population stability index."""


@dataclass(eq=False)
class Today:
    """What is kept of a log while it is read: sums, and how many episodes go beyond."""

    baseline: Baseline
    pieces: Tally | None = None
    """Sums over episodes, in order; over several each where there are many."""
    episodes: int = 0
    above: np.ndarray = field(init=False)
    """Episodes with a value above all of the training's, by column."""
    below: np.ndarray = field(init=False)
    strange: dict[str, int] = field(default_factory=dict)
    """Episodes with words that the training did not know, by column."""
    low: np.ndarray = field(init=False)
    high: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        width = len(self.baseline.columns)
        self.above, self.below = np.zeros(width, np.int64), np.zeros(width, np.int64)
        self.low, self.high = np.full(width, np.inf), np.full(width, -np.inf)

    @property
    def rows(self) -> int:
        """Steps that were read."""
        return 0 if self.pieces is None else int(self.pieces.rows.sum())

    @property
    def size(self) -> float:
        """Episodes of the training that would have so many rows, no more than there are."""
        rows = self.rows / self.baseline.pool.length
        return rows if self.baseline.origin.blocks else min(float(self.episodes), rows)

    @property
    def units(self) -> Tally:
        """Sums over as many parts as it has episodes of the training's length."""
        assert self.pieces is not None
        wanted = min(MOST_UNITS, max(1, round(self.size)))
        rows = self.pieces.rows
        place = (np.cumsum(rows) - 0.5 * rows) * wanted / rows.sum()
        return self.pieces.joined(starts_of(place.astype(np.int64)))

    def add(self, batch: Batch, count: Count | None) -> None:
        """Add up some more rows."""
        if not len(batch):
            return
        base = self.baseline
        values = watch(batch, base.form, base.foretold, count)
        self.episodes = int(batch.episode[-1]) + 1
        starts = starts_of(batch.episode)
        cuts = np.arange(0, len(batch), max(1, round(base.pool.length)))
        pieces = np.union1d(starts, cuts) if base.origin.blocks else starts
        self._append(Tally.of(values, pieces, base.pool.edges, batch.reward))
        with np.errstate(invalid="ignore"):
            high = np.fmax.reduceat(values, starts, axis=0)
            low = np.fmin.reduceat(values, starts, axis=0)
            self.above += (high > base.high).sum(axis=0)
            self.below += (low < base.low).sum(axis=0)
            self.high = np.fmax(self.high, np.fmax.reduce(high))
            self.low = np.fmin(self.low, np.fmin.reduce(low))
        for name, flags in batch.strange.items():
            times = int(np.logical_or.reduceat(flags, starts).sum())
            self.strange[name] = self.strange.get(name, 0) + times

    def _append(self, more: Tally) -> None:
        pieces = more if self.pieces is None else self.pieces.before(more)
        while len(pieces) > 4 * MOST_UNITS:
            pieces = pieces.joined(np.arange(0, len(pieces), 2))
        self.pieces = pieces


def monitor(
    baseline: Baseline,
    log: str | Path | Mapping[str, Any] | Iterable[Batch],
    *,
    count: Count | None = None,
    false_alarms: float = FALSE_ALARMS,
    missing: tuple[str, ...] = (),
    name: str | None = None,
) -> Report:
    """Compare a log with a training; `count` tells how often pairs were logged.

    `false_alarms` is how often a log of the same kind may raise an alarm.
    """
    if not 0.001 <= false_alarms <= 0.5:
        raise ConfigError(
            f"`false_alarms` must be from 0.001 to 0.5, got {false_alarms:g}: rarer alarms cannot "
            "be told from the episodes of one log."
        )
    if (count is None) != (baseline.origin.counter is None):
        raise ConfigError("The baseline and the counts do not belong together; make it anew.")
    today = Today(baseline)
    named: Any = log if isinstance(log, (str, Path, Mapping)) else None
    parts: Any = log if named is None else batches(named, baseline.form, missing=missing)
    for batch in parts:
        today.add(batch, count)
    if today.pieces is None:
        raise DataError("The log has no rows, so there is nothing to compare.")
    given = str(log) if isinstance(log, (str, Path)) else "the log"
    chance = baseline.pool.by_chance(today.units)
    return report(today, chance, false_alarms, name or given)


def report(today: Today, chance: Chance, false_alarms: float, name: str) -> Report:
    """Weigh what was added up of a log against others of the same episodes."""
    base, pool = today.baseline, today.baseline.pool
    limit = chance.limit(false_alarms * MOVED)
    now, before, moves = weighed(today, chance)
    columns = [_moved(base, place, now, before, moves, limit) for place in range(len(base.columns))]
    alarms = [_said(base, column) for column in columns if column.alarm]
    if moves[-1] > limit:
        alarms.append(_reward(now[-1] * pool.spread, before[-1] * pool.spread))
    alarms += extremes(today, false_alarms * SHARE)
    unseen = next((c for c in columns if c.part == "counted"), None)
    shares = _unseen(base, now, before) if unseen else (None, None)
    return Report(
        log=name,
        rows=today.rows,
        episodes=today.episodes,
        columns=tuple(sorted(columns, key=lambda each: -each.moved)),
        limit=limit,
        false_alarms=false_alarms,
        unseen=shares[0],
        unseen_before=shares[1],
        reward=float(now[-1] * pool.spread),
        reward_before=float(before[-1] * pool.spread),
        alarms=tuple(alarms),
        notes=tuple(_notes(today)),
    )


def weighed(today: Today, chance: Chance) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Shares of today's log, the training's, and how far apart they lie, in spreads; [tests]."""
    assert today.pieces is not None
    pool = today.baseline.pool
    now, before = pool.shares(today.pieces.whole)[0], pool.reference
    # A part of an episode moves as one does, and by so much more as it has fewer rows.
    return now, before, chance.moved * np.sqrt(min(1.0, today.size))


def _moved(
    base: Baseline,
    place: int,
    now: np.ndarray,
    before: np.ndarray,
    moves: np.ndarray,
    limit: float,
) -> Moved:
    """A column at the edge where it has moved farthest for its spread."""
    edges, column = base.pool.edges, base.columns[place]
    own = np.flatnonzero(edges.column == place)
    far = own[int(moves[own].argmax())]
    return Moved(
        name=column.name,
        part=column.part,
        at=float(edges.at[far]),
        before=float(before[far]),
        now=float(now[far]),
        moved=float(moves[far]),
        psi=stability(before[own], now[own]),
        alarm=bool(moves[far] > limit),
    )


def stability(before: np.ndarray, now: np.ndarray) -> float:
    """Population stability index: the sum of (q - p) log(q / p) over the bins between edges.

    `before` and `now` are shares of rows at or below each edge.
    """
    p, q = (np.maximum(np.diff(each, prepend=0.0, append=1.0), SMALL) for each in (before, now))
    return float(((q - p) * np.log(q / p)).sum())


def _said(base: Baseline, column: Moved) -> Alarm:
    place = [(c.name, c.part) for c in base.columns].index((column.name, column.part))
    binary = bool(base.low[place] in (0, -1) and base.high[place] == 1) and "=" in column.name
    kind: Kind = "rarer" if column.part == "counted" else "moved"
    return Alarm(kind=kind, column=column.name, sentence=moved_sentence(column, binary))


def _reward(now: float, before: float) -> Alarm:
    way = "less" if now < before else "more"
    text = f"a step pays {now:.4g} on average, {way} than the {before:.4g} of the training."
    return Alarm(kind="reward", column="reward", sentence=text)


def extremes(today: Today, false_alarms: float) -> list[Alarm]:
    """Columns that too many episodes leave the training's range in, and new words."""
    base = today.baseline
    own = [place for place, column in enumerate(base.columns) if _has_range(column)]
    tests, inside = 2 * len(own) + len(today.strange), base.origin.episodes
    found: list[Alarm] = []

    def rare(beyond: int) -> bool:
        return beyond > 0 and exceeding(inside, today.episodes, beyond) < false_alarms / tests

    for place in own:
        column = base.columns[place].name
        for times, most, ever, way in (
            (today.above[place], today.high[place], base.high[place], "above"),
            (today.below[place], today.low[place], base.low[place], "below"),
        ):
            if rare(int(times)):
                text = (
                    f"{column} goes {way} {ever:.4g}, the farthest of the training, in {times:,} "
                    f"of {today.episodes:,} episodes, {'up' if way == 'above' else 'down'} to "
                    f"{most:.4g}."
                )
                found.append(Alarm(kind="beyond", column=column, sentence=text))
    for column, times in today.strange.items():
        if rare(times):
            text = f"{column} holds words that the training did not know, in {times:,} episodes."
            found.append(Alarm(kind="new words", column=column, sentence=text))
    return found


def _has_range(column: Column) -> bool:
    return not column.fitted


def _unseen(base: Baseline, now: np.ndarray, before: np.ndarray) -> tuple[float, float]:
    """Shares of pairs that were never logged: what lies at or below a count of 0."""
    edges = base.pool.edges
    place = [column.part for column in base.columns].index("counted")
    never = np.flatnonzero((edges.column == place) & (edges.at == 0))[0]
    return float(now[never]), float(before[never])


def _notes(today: Today) -> list[str]:
    base = today.baseline
    notes = []
    if today.size < 1:
        notes.append(
            f"the log is shorter than one of the training's "
            f"{'blocks' if base.origin.blocks else 'episodes'} ({base.pool.length:.0f} steps): "
            "little can be told from it"
        )
    if base.origin.blocks:
        notes.append(
            "the training has few episodes, so blocks of its rows stand for them: whatever "
            "differs between whole episodes may raise alarms"
        )
    if not base.pool.aside.any():
        notes.append(
            "the training has too few episodes for some to be left out, so foretold changes are "
            "compared with rows that were fitted on"
        )
    mild = [name for name, times in today.strange.items() if times]
    if mild:
        notes.append(f"new words in {', '.join(mild)}")
    beyond = [
        base.columns[place].name
        for place in np.flatnonzero((today.above > 0) | (today.below > 0))
        if _has_range(base.columns[place])
    ]
    if beyond:
        notes.append(f"values beyond the training's range in {', '.join(beyond)}")
    return notes
