"""`baseline_of`: the baseline of a run, from its training rows and those that it set aside."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from countmorl.data.batches import Batch, Form
from countmorl.data.dataset import Dataset
from countmorl.data.holdout import held_episodes
from countmorl.data.sources import Source
from countmorl.errors import DataError
from countmorl.evaluation.parts import dataset_of
from countmorl.monitoring.baseline import BASELINE_FILE, Baseline, Origin
from countmorl.monitoring.chance import Pool
from countmorl.monitoring.foretold import Foretold
from countmorl.monitoring.tally import Edges, Tally
from countmorl.monitoring.watched import columns_of, step_parts, watch
from countmorl.runs.folder import Run
from countmorl.runs.options import Done
from countmorl.runtime.counts import Counts

LEAST, BLOCKS = 20, 40
"""With fewer episodes than this, so many blocks of rows stand for them."""
EPISODES, ROWS = 1_000, 200_000
"""Episodes that are kept to draw from, and rows of them, at the most."""
FITTED = 100_000
"""Rows that the small model of what follows is fitted on."""


class _Drawn(NamedTuple):
    """Rows of the episodes that are kept, and where each of them begins."""

    rows: np.ndarray
    starts: np.ndarray
    aside: np.ndarray


def baseline_of(
    run: Run, *, data: Source | None = None, save: bool = True, counted: bool = True
) -> Baseline:
    """The baseline that a run keeps, or a new one of its data; `data` says where they lie now.

    `counted` says whether a run that counts watches its counts.
    """
    path = run.path / BASELINE_FILE
    counts = None
    if counted and run.result_path("counter").exists():
        counts = Counts.of_run(run.path)
    counter = None if counts is None else counts.codes_digest
    origin = run.manifest.data
    if path.exists():
        found = Baseline.load(path)
        if origin is not None and (found.origin.hash, found.origin.counter) == (
            origin.hash,
            counter,
        ):
            return found
    dataset = dataset_of(run, data=data, simulated=False)
    assert origin is not None  # `dataset_of` has found the data by it.
    held = held_episodes(dataset, origin.holdout)
    made = made_of(dataset, held, counts, done=origin.options.done)
    if save:
        made.save(path)
    return made


def made_of(
    dataset: Dataset, held: np.ndarray, counts: Counts | None = None, *, done: Done | None = None
) -> Baseline:
    """The baseline of a log of which no training sees some episodes, by a flag for each."""
    learned = _learned(held)
    taught = dataset.of_episodes(learned)
    form = Form(
        obs_dim=dataset.obs_dim,
        action_dim=dataset.action_dim,
        discrete=dataset.discrete,
        schema=dataset.schema,
        done=done,
    )
    foretold = _foretold(taught, form)
    low, high = _range(dataset, form, foretold)
    starts, aside, cut = _episodes(dataset, ~learned)
    drawn = _draw(starts, aside, len(dataset))
    batch = batch_of(dataset, drawn.rows)
    values = watch(batch, form, foretold, None)
    if counts is not None:
        count = _counts_apart(counts, batch, drawn, held[batch.episode])
        values = np.concatenate([values, count[:, None]], axis=1)
        low, high = np.append(low, count.min()), np.append(high, count.max())
    columns = columns_of(form, counted=counts is not None)
    # Where edges lie is learned as well: rows that it was learned from lie beside them too well.
    lengths = np.diff(drawn.starts, append=len(values))
    edges = Edges.of(values[np.repeat(~drawn.aside, lengths)], columns)
    spread = float(dataset.reward.std(dtype=np.float64))
    pool = Pool(
        tally=Tally.of(values, drawn.starts, edges, batch.reward),
        aside=drawn.aside,
        fitted=np.array([column.fitted for column in columns]),
        rarer=np.array([column.part == "counted" for column in columns]),
        edges=edges,
        spread=spread if spread > 0 else 1.0,
    )
    about = Origin(
        data=dataset.name,
        hash=dataset.hash,
        counter=None if counts is None else counts.codes_digest,
        episodes=len(starts),
        blocks=cut,
        rows=len(dataset),
    )
    return Baseline(form=form, origin=about, foretold=foretold, pool=pool, low=low, high=high)


def batch_of(dataset: Dataset, rows: np.ndarray) -> Batch:
    """Rows of a dataset as a batch of a log, with the numbers of their episodes."""
    return Batch(
        obs=dataset.obs[rows],
        action=dataset.action[rows],
        reward=dataset.reward[rows],
        next_obs=dataset.next_obs[rows],
        next_known=dataset.next_known[rows],
        episode=np.searchsorted(dataset.episode_ends, rows),
        strange={},
    )


def _learned(held: np.ndarray) -> np.ndarray:
    """Episodes that the small model is fitted on: half of those that were not set aside.

    The others look to it as new ones do. Of a single episode there is no half.
    """
    taught = np.flatnonzero(~held)
    chosen = np.zeros(len(held), bool)
    half = np.random.default_rng(1).permutation(taught)[: max(1, len(taught) // 2)]
    chosen[half if len(taught) > 3 else taught] = True
    return chosen


def _foretold(taught: Dataset, form: Form) -> Foretold:
    known = np.flatnonzero(taught.next_known)
    if not len(known):
        raise DataError("No row's next observation is known, so what follows cannot be watched.")
    rng = np.random.default_rng(0)
    rows = known if len(known) <= FITTED else np.sort(rng.choice(known, FITTED, replace=False))
    return Foretold.fit(*step_parts(batch_of(taught, rows), form))


def _range(dataset: Dataset, form: Form, foretold: Foretold) -> tuple[np.ndarray, np.ndarray]:
    """The least and greatest value of each of the log's own columns, and of what followed."""
    lows, highs = [], []
    for at in range(0, len(dataset), FITTED):
        rows = np.arange(at, min(at + FITTED, len(dataset)))
        values = watch(batch_of(dataset, rows), form, foretold, None)
        lows.append(np.where(np.isnan(values), np.inf, values).min(axis=0))
        highs.append(np.where(np.isnan(values), -np.inf, values).max(axis=0))
    return np.min(lows, axis=0), np.max(highs, axis=0)


def _episodes(dataset: Dataset, held: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """Where episodes begin, which were set aside, and whether they are blocks in truth."""
    starts = np.append(0, dataset.episode_ends[:-1] + 1)
    if len(starts) >= LEAST:
        return starts, held, False
    even = np.linspace(0, len(dataset), min(BLOCKS, len(dataset)) + 1).astype(int)[:-1]
    blocks = np.union1d(starts, even)
    return blocks, held[np.searchsorted(starts, blocks, side="right") - 1], True


def _draw(starts: np.ndarray, aside: np.ndarray, total: int) -> _Drawn:
    """Keep some of the episodes by chance; of those set aside up to half of what is kept."""
    rng, lengths = np.random.default_rng(0), np.diff(starts, append=total)
    chosen = np.zeros(len(starts), bool)
    for group, share in ((aside, 0.5), (~aside, 1.0)):
        order = rng.permutation(np.flatnonzero(group))
        room = np.cumsum(lengths[order]) <= share * ROWS - lengths[chosen].sum()
        most = max(0, int(share * EPISODES) - int(chosen.sum()))
        room[: min(1, len(room))] = True
        chosen[order[room][:most]] = True
    rows = np.flatnonzero(np.repeat(chosen, lengths))
    kept = np.cumsum(np.append(0, lengths[chosen][:-1]))
    return _Drawn(rows, kept, aside[chosen])


def _counts_apart(query: Counts, batch: Batch, drawn: _Drawn, held: np.ndarray) -> np.ndarray:
    """How often each pair was logged in other episodes: what the training saw vouches for itself.

    Rows that were set aside (`held`) were never counted.
    """
    lengths = np.diff(drawn.starts, append=len(batch))
    episode = np.repeat(np.arange(len(lengths)), lengths)
    words, known = query.codes(batch.obs, batch.action)
    members = np.where(known, query.tables.lookup(words), 0)
    own = np.stack([_own(each, episode) for each in words])
    return np.maximum(0, members - np.where(held, 0, own)).mean(axis=0)


def _own(words: np.ndarray, episode: np.ndarray) -> np.ndarray:
    """How many rows of its own episode have each row's code."""
    pairs = np.column_stack([words.astype(np.int64), episode])
    _, inverse, times = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
    return times[inverse.reshape(-1)]
