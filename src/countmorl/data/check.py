"""Health of a log, before hours are spent on it. Each finding names rows and says what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from countmorl.data.checks import actions as action_tests
from countmorl.data.checks import columns, episodes, leaks, reading, units
from countmorl.data.dataset import Dataset
from countmorl.data.fields import Fields
from countmorl.data.findings import Finding
from countmorl.data.readers.mapping import read_mapping
from countmorl.data.sources import Source, read
from countmorl.runs.options import ActionKind, DataOptions, Done


def check(
    source: Fields | Source, *, done: Done | None = None, actions: ActionKind | None = None
) -> list[Finding]:
    """Look for everything that is known to spoil a run; errors come first.

    `source` is anything `countmorl.load` takes, or fields already read; `done` and `actions` say
    what the log itself does not.
    """
    if isinstance(source, Dataset):
        stored = read_mapping(source.stored, name=source.name, task=source.task)
        source = replace(stored, unused=source.unused)
    if isinstance(source, Fields):
        fields = source
    else:
        fields = read(source, options=DataOptions(done=done, actions=actions))
    findings = [finding for test in TESTS for finding in test(fields)]
    return sorted(findings, key=lambda finding: finding.level != "error")


TESTS: tuple[Callable[[Fields], Iterator[Finding]], ...] = (
    reading.unused,
    reading.doubtful_actions,
    reading.lost,
    reading.infinite,
    reading.propensities,
    action_tests.bounds,
    action_tests.outliers,
    episodes.flags,
    episodes.returning,
    episodes.time_limit,
    episodes.cut_rewards,
    episodes.continuity,
    columns.constants,
    columns.twins,
    columns.clocks,
    leaks.leaks,
    units.sentinels,
    units.unit_jumps,
    reading.scales,
    episodes.repeats,
)
