"""Fetch a file, of the catalog or another: mirrors in order, resumed, verified, in place only when it is right."""

from __future__ import annotations

import os
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import IO, Any, Literal
from urllib.parse import urljoin, urlsplit

from recassay.core.errors import InputError, RecAssayError, UsageError
from recassay.core.system.files import locked, sync_file
from recassay.data.catalog.entries import CatalogEntry
from recassay.data.download.pins import Pin, RemoteFile, read_pins, write_pin
from recassay.data.download.transfer import (
    AddressFailed,
    Digest,
    Opener,
    Patience,
    Progress,
    Transfer,
    digest_file,
    discard,
    empty,
)
from recassay.data.download.unpack import archive_kind, unpack

MAX_DOWNLOAD = 32 * 2**30
PINS_FILE = "pins.json"


@dataclass(frozen=True, slots=True)
class FetchRecord:
    """What a fetch did: the file, where it came from, and what vouches for it.

    `vouched_by`: `published` (the catalog's checksum), `pinned` (the first fetch's) or `first` (pinned now).
    `address` is None and `downloaded` False for a file that lay there already.
    """

    name: str
    path: Path
    address: str | None
    size: int
    sha256: str
    md5: str
    resumed_from: int
    downloaded: bool
    vouched_by: Literal["published", "pinned", "first"]


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows five redirects at most, to http or https alone, and never from https to http."""

    max_redirections = 5
    max_repeats = 2

    def http_error_302(self, req: Any, fp: IO[bytes], code: int, msg: str, headers: Message) -> Any:
        try:
            target = urljoin(req.full_url, headers.get("location") or headers.get("uri") or "")
            scheme, origin = urlsplit(target).scheme.lower(), urlsplit(req.full_url).scheme.lower()
            if scheme in ("http", "https") and not urlsplit(target).hostname:
                raise ValueError("nowhere")
        except ValueError:
            fp.close()
            raise AddressFailed("redirects to no address") from None
        if scheme not in ("http", "https") or (origin == "https" and scheme == "http"):
            fp.close()
            raise AddressFailed(f"redirects from {origin} to {scheme}, which is not allowed")
        return super().http_error_302(req, fp, code, msg, headers)  # type: ignore[arg-type]

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


def web_opener() -> urllib.request.OpenerDirector:
    """An opener for http and https and nothing else: it reaches no file:, ftp: or data: address."""
    director = urllib.request.OpenerDirector()
    handlers: list[urllib.request.BaseHandler] = [
        urllib.request.ProxyHandler(),
        urllib.request.UnknownHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        _Redirects(),
        urllib.request.HTTPErrorProcessor(),
    ]
    for handler in handlers:
        director.add_handler(handler)
    return director


def fetch(
    entry: RemoteFile | CatalogEntry,
    target_dir: Path | str,
    *,
    progress: Progress | None = None,
    opener: Opener | None = None,
    pins: Path | None = None,
    max_bytes: int = MAX_DOWNLOAD,
    patience: Patience = Patience(),  # noqa: B008
    sleep: Callable[[float], None] = time.sleep,
    accept_change: bool = False,
) -> FetchRecord:
    """Download the entry's file into `target_dir` and verify it; a file that is there and right stays.

    The file must equal the catalog's published size and checksums; it is also pinned in `pins` (default:
    `pins.json` in `target_dir`) at the first fetch, and a later difference is refused unless `accept_change`.
    Interrupted at any moment, a fetch leaves `NAME.part` (and its notes, `NAME.part.json`), and the next call
    goes on from there. Mirrors are tried in order. An entry without an address raises `UsageError` that says
    how to obtain the file, unless it has been put into `target_dir` by hand.

    Failures of the network raise `RecAssayError`; a file that is not what it should be raises `InputError`.
    """
    folder = Path(target_dir)
    folder.mkdir(parents=True, exist_ok=True)
    pins_path = pins if pins is not None else folder / PINS_FILE
    path, part = folder / entry.stored_name, folder / f"{entry.stored_name}.part"
    pin = None if accept_change else read_pins(pins_path).get(entry.name)
    if not path.exists() and not entry.addresses:
        raise UsageError(
            f"{entry.name} cannot be downloaded directly: {entry.how}",
            fix=f"put the file at {path} and run this again",
        )
    checksum = entry.sha256 or entry.md5

    def settled(digest: Digest, address: str | None = None, resumed_from: int = 0) -> FetchRecord:
        if pin is None:
            new_pin = Pin(file=path.name, size=digest.size, sha256=digest.sha256, md5=digest.md5, address=address)
            write_pin(pins_path, entry.name, new_pin)
        vouched: Literal["published", "pinned", "first"] = "published" if checksum else "pinned" if pin else "first"
        hashes = (digest.size, digest.sha256, digest.md5)
        return FetchRecord(entry.name, path, address, *hashes, resumed_from, address is not None, vouched)

    with _alone(part):
        if path.exists():
            digest = digest_file(path)
            mismatch = _mismatch(entry, pin, digest)
            if mismatch:
                raise InputError(mismatch, where=str(path), fix="remove the file and fetch it again")
            return settled(digest)
        problems: list[tuple[str, RecAssayError]] = []
        for address in entry.addresses:
            if _in_the_open(address) and not (checksum or pin):
                problems.append((address, InputError("is an http address, and no checksum tells what it should send")))
                continue
            transfer = Transfer(
                address,
                part,
                opener if opener is not None else web_opener(),
                patience,
                sleep,
                max_bytes,
                expected_size=entry.size,
                checked=bool(checksum or pin),
                progress=progress,
            )
            try:
                digest = transfer.run()
            except AddressFailed as problem:
                problems.append((address, problem))
                continue
            mismatch = _mismatch(entry, pin, digest)
            if mismatch:
                empty(part)
                problems.append((address, InputError(mismatch)))
                continue
            sync_file(part)
            part.replace(path)
            discard(part)
            return settled(digest, address, transfer.resumed_from)
        what = f"{entry.name} was not fetched: "
        what += "; ".join(f"{address}: {problem.what}" for address, problem in problems)
        if any(isinstance(problem, InputError) for _, problem in problems):
            fix = f"try again; if it stays, see {entry.home}"
            if pin is not None and not checksum:
                fix = f"if the publisher's change is fine, accept it (accept_change) or edit {pins_path}"
            raise InputError(what, fix=fix)
        resumes = part.exists() and part.stat().st_size > 0
        fix = f"see {entry.home}, or put the file at {path} yourself"
        raise RecAssayError(what, fix="run this again: it goes on where it stopped" if resumes else fix)


def obtain(
    entry: CatalogEntry, target_dir: Path | str, *, max_unpacked: int | None = None, **options: Any
) -> tuple[FetchRecord, Path]:
    """`fetch`, then unpack the member that holds the interactions: the record, and the file to read.

    The unpacked folder carries the start of the file's SHA-256 in its name, so another version of the file
    never meets an old folder. An entry that must be converted by hand is fetched and then refused with what
    to do. `options` are those of `fetch`.
    """
    record = fetch(entry, target_dir, **options)
    if entry.convert:
        raise UsageError(
            f"{entry.name} was fetched, and cannot be read as it is: {entry.convert}",
            where=str(record.path),
            fix="then import that file",
        )
    if archive_kind(record.path) is None:
        return record, record.path
    folder = Path(target_dir) / f"{entry.name}-{record.sha256[:12]}"
    if not folder.exists():
        limits = {} if max_unpacked is None else {"max_bytes": max_unpacked}
        unpack(record.path, folder, members=[entry.member] if entry.member else None, **limits)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if len(files) != 1:
        raise InputError(
            f"the archive holds {len(files)} files for {entry.name} where one was expected",
            where=str(folder),
            fix="import the right one yourself",
        )
    return record, files[0]


def _in_the_open(address: str) -> bool:
    """Whether anybody on the way could send another file: http, unless it is this machine."""
    parts = urlsplit(address)
    return parts.scheme.lower() == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1")


@contextmanager
def _alone(part: Path) -> Iterator[None]:
    """Hold the part for this process; an empty part is not left behind."""

    def refusal(_: str) -> RecAssayError:
        return RecAssayError("another process is fetching this file", where=str(part), fix="wait for it")

    # Windows gives no new name to an open file: there two fetches of one file at once are not noticed.
    with locked(part, refusal) if os.name == "posix" else nullcontext():
        try:
            yield
        finally:
            if part.exists() and part.stat().st_size == 0:
                discard(part)


def _mismatch(entry: RemoteFile | CatalogEntry, pin: Pin | None, digest: Digest) -> str | None:
    """What is wrong with the file, or None; the published values come before the pinned ones."""
    for kind in ("size", "sha256", "md5"):
        got, published = getattr(digest, kind), getattr(entry, kind)
        if published is not None and got != published:
            return f"the file has {kind} {got}, and the catalog says {published}"
    if pin is not None and digest.sha256 != pin.sha256:
        return f"the file has sha256 {digest.sha256}, and at the first fetch it was {pin.sha256}"
    return None
