"""Fetch a file, of the catalog or another: mirrors in order, resumed, verified, in place only when it is right."""

from __future__ import annotations

import os
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from email.message import Message
from pathlib import Path
from typing import IO, Any
from urllib.parse import urljoin, urlsplit

from recassay.core.errors import InputError, RecAssayError, UsageError
from recassay.core.system.files import locked, sync_file
from recassay.data.catalog.entries import CatalogEntry
from recassay.data.download.pins import Pin, RemoteFile, pin_of, read_pins, write_pin
from recassay.data.download.transfer import AddressFailed, Patience, Progress, Transfer, discard, empty
from recassay.data.download.unpack import archive_kind, unpack

MAX_DOWNLOAD = 32 * 2**30
PINS_FILE = "pins.json"


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
    max_bytes: int = MAX_DOWNLOAD,
    patience: Patience = Patience(),  # noqa: B008
    accept_change: bool = False,
) -> Pin:
    """Download the entry's file into `target_dir` and verify it; a file that is there and right stays.

    The file must equal the catalog's published size and checksums; it is also pinned in `pins.json` in `target_dir` at
    the first fetch, and a later difference is refused unless `accept_change`. The answer is the file as it lies there,
    its address None where it lay there already.
    Interrupted at any moment, a fetch leaves `NAME.part` (and its notes, `NAME.part.json`), and the next call
    goes on from there. Mirrors are tried in order. An entry without an address raises `UsageError` that says
    how to obtain the file, unless it has been put into `target_dir` by hand.

    Failures of the network raise `RecAssayError`; a file that is not what it should be raises `InputError`.
    """
    folder = Path(target_dir)
    folder.mkdir(parents=True, exist_ok=True)
    pins_path = folder / PINS_FILE
    path, part = folder / entry.stored_name, folder / f"{entry.stored_name}.part"
    pin = None if accept_change else read_pins(pins_path).get(entry.name)
    if not path.exists() and not entry.addresses:
        what = f"{entry.name} cannot be downloaded directly: {entry.how}"
        raise UsageError(what, fix=f"put the file at {path} and run this again")
    checksum = entry.sha256 or entry.md5

    def settled(fetched: Pin) -> Pin:
        if pin is None:
            write_pin(pins_path, entry.name, fetched)
        return fetched

    with _alone(part):
        if path.exists():
            present = pin_of(path, path.name, None)
            mismatch = _mismatch(entry, pin, present)
            if mismatch:
                raise InputError(mismatch, where=str(path), fix="remove the file and fetch it again")
            return settled(present)
        problems: list[tuple[str, RecAssayError]] = []
        for address in entry.addresses:
            checked = bool(checksum or pin)
            if _in_the_open(address) and not checked:
                problems.append((address, InputError("is an http address, and no checksum tells what it should send")))
                continue
            try:
                Transfer(address, part, web_opener(), patience, max_bytes, entry.size, checked, progress).run()
            except AddressFailed as problem:
                problems.append((address, problem))
                continue
            fetched = pin_of(part, path.name, address)
            mismatch = _mismatch(entry, pin, fetched)
            if mismatch:
                empty(part)
                problems.append((address, InputError(mismatch)))
                continue
            sync_file(part)
            part.replace(path)
            discard(part)
            return settled(fetched)
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
    entry: CatalogEntry,
    target_dir: Path | str,
    *,
    progress: Progress | None = None,
    patience: Patience = Patience(),  # noqa: B008
    accept_change: bool = False,
) -> Path:
    """`fetch`, then unpack the member that holds the interactions: the file to read.

    The unpacked folder carries the start of the file's SHA-256 in its name, so another version of the file
    never meets an old folder. An entry that must be converted by hand is fetched and then refused with what
    to do.
    """
    fetched = fetch(entry, target_dir, progress=progress, patience=patience, accept_change=accept_change)
    path = Path(target_dir) / fetched.file
    if entry.convert:
        what = f"{entry.name} was fetched, and cannot be read as it is: {entry.convert}"
        raise UsageError(what, where=str(path), fix="then import that file")
    if archive_kind(path) is None:
        return path
    folder = Path(target_dir) / f"{entry.name}-{fetched.sha256[:12]}"
    if not folder.exists():
        unpack(path, folder, members=[entry.member] if entry.member else None)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if len(files) != 1:
        what = f"the archive holds {len(files)} files for {entry.name} where one was expected"
        raise InputError(what, where=str(folder), fix="import the right one yourself")
    return files[0]


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


def _mismatch(entry: RemoteFile | CatalogEntry, pin: Pin | None, fetched: Pin) -> str | None:
    """What is wrong with the file, or None; the published values come before the pinned ones."""
    for kind in ("size", "sha256", "md5"):
        got, published = getattr(fetched, kind), getattr(entry, kind)
        if published is not None and got != published:
            return f"the file has {kind} {got}, and the catalog says {published}"
    if pin is not None and fetched.sha256 != pin.sha256:
        return f"the file has sha256 {fetched.sha256}, and at the first fetch it was {pin.sha256}"
    return None
