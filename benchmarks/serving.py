"""A service under load on this machine: speed, malformed bodies, slow clients, 1,000 connections.

python -m benchmarks.serving RUN: serves a run or a bundle in a process of its own, asks it for
about a minute, and prints what came of it as JSON. Nothing is kept.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

OURS = "import sys; from countmorl.cli import main; sys.exit(main())"
BUSY, SLOW, MANY, EACH = 32, 100, 1_000, 5
"""Connections that ask without a pause, that never end a head, that are there at once, and what
each of the last asks."""
MALFORMED = (
    *(b"", b"{", b"null", b"[]", b"\xff\xfe", b'"obs"', b'{"obs": NaN}', b'{"obs": [1e999]}'),
    *(b'{"obs": []}', b'{"obs": [[]]}', b'{"obs": ["1"]}', b'{"obs": [true]}', b'{"obs": {}}'),
    *(b'{"obs": [' + b"[" * 5_000, b'{"row": 1}', b'{"row": {"a": 1, "a": 2}}', b'{"rows": []}'),
    *(b'{"obs": [1' + b"0" * 5_000 + b"]}", b"0" * 2_000_000, b'{"obs": [' + b"1," * 99_999),
)


class Client:
    """One connection that is kept."""

    def __init__(self, port: int) -> None:
        self.port = port

    async def __aenter__(self) -> Client:
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()

    async def ask(self, body: bytes, path: str = "/act", method: str = "POST") -> tuple[int, bytes]:
        """Send a request; its status and what the answer says."""
        head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
        self.writer.write(head.encode() + body)
        first = await self.reader.readuntil(b"\r\n\r\n")
        size = next(
            int(line.split(b":")[1])
            for line in first.lower().split(b"\r\n")
            if line.startswith(b"content-length")
        )
        return int(first.split()[1]), await self.reader.readexactly(size)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def memory(process: int) -> float:
    """Megabytes that a process holds now."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("This system does not tell what a process holds.")


def quantiles(seconds: Sequence[float]) -> dict[str, float]:
    """Milliseconds of the median and of the slowest hundredth."""
    p50, p99 = np.quantile(seconds, [0.5, 0.99]) * 1000
    return {"p50_ms": round(float(p50), 2), "p99_ms": round(float(p99), 2)}


async def alone(port: int, body: bytes, requests: int = 500) -> dict[str, float]:
    """One connection, one request after the other."""
    spent = []
    async with Client(port) as client:
        for _ in range(requests):
            start = time.perf_counter()
            status, _ = await client.ask(body)
            assert status == 200, status
            spent.append(time.perf_counter() - start)
    return quantiles(spent)


async def busy(port: int, body: bytes, seconds: float) -> dict[str, float]:
    """Many connections that ask without a pause."""
    spent: list[float] = []
    end = time.perf_counter() + seconds

    async def ask() -> None:
        async with Client(port) as client:
            while (start := time.perf_counter()) < end:
                status, _ = await client.ask(body)
                assert status == 200, status
                spent.append(time.perf_counter() - start)

    await asyncio.gather(*(ask() for _ in range(BUSY)))
    return {"requests_per_second": round(len(spent) / seconds), **quantiles(spent)}


async def malformed(port: int, times: int = 20) -> dict[str, int]:
    """Bodies that are none: each is refused in a sentence."""
    found: dict[str, int] = {}
    for body in MALFORMED * times:
        async with Client(port) as client:
            status, answer = await client.ask(body)
            assert 400 <= status < 500, (status, body[:40])
            assert json.loads(answer)["error"]
            found[str(status)] = found.get(str(status), 0) + 1
    return found


async def slow(port: int, body: bytes) -> dict[str, Any]:
    """Heads that never end, beside a client that is served."""
    held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(SLOW)]
    for _, writer in held:
        writer.write(b"POST /act HTTP/1.1\r\nHost: x\r\nX-Slow: ")
    start = time.perf_counter()
    found = await alone(port, body, 200)
    ends = await asyncio.wait_for(asyncio.gather(*(reader.read() for reader, _ in held)), 60)
    return {
        **found,
        "hung_up_after_s": round(time.perf_counter() - start, 1),
        "hung_up": sum(end == b"" for end in ends),
    }


async def many(port: int, body: bytes) -> dict[str, Any]:
    """A thousand connections that are open at once, each asking a few times."""
    room = asyncio.Semaphore(100)  # How many connect at the same moment.
    ready, spent, statuses, hung_up = asyncio.Barrier(MANY), [], [], []

    async def ask() -> None:
        async with room:
            client = await Client(port).__aenter__()
        await ready.wait()
        for _ in range(EACH):
            start = time.perf_counter()
            try:
                status, _ = await client.ask(body)
            except (asyncio.IncompleteReadError, ConnectionError):
                hung_up.append(client)  # It took too long until all were there: none had asked.
                break
            spent.append(time.perf_counter() - start)
            statuses.append(status)
        await client.__aexit__()

    await asyncio.gather(*(ask() for _ in range(MANY)))
    return {
        "connections": MANY,
        "answered": len(statuses),
        "hung_up": len(hung_up),
        "refused": sum(status != 200 for status in statuses),
        **quantiles(spent),
    }


async def load(port: int, process: int, body: bytes, seconds: float) -> dict[str, Any]:
    """Everything in turn, with what the service holds before and behind."""
    await alone(port, body, 200)
    found: dict[str, Any] = {"memory_mb": {"at first": round(memory(process), 1)}}
    found["alone"] = await alone(port, body)
    found["busy"] = await busy(port, body, seconds)
    found["memory_mb"]["after busy"] = round(memory(process), 1)
    print(json.dumps(found), file=sys.stderr, flush=True)
    found["malformed"] = await malformed(port)
    found["slow"] = await slow(port, body)
    print(json.dumps(found), file=sys.stderr, flush=True)
    found["many"] = await many(port, body)
    found["memory_mb"]["after all"] = round(memory(process), 1)
    await busy(port, body, seconds)
    found["memory_mb"]["after as much again"] = round(memory(process), 1)
    async with Client(port) as client:
        found["health"] = json.loads((await client.ask(b"", "/health", "GET"))[1])
    return found


async def started(port: int, process: subprocess.Popen) -> dict[str, Any]:
    """Wait until the service is there; what its contract says."""
    for _ in range(600):
        try:
            async with Client(port) as client:
                return json.loads((await client.ask(b"", "/contract", "GET"))[1])
        except OSError:
            if process.poll() is not None:
                raise SystemExit("The service has ended before it began.") from None
            await asyncio.sleep(0.2)
    raise SystemExit("The service did not begin within two minutes.")


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument(
        "--body", help="a body that is answered; by default an observation of zeros"
    )
    asked = parser.parse_args(words)
    port = free_port()
    command = (sys.executable, "-c", OURS, "serve", str(asked.run), "--port", str(port))
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            contract = asyncio.run(started(port, process))
            zeros = {"obs": [0.0] * len(contract["observation"])} if not asked.body else None
            body = asked.body.encode() if asked.body else json.dumps(zeros).encode()
            print(json.dumps(asyncio.run(load(port, process.pid, body, asked.seconds)), indent=2))
        finally:
            process.terminate()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
