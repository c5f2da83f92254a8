"""Bring the bytes of one address to disk: resumable, and bounded.

Bytes go to `NAME.part`; beside it `NAME.part.json` holds the address and the server's validators (ETag,
Last-Modified). A later attempt asks for the rest with `Range` and `If-Range` (RFC 9110, 13.1.5 and 14.2): a
server whose file has changed, or that knows no ranges, sends the whole file, and the part starts again.
"""

from __future__ import annotations

import http.client
import json
import re
import shutil
import socket
import ssl
import time
import urllib.error
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import OpenerDirector, Request

from recassay.core.errors import InputError, RecAssayError
from recassay.core.system.printable import one_line
from recassay.core.words import count_of

Progress = Callable[[int, int | None], None]
"""Called with the bytes so far and the bytes in all, None where the server does not say."""

_CHUNK = 2**18
_SPARE = 64 * 2**20  # disk space that is left to others
_PASSING_CODES = frozenset({408, 425, 429, 500, 502, 503, 504})
_CONTENT_RANGE = re.compile(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)$")


class AddressFailed(RecAssayError):
    """One address did not deliver; another may."""


class _PassingProblem(Exception):
    """A problem that may be gone in a moment."""

    def __init__(self, what: str, *, retry_after: float | None = None) -> None:
        super().__init__(what)
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to keep trying: attempts in a row that bring nothing, and the pauses, doubled each time."""

    attempts: int = 5
    timeout: float = 60.0
    first_pause: float = 1.0
    longest_pause: float = 60.0
    least_rate: float = 1000.0
    """Bytes per second, over `timeout` seconds; a download slower than this is aborted."""
    sleep: Callable[[float], None] = time.sleep

    def pause(self, failures: int, retry_after: float | None) -> float:
        """Seconds to wait after so many failures in a row; a server's Retry-After counts if it is longer."""
        return min(self.longest_pause, max(self.first_pause * 2.0 ** (failures - 1), retry_after or 0.0))


@dataclass(slots=True)
class Transfer:
    """One address on its way into `part`.

    `checked` says that a checksum will be compared afterwards; only then is a part resumed that the server
    gave no validator for.
    """

    address: str
    part: Path
    opener: OpenerDirector
    patience: Patience
    max_bytes: int
    expected_size: int | None
    checked: bool
    progress: Progress | None

    def run(self) -> None:
        """Try until the file is whole; `AddressFailed` when the address is hopeless or patience ends."""
        longest, failures = self._part_size(), 0
        while True:
            try:
                self._attempt()
                return
            except _PassingProblem as problem:
                failures = 1 if self._part_size() > longest else failures + 1
                longest = max(longest, self._part_size())
                if failures >= self.patience.attempts:
                    raise AddressFailed(f"{problem} ({count_of(failures, 'attempt')})") from problem
                self.patience.sleep(self.patience.pause(failures, problem.retry_after))

    def _attempt(self) -> None:
        state = self._read_state()
        validator = state.get("validator")
        resumes = state.get("address") == self.address and (validator or self.checked)
        offset = self._part_size() if resumes else 0
        headers = {"User-Agent": "recassay", "Accept": "*/*", "Accept-Encoding": "identity"}
        if offset:
            headers["Range"] = f"bytes={offset}-"
            if validator:
                headers["If-Range"] = validator
        try:
            with self.opener.open(Request(self.address, headers=headers), timeout=self.patience.timeout) as response:
                self._receive(response, offset, state)
        except urllib.error.HTTPError as error:
            with error:
                if error.code == 416 and offset:
                    # The part is the whole file already, or it does not fit and goes.
                    match = _CONTENT_RANGE.match(error.headers.get("Content-Range", ""))
                    if match is None or _length(match[3]) != offset:
                        reason = "the part on disk does not fit the server's file; starting again"
                        raise self._start_again(reason) from error
                    return
                raise _http_problem(error) from error
        except urllib.error.URLError as error:
            raise _network_problem(error.reason) from error
        except (http.client.InvalidURL, UnicodeError) as error:
            raise AddressFailed(f"is or leads to no address ({one_line(str(error), 80)})") from error
        except http.client.HTTPException as error:
            raise _PassingProblem(f"the connection broke ({type(error).__name__})") from error
        except (ConnectionError, TimeoutError, ssl.SSLError, socket.gaierror) as error:
            raise _network_problem(error) from error

    def _receive(self, response: Any, offset: int, state: dict[str, Any]) -> None:
        # What is not an answer to what was asked: no content, a part of the file, or the file packed once more.
        if response.status not in (200, 206):
            raise AddressFailed(f"the server answers {response.status} and sends no file")
        if response.status == 206 and not offset:
            raise AddressFailed("the server sent a part of the file, and the whole was asked for")
        packed = (response.headers.get("Content-Encoding") or "identity").strip().lower()
        if packed != "identity":
            raise AddressFailed(f"the server sent the file encoded ({packed[:40]}), which was not asked for")
        if response.status == 206:
            match = _CONTENT_RANGE.match(response.headers.get("Content-Range", ""))
            if match is None or match[1] is None:
                raise self._start_again("the server sent a part of the file without saying which")
            etag = response.headers.get("ETag")
            if etag and state.get("etag") and etag != state["etag"]:
                raise self._start_again("the file changed on the server; starting again")
            total = _length(match[3])
            if total is not None and state.get("total") not in (None, total):
                raise self._start_again("the file changed its size on the server; starting again")
            if int(match[1]) != offset:
                raise self._start_again("the server sent another part of the file than asked for")
        else:
            promised = response.headers.get("Content-Length")
            offset, total = 0, _length(promised)
            if promised is not None and total is None:
                raise AddressFailed(f"promises {one_line(promised)[:30]!r} bytes, which is not a size of a file")
        self._check_room(total, offset)
        if not offset:
            empty(self.part)
            self._write_state(response.headers)
        self._copy(response, offset, total)

    def _copy(self, response: Any, size: int, total: int | None) -> None:
        """Append what the server sends to the part, which has `size` bytes."""
        self._report(size, total)
        read = getattr(response, "read1", response.read)
        began, before = time.monotonic(), size
        with self.part.open("ab") as out:
            while chunk := read(_CHUNK):
                if time.monotonic() - began > self.patience.timeout:
                    if size - before < self.patience.least_rate * self.patience.timeout:
                        raise _PassingProblem(
                            f"the server sends less than {self.patience.least_rate:,.0f} bytes a second"
                        )
                    began, before = time.monotonic(), size
                size += len(chunk)
                if size > self.max_bytes:
                    raise self._too_large()
                out.write(chunk)
                self._report(size, total)
        if not size:
            raise AddressFailed("the server sent an empty file")
        if total is not None and size < total:
            raise _PassingProblem(f"the connection closed after {size:,} of {total:,} bytes")
        if self.expected_size not in (None, size):
            raise AddressFailed(f"sent {size:,} bytes where the catalog says {self.expected_size:,}")

    def _check_room(self, total: int | None, start: int) -> None:
        if total is None:
            return
        if self.expected_size not in (None, total):
            raise AddressFailed(f"announces {total:,} bytes where the catalog says {self.expected_size:,}")
        if total > self.max_bytes:
            raise self._too_large()
        free = shutil.disk_usage(self.part.parent).free
        if total - start + _SPARE > free:
            what = f"needs {total - start:,} bytes and the disk has {free:,} free"
            raise RecAssayError(what, where=str(self.part.parent), fix="free some space or use another folder")

    def _too_large(self) -> InputError:
        what = f"the file is larger than the limit of {self.max_bytes:,} bytes"
        return InputError(what, where=self.address, fix="raise max_bytes")

    def _report(self, size: int, total: int | None) -> None:
        if self.progress is not None:
            self.progress(size, total if total is not None else self.expected_size)

    def _part_size(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _read_state(self) -> dict[str, Any]:
        try:
            state = json.loads(_notes(self.part).read_text("utf-8"))
        except (OSError, ValueError):
            state = None
        return state if isinstance(state, dict) else {}

    def _write_state(self, headers: Any) -> None:
        etag = headers.get("ETag")
        strong = etag if etag and not etag.startswith("W/") else None
        state = {"address": self.address, "etag": etag, "validator": strong or headers.get("Last-Modified")}
        state["total"] = _length(headers.get("Content-Length"))
        _notes(self.part).write_text(json.dumps(state), "utf-8")

    def _start_again(self, reason: str) -> _PassingProblem:
        """The part on disk goes, and the next attempt asks for the whole file."""
        empty(self.part)
        return _PassingProblem(reason)


def _notes(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


def discard(part: Path) -> None:
    """Remove a part and its notes."""
    _notes(part).unlink(missing_ok=True)
    part.unlink(missing_ok=True)


def empty(part: Path) -> None:
    """Start a part afresh; the file itself stays, since a lock may hold it."""
    _notes(part).unlink(missing_ok=True)
    part.write_bytes(b"")


def _length(text: str | None) -> int | None:
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 19:
        return None
    return int(text) if int(text) < 1 << 63 else None  # no file is larger


def _http_problem(error: urllib.error.HTTPError) -> Exception:
    if error.code in _PASSING_CODES:
        wait = _length(error.headers.get("Retry-After"))
        return _PassingProblem(f"the server answers {error.code} {error.reason}", retry_after=wait)
    if 300 <= error.code < 400:
        return AddressFailed("redirects in a loop or too often")
    meaning = {401: "wants a login", 404: "has no such file", 410: "has no such file any more"}
    return AddressFailed(f"the server {meaning.get(error.code, 'refuses')} ({error.code})")


def _network_problem(reason: object) -> Exception:
    if isinstance(reason, socket.gaierror):
        return AddressFailed("the host was not found; is there a network?")
    if isinstance(reason, ssl.SSLCertVerificationError):
        return AddressFailed(f"the certificate is not trusted ({reason.verify_message})")
    if isinstance(reason, TimeoutError):
        return _PassingProblem("the server does not answer in time")
    if isinstance(reason, ConnectionRefusedError):
        return _PassingProblem("the connection was refused")
    if isinstance(reason, OSError):
        return _PassingProblem(f"the connection broke ({reason.strerror or reason})")
    return AddressFailed(f"cannot be opened ({reason})")
