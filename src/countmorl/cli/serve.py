"""`countmorl serve DIR`: a policy with its counts and its guard, over HTTP."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import tyro
from tyro.conf import Positional

from countmorl.serving.answering import BundleAnswers
from countmorl.serving.app import Limits, make_app
from countmorl.serving.listening import (
    TOKEN,
    allow_files,
    checked_token,
    make_server,
    warning,
)

PORT = 8_400


def serve(
    where: Annotated[Positional[Path], tyro.conf.arg(metavar="DIR")],
    host: str = "127.0.0.1",
    port: int = PORT,
    most_bytes: int = Limits.most_bytes,
    seconds: float = Limits.seconds,
) -> int:
    """Answer requests for actions over HTTP, each with its count, its level, and who acted.

    POST /act takes {"obs": [...]} or {"row": {...}}, or lists of them as "obs" and "rows"; GET
    /contract, /health and /metrics tell what is wanted, whether it is there, and what was counted.
    Where the environment holds COUNTMORL_TOKEN, requests need "Authorization: Bearer TOKEN".

    Args:
        where: The folder of a bundle, made by `countmorl export RUN -o DIR`.
        host: The address to listen at; by default this machine alone can ask.
        port: The port; 0 takes a free one.
        most_bytes: Bytes that the body of a request may have.
        seconds: Seconds in which the body of a request has to come.
    """
    token = checked_token(os.environ.get(TOKEN))
    limits = Limits(most_bytes=most_bytes, seconds=seconds)
    app = make_app(BundleAnswers.load(where), token=token, limits=limits)
    server = make_server(app, host=host, port=port)
    if said := warning(host, token):
        print(f"warning: {said}", file=sys.stderr, flush=True)
    allow_files()
    locked = "with a token" if token else "without a token"
    print(f"Serving {where} at http://{host}:{port}, {locked}. Ctrl-C ends it.", flush=True)
    server.run()
    return 0 if server.started else 2
