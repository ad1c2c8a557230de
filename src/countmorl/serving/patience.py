"""Uvicorn's protocol, which also ends connections that never finish the head of a request."""

from __future__ import annotations

import asyncio
from typing import Any

from countmorl.extras import require

HEADERS = 10.0
"""Seconds in which the head of a request has to be there."""
BASE: Any = require("uvicorn.protocols.http.h11_impl").H11Protocol


class Patient(BASE):
    """Hangs up where no request has come in time, the first or a later one."""

    waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take what has come, and go on waiting where it is no whole head."""
        super().data_received(data)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._stop()
        super().connection_lost(exc)

    @property
    def is_answering(self) -> bool:
        """Whether a request is being answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def _wait(self) -> None:
        if self.is_answering:
            self._stop()
        elif self.waiting is None:
            self.waiting = self.loop.call_later(HEADERS, self._hang_up)

    def _hang_up(self) -> None:
        self.waiting = None
        if not self.is_answering and not self.transport.is_closing():
            self.transport.close()

    def _stop(self) -> None:
        if self.waiting is not None:
            self.waiting.cancel()
            self.waiting = None
