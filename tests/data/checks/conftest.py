"""Logs that are right but for one thing, and the one finding about it."""

from collections.abc import Callable

import numpy as np
import pytest

from countmorl.data.check import check
from countmorl.data.fields import Fields
from countmorl.data.findings import Finding
from countmorl.schema import Column, Schema, schema_bytes


@pytest.fixture
def findings() -> Callable[..., list[Finding]]:
    """All that is found in arrays."""
    return lambda arrays, **more: check(Fields.of(arrays, name="log", **more))


@pytest.fixture
def only(findings) -> Callable[..., Finding]:
    """The single finding of a kind; no other kind may be found."""

    def find(arrays, kind, **more):
        found = findings(arrays, **more)
        assert [finding.kind for finding in found] == [kind], found
        return found[0]

    return find


@pytest.fixture
def walk() -> Callable[..., dict[str, np.ndarray]]:
    """A log of slow measurements, all positive, in episodes of various lengths that are cut."""

    def make(rows=2000, columns=3):
        rng = np.random.default_rng(1)
        noise = 0.02 * rng.standard_normal((rows, columns))
        drift = np.sin(np.arange(rows)[:, None] / (40 + 9 * np.arange(columns)))
        cut = np.zeros(rows, bool)
        cut[np.cumsum(rng.integers(60, 120, rows // 60))[: rows // 120]] = True
        cut[-1] = True
        return {
            "obs": 50 + 10 * drift + noise,
            "action": rng.uniform(-1, 1, (rows, 2)),
            "reward": rng.standard_normal(rows),
            "truncated": cut,
        }

    return make


@pytest.fixture
def with_names() -> Callable[..., dict[str, np.ndarray]]:
    """The same log with names for its three columns and two actions."""

    def name(arrays, *names, **more):
        obs = tuple(Column(name=each, **more.get(each, {})) for each in names)
        action = (Column(name="dose"), Column(name="flow"))
        return arrays | {"schema": schema_bytes(Schema(obs=obs, action=action))}

    return name
