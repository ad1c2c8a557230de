"""An application asked without a socket."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any


def ask(
    app: Any,
    method: str,
    path: str,
    body: bytes | Any = b"",
    *,
    headers: dict[str, str] | None = None,
    parts: AsyncIterator[bytes] | None = None,
) -> tuple[int, dict[str, str], Any]:
    """Send a request; status, headers, and what the JSON or the text of the answer says."""
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    status, found, answer = asyncio.run(_asked(app, method, path, sent, headers or {}, parts))
    kind = found.get("content-type", "")
    return status, found, json.loads(answer) if "json" in kind else answer.decode()


async def _asked(app, method, path, body, headers, parts):
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "scheme": "http",
        "query_string": b"",
        "headers": [(k.lower().encode(), v.encode()) for k, v in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
    }
    whole = [body]

    async def receive():
        if parts is not None:
            async for part in parts:
                return {"type": "http.request", "body": part, "more_body": True}
        return {"type": "http.request", "body": whole.pop() if whole else b"", "more_body": False}

    messages = []

    async def send(message):
        messages.append(message)

    await app(scope, receive, send)
    start = messages[0]
    names = {k.decode(): v.decode() for k, v in start["headers"]}
    return start["status"], names, b"".join(m.get("body", b"") for m in messages[1:])
