"""What a service counts of itself, in Prometheus' own format."""

from __future__ import annotations

from typing import Any

from countmorl.extras import require

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
"""Seconds of the histogram of latencies."""


class Measures:
    """Counters of one service."""

    def __init__(self) -> None:
        kept: Any = require("prometheus_client")
        self._render = kept.generate_latest
        self.content_type: str = kept.CONTENT_TYPE_LATEST
        self.registry = kept.CollectorRegistry()

        def make(
            kind: Any, name: str, about: str, labels: tuple[str, ...] = (), **more: Any
        ) -> Any:
            return kind(f"countmorl_{name}", about, labels, registry=self.registry, **more)

        self._requests = make(
            kept.Counter, "requests", "Requests that were answered.", ("route", "status")
        )
        self._seconds = make(
            kept.Histogram, "seconds", "Seconds to an answer.", ("route",), buckets=BUCKETS
        )
        self._levels = make(
            kept.Counter, "actions", "Actions by how well the log covers them.", ("level",)
        )
        self._back = make(kept.Counter, "fall_backs", "Actions of the fall-back.")

    def request(self, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def action(self, level: str | None, fell_back: bool) -> None:
        """Count an action that was given."""
        self._levels.labels(level or "unknown").inc()
        self._back.inc(fell_back)

    def text(self) -> bytes:
        """Everything, as Prometheus reads it."""
        return self._render(self.registry)
