"""Download a D4RL file: resumable, by one process at a time, and published only if it is right."""

from __future__ import annotations

import hashlib
import http.client
import os
import ssl
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from countmorl.data.names import D4RLName
from countmorl.disk import explained_write, own_file, sync_folder, write_all
from countmorl.errors import DataError
from countmorl.progress import byte_progress

try:
    import fcntl
except ImportError:  # Windows has no such locks.
    fcntl = None

CHUNK = 1 << 18
TIMEOUT = 60.0
BROKEN = (TimeoutError, ConnectionError, ssl.SSLError, http.client.HTTPException, ValueError)
"""What a connection that breaks off raises."""


def download(known: D4RLName, *, timeout: float = TIMEOUT) -> Path:
    """Fetch the file of a D4RL dataset into D4RL's cache folder and return its path.

    Bytes go to `NAME.part`, which one process holds at a time; a later call goes on where an
    interrupted one stopped. The file gets its name when its size and digest are the known ones.
    """
    part = known.path.with_name(known.path.name + ".part")
    with explained_write(known.path, DataError):
        known.path.parent.mkdir(parents=True, exist_ok=True)
        while not known.path.exists():
            with own_file(part, os.O_RDWR | os.O_CREAT) as file:
                _lock(file, known)
                if not _has_name(file, part):
                    continue  # Whoever held it has published it, or thrown it away.
                if known.path.exists():
                    part.unlink()
                    continue
                try:
                    _complete(known, part, file, timeout)
                except BaseException:
                    if os.fstat(file).st_size == 0 and _has_name(file, part):
                        part.unlink()  # Nothing came, so there is nothing to go on with.
                    raise
                os.fsync(file)
                os.replace(part, known.path)
                sync_folder(known.path.parent)
    return known.path


def _lock(file: int, known: D4RLName) -> None:
    """Wait until no other process holds the file; the system lets go of what the dead held."""
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"{known.name}: another process downloads it; waiting.", file=sys.stderr, flush=True)
        fcntl.flock(file, fcntl.LOCK_EX)
    except OSError:
        return  # Some shared disks know no locks. The digest keeps what is wrong out all the same.


def _has_name(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.lstat(path))
    except FileNotFoundError:
        return False


def _complete(known: D4RLName, part: Path, file: int, timeout: float) -> None:
    """Fetch what is missing of the file; what was there before may be damaged, so try it anew."""
    while True:
        have = os.fstat(file).st_size
        if have < known.size:
            _fetch(known, file, have, timeout)
        if os.fstat(file).st_size == known.size and _digest(file) == known.sha256:
            return
        os.ftruncate(file, 0)
        if have == 0:
            part.unlink()
            raise DataError(
                f"What {known.url} sent is not the file of {known.name}: its digest (SHA-256) is "
                f"another one. It was deleted. {_elsewhere(known)}"
            )


def _digest(file: int) -> str:
    os.lseek(file, 0, os.SEEK_SET)
    with open(file, "rb", closefd=False) as raw:
        return hashlib.file_digest(raw, "sha256").hexdigest()


def _fetch(known: D4RLName, file: int, have: int, timeout: float) -> None:
    headers = {"User-Agent": "countmorl"} | ({"Range": f"bytes={have}-"} if have else {})
    _check_address(known.url)
    try:
        request = urllib.request.Request(known.url, headers=headers)
        with _opener().open(request, timeout=timeout) as response:
            _save(response, file, known, _resumed_at(response, have))
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416:  # Nothing is left to fetch: the part is not of this file.
            return
        raise DataError(_refused(known, error.code)) from error
    except urllib.error.URLError as error:
        raise DataError(
            f"{known.url} could not be reached ({error.reason}). Check the network and try again. "
            f"{_elsewhere(known)}"
        ) from error
    except BROKEN as error:
        raise DataError(_interrupted(known, file)) from error


def _check_address(url: str) -> None:
    try:
        whole = urlsplit(url)
        right = whole.scheme in ("http", "https") and bool(whole.hostname)
    except ValueError:
        right = False
    if not right:
        raise DataError(
            f"'{url}' is not an address to download from. COUNTMORL_D4RL_MIRROR must be empty or "
            "begin with http:// or https://."
        )


def _opener() -> urllib.request.OpenerDirector:
    """Speaks HTTP and nothing else, so that no server sends us on to files of this machine."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler,
        urllib.request.UnknownHandler,
        urllib.request.HTTPHandler,
        urllib.request.HTTPSHandler,
        urllib.request.HTTPDefaultErrorHandler,
        urllib.request.HTTPRedirectHandler,
        urllib.request.HTTPErrorProcessor,
    ):
        opener.add_handler(handler())
    return opener


def _resumed_at(response: Any, have: int) -> int:
    """From which byte the answer goes on; a server that starts anew is taken at its word."""
    partial = response.status == 206
    given = response.headers.get("Content-Range", f"bytes {have}-")
    return have if partial and given.startswith(f"bytes {have}-") else 0


def _save(response: Any, file: int, known: D4RLName, have: int) -> None:
    left = response.headers.get("Content-Length")
    if left and left.isdigit() and have + int(left) != known.size:
        raise _other_size(known, f"{have + int(left):,} bytes")
    os.ftruncate(file, have)
    os.lseek(file, have, os.SEEK_SET)
    got = have
    with byte_progress(known.name, have, known.size) as tell:
        while chunk := response.read(CHUNK):
            got += len(chunk)
            if got > known.size:
                os.ftruncate(file, 0)
                raise _other_size(known, "more")
            write_all(file, chunk)
            tell(len(chunk))
    if got < known.size:
        raise DataError(_interrupted(known, file))


def _other_size(known: D4RLName, sent: str) -> DataError:
    return DataError(
        f"{known.url} sends {sent}, but the file of {known.name} has {known.size:,} bytes. "
        f"{_elsewhere(known)}"
    )


def _refused(known: D4RLName, code: int) -> str:
    reason = {403: "access is forbidden", 404: "there is no such file"}.get(code, "it refused")
    return f"The server answered {code} for {known.url}: {reason}. {_elsewhere(known)}"


def _elsewhere(known: D4RLName) -> str:
    return (
        "Try later, set COUNTMORL_D4RL_MIRROR to another server, or put the file at "
        f"{known.path} yourself."
    )


def _interrupted(known: D4RLName, file: int) -> str:
    return (
        f"The download of {known.name} broke off after {os.fstat(file).st_size / 1e6:.1f} MB. Run "
        "the same command again; it goes on from there."
    )
