"""A service at its port: loopback unless said otherwise, with an end to every wait."""

from __future__ import annotations

import ipaddress
from typing import Any

from countmorl.errors import ConfigError
from countmorl.extras import require

try:
    import resource
except ImportError:  # Windows has no such limits.
    resource = None

TOKEN = "COUNTMORL_TOKEN"
"""The environment's variable that holds the token."""
IDLE = 30
"""Seconds that a connection may be kept without a request."""
CONNECTIONS = 2_000
"""Connections at once; others are told to come back."""


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def warning(host: str, token: str | None) -> str | None:
    """What to say of a service that others reach."""
    if is_loopback(host):
        return None
    said = "The service speaks plain HTTP: put a proxy with TLS before it."
    if token is not None:
        return said
    return (
        f"Whoever reaches {host} can ask this policy for actions: no token is set ({TOKEN}). {said}"
    )


def checked_token(token: str | None) -> str | None:
    """A token as the environment gives it; a short one, or one that no header holds, is refused."""
    if token is None:
        return None
    if len(token) < 16 or not token.isascii() or not token.isprintable() or " " in token:
        raise ConfigError(
            f"{TOKEN} must have at least 16 plain characters without blanks, such as those of "
            "`openssl rand -hex 16`."
        )
    return token


def make_server(app: Any, *, host: str, port: int) -> Any:
    """A server that is not yet running."""
    if not 0 <= port < 65_536:
        raise ConfigError(f"`port` must be from 0 to 65535, got {port}.")
    uvicorn = require("uvicorn")
    from countmorl.serving.patience import Patient  # It stands on Uvicorn, an extra.

    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=Patient,
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=IDLE,
        timeout_graceful_shutdown=5,
        backlog=2048,
    )
    return uvicorn.Server(config)


def allow_files(count: int = CONNECTIONS + 100) -> None:
    """Let this process have a file for every connection, as far as the system permits."""
    if resource is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < count:
        most = count if hard == resource.RLIM_INFINITY else min(count, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
