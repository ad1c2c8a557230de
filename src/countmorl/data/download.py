"""Download a D4RL file: resumable, verified, and under its final name only when whole."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from pathlib import Path
from typing import IO

import h5py

from countmorl.data.names import D4RLName
from countmorl.errors import DataError
from countmorl.files import explained_write
from countmorl.progress import byte_progress

CHUNK = 1 << 18
TIMEOUT = 60.0
KEYS = ("observations", "actions", "rewards", "terminals")


def download(known: D4RLName, *, timeout: float = TIMEOUT) -> Path:
    """Fetch the file of a D4RL dataset into D4RL's cache folder and return its path.

    Bytes go to `NAME.part`; a later call goes on where an interrupted one stopped. The file is
    opened and its keys and rows are checked before it gets its final name.
    """
    part = known.path.with_name(known.path.name + ".part")
    with explained_write(known.path, DataError):
        known.path.parent.mkdir(parents=True, exist_ok=True)
        _fetch(known, part, timeout)
        try:
            verify(part, known)
        except DataError:
            part.unlink()  # It is complete and wrong: going on from it would never help.
            raise
        part.replace(known.path)
    return known.path


def _fetch(known: D4RLName, part: Path, timeout: float) -> None:
    have = part.stat().st_size if part.exists() else 0
    headers = {"User-Agent": "countmorl"} | ({"Range": f"bytes={have}-"} if have else {})
    try:
        request = urllib.request.Request(known.url, headers=headers)
        with urllib.request.urlopen(request, timeout=timeout) as response:
            _save(response, part, known, _resumed_at(response, have))
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416 and have:  # Nothing is left to fetch: the part is whole.
            return
        raise DataError(_refused(known, error.code)) from error
    except http.client.IncompleteRead as error:
        raise DataError(_interrupted(known, part)) from error
    except urllib.error.URLError as error:
        raise DataError(
            f"{known.url} could not be reached ({error.reason}). Check the network and try again, "
            f"or put the file at {known.path} yourself."
        ) from error
    except ValueError as error:
        raise DataError(
            f"'{known.url}' is not an address ({error}). COUNTMORL_D4RL_MIRROR must be empty or "
            "begin with http:// or https://."
        ) from error
    except (TimeoutError, http.client.HTTPException, ConnectionError) as error:
        raise DataError(_interrupted(known, part)) from error


def _resumed_at(response: http.client.HTTPResponse, have: int) -> int:
    """From which byte the answer goes on; a server that starts anew is taken at its word."""
    partial = response.status == 206
    given = response.headers.get("Content-Range", f"bytes {have}-")
    return have if partial and given.startswith(f"bytes {have}-") else 0


def _save(response: http.client.HTTPResponse, part: Path, known: D4RLName, have: int) -> None:
    left = response.headers.get("Content-Length")
    total = have + int(left) if left and left.isdigit() else None
    with open(part, "ab" if have else "wb") as file, byte_progress(known.name, have, total) as tell:
        got = have + _copy(response, file, tell)
    if total is not None and got < total:
        raise DataError(_interrupted(known, part))


def _copy(response: http.client.HTTPResponse, file: IO[bytes], tell) -> int:
    got = 0
    while chunk := response.read(CHUNK):
        file.write(chunk)
        got += len(chunk)
        tell(len(chunk))
    return got


def verify(path: Path, known: D4RLName) -> None:
    """Check that a file opens, has D4RL's keys, and as many rows as the dataset should have."""
    try:
        with h5py.File(path, "r") as file:
            missing = [key for key in KEYS if key not in file]
            rows = 0 if missing else len(file["observations"])  # type: ignore[arg-type]
    except (OSError, RuntimeError, TypeError) as error:
        raise DataError(
            f"What {known.url} sent is not an HDF5 file ({error}); it was deleted. Try again "
            "later, or set COUNTMORL_D4RL_MIRROR to another server."
        ) from error
    if missing:
        raise DataError(f"The file of {known.name} lacks {', '.join(missing)}; it was deleted.")
    if not known.fits(rows):
        raise DataError(
            f"The file of {known.name} has {rows:,} rows, wanted about {known.rows:,}; it was "
            "deleted. The server may hold another version."
        )


def _refused(known: D4RLName, code: int) -> str:
    reason = {403: "access is forbidden", 404: "there is no such file"}.get(code, "it refused")
    return (
        f"The server answered {code} for {known.url}: {reason}. Try later, set "
        f"COUNTMORL_D4RL_MIRROR to another server, or put the file at {known.path} yourself."
    )


def _interrupted(known: D4RLName, part: Path) -> str:
    size = part.stat().st_size if part.exists() else 0
    return (
        f"The download of {known.name} broke off after {size / 1e6:.1f} MB. Run the same command "
        "again; it goes on from there."
    )
