"""The routes of a service, as an ASGI application.

POST /act        {"obs": [...]}, {"obs": [[...], ...]}, {"row": {...}} or {"rows": [{...}, ...]}
GET  /contract   what the policy wants and gives
GET  /health     whether it is there
GET  /metrics    for Prometheus
"""

from __future__ import annotations

import asyncio
import hmac
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from countmorl.errors import CountMorlError, printable
from countmorl.extras import require
from countmorl.serving.bodies import Asked, read_body
from countmorl.serving.measures import Measures

Handler = Callable[[Any], Awaitable[Any]]
OPEN = ("/health",)
"""Routes that need no token."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One action, and why."""

    action: Any
    """A number, numbers by name or in order, a name; None where a person has to decide."""
    count: float | None
    level: str | None
    fell_back: bool
    why: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-able values."""
        found = {name: getattr(self, name) for name in ("action", "count", "level", "fell_back")}
        return found if self.why is None else found | {"why": self.why}


@runtime_checkable
class Answers(Protocol):
    """Whatever a service stands before."""

    contract: Any
    """What it wants and gives."""

    def numbers(self, obs: Sequence[Sequence[float]]) -> list[Answer]:
        """Act on observations."""
        ...

    def rows(self, rows: Sequence[Mapping[str, Any]]) -> list[Answer]:
        """Act on rows of a log, by name."""
        ...


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one request may take."""

    most_bytes: int = 1_000_000
    """Bytes of a body."""
    seconds: float = 10.0
    """Seconds in which a body has to be there."""


class TooMuch(CountMorlError):
    """A body that is larger than is read."""


class TooSlow(CountMorlError):
    """A body that did not come in time."""


def make_app(answers: Answers, *, token: str | None = None, limits: Limits | None = None) -> Any:
    """The application; with `token` all routes but /health ask for it."""
    applications, routing = require("starlette.applications"), require("starlette.routing")
    service = Service(answers, token, limits or Limits())
    routes = [
        routing.Route("/act", service.guarded(service.act), methods=["POST"]),
        routing.Route("/contract", service.guarded(service.contract), methods=["GET"]),
        routing.Route("/health", service.guarded(service.health), methods=["GET"]),
        routing.Route("/metrics", service.guarded(service.metrics), methods=["GET"]),
    ]
    handlers = {404: service.not_there, 405: service.wrong_method}
    return applications.Starlette(routes=routes, exception_handlers=handlers)


class Service:
    """The handlers of one application."""

    def __init__(self, answers: Answers, token: str | None, limits: Limits) -> None:
        self.answers, self.limits, self.measures = answers, limits, Measures()
        self.token = None if token is None else token.encode()
        self.Response: Any = require("starlette.responses").Response

    def guarded(self, handler: Handler) -> Handler:
        """Ask for the token, turn errors into sentences, and count."""

        async def handle(request: Any) -> Any:
            start, route = time.perf_counter(), request.url.path
            try:
                if route not in OPEN and not self._known(request):
                    text = "This needs the service's token: Authorization: Bearer TOKEN."
                    response = self._error(401, text, {"WWW-Authenticate": "Bearer"})
                else:
                    response = await handler(request)
            except TooMuch as error:
                response = self._error(413, str(error), {"Connection": "close"})
            except TooSlow as error:
                response = self._error(408, str(error), {"Connection": "close"})
            except CountMorlError as error:
                response = self._error(422, str(error))
            except MemoryError:
                response = self._error(503, "There is no memory for this now. Try again later.")
            self.measures.request(route, response.status_code, time.perf_counter() - start)
            return response

        return handle

    async def act(self, request: Any) -> Any:
        """Answer with actions."""
        asked = read_body(await self._body(request))
        found = self._answered(asked)
        for each in found:
            self.measures.action(each.level, each.fell_back)
        said = [each.as_dict() for each in found]
        return self._json(200, {"answers": said} if asked.several else said[0])

    async def contract(self, request: Any) -> Any:
        """Say what the policy wants and gives."""
        return self._json(200, dict(self.answers.contract))

    async def health(self, request: Any) -> Any:
        """Say that the service is there."""
        return self._json(200, {"ready": True})

    async def metrics(self, request: Any) -> Any:
        """Say what was counted."""
        return self.Response(self.measures.text(), media_type=self.measures.content_type)

    async def not_there(self, request: Any, error: Exception) -> Any:
        """Name the routes that there are."""
        self.measures.request("other", 404, 0.0)
        text = "There is POST /act, and GET /contract, /health and /metrics; nothing else."
        return self._error(404, text)

    async def wrong_method(self, request: Any, error: Exception) -> Any:
        """Say which method a route takes."""
        self.measures.request("other", 405, 0.0)
        method = "POST" if request.url.path == "/act" else "GET"
        return self._error(405, f"{request.url.path} takes {method}.", {"Allow": method})

    def _answered(self, asked: Asked) -> list[Answer]:
        return (self.answers.numbers if asked.numbers else self.answers.rows)(asked.what)

    def _known(self, request: Any) -> bool:
        """Whether a request has the token; how long the comparison takes tells nothing."""
        if self.token is None:
            return True
        given = request.headers.get("authorization", "").encode("utf-8", "replace")
        return hmac.compare_digest(given, b"Bearer " + self.token)

    async def _body(self, request: Any) -> bytes:
        """The body, as long as it is neither too long nor too slow."""
        parts, size = [], 0
        try:
            async with asyncio.timeout(self.limits.seconds):
                async for part in request.stream():
                    parts.append(part)
                    size += len(part)
                    if size > self.limits.most_bytes:
                        raise TooMuch(
                            f"The body has more than {self.limits.most_bytes:,} bytes. Ask for "
                            "fewer rows at once."
                        )
        except TimeoutError as error:
            raise TooSlow(f"The body did not come within {self.limits.seconds:g} s.") from error
        return b"".join(parts)

    def _error(self, status: int, text: str, headers: dict[str, str] | None = None) -> Any:
        return self._json(status, {"error": printable(text)}, headers)

    def _json(self, status: int, value: Any, headers: dict[str, str] | None = None) -> Any:
        text = json.dumps(value, allow_nan=False).encode()
        return self.Response(text, status, headers=headers, media_type="application/json")
