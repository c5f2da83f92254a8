"""Fetching against a local HTTP server that misbehaves on demand."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from urllib.error import HTTPError
from urllib.request import Request

import pytest

from recassay.core.errors import InputError, RecAssayError, UsageError
from recassay.data.catalog.entries import CatalogEntry
from recassay.data.download import transfer
from recassay.data.download.fetch import _in_the_open, fetch, obtain, web_opener
from recassay.data.download.pins import Pin, read_pins
from recassay.data.download.transfer import AddressFailed, Patience

BODY = bytes(i * i % 251 for i in range(700_000))
SHA256 = hashlib.sha256(BODY).hexdigest()
MD5 = hashlib.md5(BODY, usedforsecurity=False).hexdigest()
QUICK = Patience(attempts=3, timeout=5.0, first_pause=0.5, sleep=lambda _: None)
ONCE = replace(QUICK, attempts=1)


@dataclass
class Server:
    """What the server does; a test sets it, and reads the requests that came."""

    base: str = ""
    body: bytes = BODY
    etag: str | None = '"v1"'
    last_modified: str | None = None
    ranges: bool = True
    content_range: Callable[[int, int], str] = lambda start, size: f"bytes {start}-{size - 1}/{size}"
    cuts: list[int] = field(default_factory=list)
    """Close the connection after so many bytes, one number a request."""
    codes: list[int] = field(default_factory=list)
    """Answer with these codes first."""
    locations: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    announce: int | None = None
    chunked: bool = False
    code: int = 200
    """What a whole answer is called."""
    drip: float = 0.0
    """Seconds between two bytes."""
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_state: Server

    def log_message(self, *_: object) -> None:
        pass

    def answer(self, code: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            while self.server_state.drip and body:
                self.wfile.write(body[:1])
                body = body[1:]
                time.sleep(self.server_state.drip)
            self.wfile.write(body)
            self.wfile.flush()
        self.close_connection = True

    def do_GET(self) -> None:
        state = self.server_state
        state.requests.append((self.path, dict(self.headers)))
        if self.path in state.locations:
            self.answer(302, {"Location": state.locations[self.path], "Content-Length": "0"}, b"")
            return
        if self.path == "/missing":
            self.answer(404, {"Content-Length": "0"}, b"")
            return
        if state.codes:
            self.answer(state.codes.pop(0), {"Content-Length": "0", "Retry-After": "7"}, b"")
            return
        body, code = state.body, state.code
        headers = dict(state.headers)
        if state.etag:
            headers["ETag"] = state.etag
        if state.last_modified:
            headers["Last-Modified"] = state.last_modified
        wanted, condition = self.headers.get("Range"), self.headers.get("If-Range")
        if wanted and state.ranges and condition in (None, state.etag, state.last_modified):
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
            if start >= len(body):
                self.answer(416, {"Content-Range": f"bytes */{len(body)}", "Content-Length": "0"}, b"")
                return
            headers["Content-Range"] = state.content_range(start, len(body))
            body, code = body[start:], 206
        sent = body[: state.cuts.pop(0)] if state.cuts else body
        if state.chunked:
            headers["Transfer-Encoding"] = "chunked"
            end = b"0\r\n\r\n" if len(sent) == len(body) else b""
            sent = b"%x\r\n%s\r\n%s" % (len(sent), sent, end)
        else:
            headers["Content-Length"] = str(state.announce or len(body))
        self.answer(code, headers, sent)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "*")
    state = Server()
    handler = type("BoundHandler", (Handler,), {"server_state": state})
    httpd = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    state.base = f"http://127.0.0.1:{httpd.server_address[1]}"
    thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield state
    httpd.shutdown()
    thread.join()
    httpd.server_close()


def entry_for(server: Server, *paths: str, **fields: object) -> CatalogEntry:
    known = {
        "name": "little",
        "title": "A little set",
        "domain": "Books",
        "home": "https://example.org/little",
        "feedback": "implicit",
        "addresses": tuple(server.base + path for path in paths or ("/data.bin",)),
        "file_name": "data.bin",
    }
    return CatalogEntry.model_validate({**known, **fields})


def run(entry: CatalogEntry, folder: Path, **options: object) -> Pin:
    return fetch(entry, folder, **{"patience": QUICK, **options})  # type: ignore[arg-type]


def asked_from(server: Server) -> list[int]:
    """Where each request asked the file to begin."""
    return [int(headers.get("Range", "bytes=0-")[len("bytes=") : -1]) for _, headers in server.requests]


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_plain_download(server: Server, tmp_path: Path) -> None:
    calls: list[tuple[int, int | None]] = []
    record = run(entry_for(server), tmp_path, progress=lambda done, total: calls.append((done, total)))
    assert (tmp_path / record.file).read_bytes() == BODY
    assert (record.sha256, record.md5, record.size) == (SHA256, MD5, len(BODY))
    assert record.address == server.base + "/data.bin"
    assert calls[0] == (0, len(BODY))
    assert calls[-1] == (len(BODY), len(BODY))
    assert calls == sorted(calls)
    assert left(tmp_path) == ["data.bin", "pins.json"]
    assert "Range" not in server.requests[0][1]


def test_second_fetch_asks_nobody(server: Server, tmp_path: Path) -> None:
    run(entry_for(server), tmp_path)
    record = run(entry_for(server), tmp_path)
    assert (record.sha256, record.address) == (SHA256, None)
    assert len(server.requests) == 1


def test_cut_connection_is_resumed_within_one_call(server: Server, tmp_path: Path) -> None:
    server.cuts = [300_000, 200_000]
    record = run(entry_for(server), tmp_path)
    assert (tmp_path / record.file).read_bytes() == BODY
    assert record.sha256 == SHA256
    assert [headers.get("Range") for _, headers in server.requests] == [
        None,
        "bytes=300000-",
        "bytes=500000-",
    ]
    assert server.requests[1][1]["If-Range"] == '"v1"'


def test_interrupted_call_is_resumed_by_the_next(server: Server, tmp_path: Path) -> None:
    def interrupt(done: int, _: int | None) -> None:
        if done > 400_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(entry_for(server), tmp_path, progress=interrupt)
    assert left(tmp_path) == ["data.bin.part", "data.bin.part.json"]
    held = (tmp_path / "data.bin.part").stat().st_size
    record = run(entry_for(server), tmp_path)
    assert asked_from(server)[-1] == held > 400_000
    assert record.sha256 == SHA256
    assert left(tmp_path) == ["data.bin", "pins.json"]


KILLED = """
import os, signal, sys
from recassay.data.catalog.entries import CatalogEntry
from recassay.data.download.fetch import fetch

def kill(done, total):
    if done > 400_000:
        os.kill(os.getpid(), signal.SIGKILL)

fetch(CatalogEntry.model_validate_json(sys.argv[1]), sys.argv[2], progress=kill)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")
def test_killed_process_is_resumed_by_the_next(server: Server, tmp_path: Path) -> None:
    entry = entry_for(server)
    command = [sys.executable, "-c", KILLED, entry.model_dump_json(), str(tmp_path)]
    killed = subprocess.run(command, check=False, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert killed.returncode == -signal.SIGKILL
    assert left(tmp_path) == ["data.bin.part", "data.bin.part.json"]
    record = run(entry, tmp_path)
    assert asked_from(server)[-1] > 0
    assert record.sha256 == SHA256
    assert left(tmp_path) == ["data.bin", "pins.json"]


def test_part_that_is_whole_already(server: Server, tmp_path: Path) -> None:
    (tmp_path / "data.bin.part").write_bytes(BODY)
    notes = {"address": server.base + "/data.bin", "etag": '"v1"', "validator": '"v1"'}
    (tmp_path / "data.bin.part.json").write_text(json.dumps(notes))
    record = run(entry_for(server), tmp_path)
    assert (record.sha256, asked_from(server)) == (SHA256, [len(BODY)])


def test_part_longer_than_the_file(server: Server, tmp_path: Path) -> None:
    (tmp_path / "data.bin.part").write_bytes(BODY + b"more")
    notes = {"address": server.base + "/data.bin", "etag": '"v1"', "validator": '"v1"'}
    (tmp_path / "data.bin.part.json").write_text(json.dumps(notes))
    assert run(entry_for(server), tmp_path).sha256 == SHA256


def test_a_part_is_left_where_the_server_does_not_say_how_long_the_file_is(server: Server, tmp_path: Path) -> None:
    (tmp_path / "data.bin.part").write_bytes(BODY[:1000])
    notes = {"address": server.base + "/data.bin", "etag": '"v1"', "validator": '"v1"'}
    (tmp_path / "data.bin.part.json").write_text(json.dumps(notes))
    server.codes = [416]
    assert run(entry_for(server), tmp_path).sha256 == SHA256
    assert asked_from(server) == [1000, 0]


def test_a_whole_file_that_is_out_of_range_is_refused(server: Server, tmp_path: Path) -> None:
    server.codes = [416]
    with pytest.raises(RecAssayError, match=r"data.bin: the server refuses \(416\); see https://example.org/little"):
        run(entry_for(server), tmp_path)


def test_server_that_ignores_ranges(server: Server, tmp_path: Path) -> None:
    server.ranges, server.cuts = False, [300_000]
    record = run(entry_for(server), tmp_path)
    assert record.sha256 == SHA256


@pytest.mark.parametrize(
    "broken", ["no header", "bytes 5-10/20", "bytes 5-699999/700000", "bytes */700000", "items 1-2/3"]
)
def test_server_that_sends_another_range(server: Server, tmp_path: Path, broken: str) -> None:
    honest = server.content_range
    server.cuts = [300_000]

    def lie(start: int, size: int) -> str:
        server.content_range = honest
        server.ranges = False
        return broken

    server.content_range = lie
    assert run(entry_for(server), tmp_path).sha256 == SHA256


def test_file_that_changes_between_attempts(server: Server, tmp_path: Path) -> None:
    changed = bytes(reversed(BODY))

    def change(done: int, _: int | None) -> None:
        if done > 200_000 and server.body == BODY:
            server.body, server.etag = changed, '"v2"'
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(entry_for(server), tmp_path, progress=change)
    record = run(entry_for(server), tmp_path)
    assert (tmp_path / record.file).read_bytes() == changed


def test_a_part_under_another_etag_is_not_joined_to_the_old_one(server: Server, tmp_path: Path) -> None:
    """A server that ignores If-Range and sends the rest of a changed file of the same size."""
    server.cuts = [300_000]
    with contextlib.suppress(RecAssayError):
        run(entry_for(server), tmp_path, patience=ONCE)
    assert (tmp_path / "data.bin.part").stat().st_size > 0
    changed = bytes(reversed(BODY))
    server.body, server.etag, server.last_modified = changed, '"v2"', '"v1"'
    assert (tmp_path / run(entry_for(server), tmp_path).file).read_bytes() == changed


def test_last_modified_serves_where_the_etag_is_weak(server: Server, tmp_path: Path) -> None:
    server.etag, server.last_modified = 'W/"v1"', "Sat, 01 Jan 2022 00:00:00 GMT"
    server.cuts = [300_000]
    assert run(entry_for(server), tmp_path).sha256 == SHA256
    assert asked_from(server) == [0, 300_000]
    assert server.requests[1][1]["If-Range"] == server.last_modified


def test_no_validator_no_resume_unless_a_checksum_is_known(server: Server, tmp_path: Path) -> None:
    server.etag, server.cuts = None, [300_000]
    run(entry_for(server), tmp_path / "one")
    server.cuts = [300_000]
    run(entry_for(server, sha256=SHA256), tmp_path / "two")
    assert asked_from(server) == [0, 0, 0, 300_000]


def test_chunked_answer_and_its_early_end(server: Server, tmp_path: Path) -> None:
    server.chunked, server.cuts = True, [300_000]
    calls: list[int | None] = []
    record = run(entry_for(server), tmp_path, progress=lambda _, total: calls.append(total))
    assert record.sha256 == SHA256
    assert None in calls
    calls.clear()
    run(entry_for(server, size=len(BODY)), tmp_path / "known", progress=lambda _, total: calls.append(total))
    assert set(calls) == {len(BODY)}, "what the catalog says, where the server does not"


def test_server_errors_are_retried_with_growing_pauses(server: Server, tmp_path: Path) -> None:
    server.codes = [500, 503]
    pauses: list[float] = []
    record = run(entry_for(server), tmp_path, patience=replace(QUICK, sleep=pauses.append))
    assert record.sha256 == SHA256
    assert pauses == [7.0, 7.0]
    assert [QUICK.pause(failures, None) for failures in (1, 2, 3, 20)] == [0.5, 1.0, 2.0, 60.0]


def test_server_that_stays_broken(server: Server, tmp_path: Path) -> None:
    server.codes = [500] * 10
    with pytest.raises(RecAssayError, match=r"little was not fetched: http://127.*500.*\(3 attempts\)") as caught:
        run(entry_for(server), tmp_path)
    assert not isinstance(caught.value, InputError)
    assert "\n" not in str(caught.value)
    assert left(tmp_path) == []


def test_missing_file_then_the_mirror(server: Server, tmp_path: Path) -> None:
    record = run(entry_for(server, "/missing", "/data.bin"), tmp_path)
    assert record.address == server.base + "/data.bin"
    with pytest.raises(RecAssayError, match=r"no such file \(404\).*see https://example.org/little"):
        run(entry_for(server, "/missing"), tmp_path / "other")
    assert left(tmp_path / "other") == []


def test_unknown_host(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr("socket.getaddrinfo", nobody)
    with pytest.raises(RecAssayError, match=r"the host was not found; is there a network"):
        run(entry_for(server), tmp_path)
    assert left(tmp_path) == []


def test_refused_connection(server: Server, tmp_path: Path) -> None:
    entry = entry_for(server).model_copy(update={"addresses": ("http://127.0.0.1:1/data.bin",)})
    with pytest.raises(RecAssayError, match="connection was refused"):
        run(entry, tmp_path)


def test_redirect_is_followed(server: Server, tmp_path: Path) -> None:
    server.locations = {"/old": "/data.bin"}
    assert run(entry_for(server, "/old"), tmp_path).sha256 == SHA256


def test_redirect_loop(server: Server, tmp_path: Path) -> None:
    server.locations = {"/a": "/b", "/b": "/a"}
    with pytest.raises(RecAssayError, match="redirects in a loop"):
        run(entry_for(server, "/a"), tmp_path)
    assert len(server.requests) < 10


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:text/plain,x", "gopher://x/"])
def test_redirect_to_another_scheme(server: Server, tmp_path: Path, target: str) -> None:
    server.locations = {"/a": target}
    with pytest.raises(RecAssayError, match=r"redirects from http to .*not allowed"):
        run(entry_for(server, "/a"), tmp_path)
    assert left(tmp_path) == []


def redirected(origin: str, **headers: str) -> object:
    """What becomes of an answer that points elsewhere; the request that follows it, or the refusal."""
    answer = Message()
    for name, value in headers.items():
        answer[name] = value
    handler = web_opener().handle_error["http"][302][0]
    followed: list[str] = []
    handler.parent = SimpleNamespace(open=lambda request, **_: followed.append(request.full_url))
    request = Request(origin)
    request.timeout = 5.0
    try:
        handler.http_error_302(request, io.BytesIO(), 302, "Found", answer)
    except AddressFailed as problem:
        return problem.what
    return followed


@pytest.mark.parametrize(
    ("origin", "location", "outcome"),
    [
        ("https://a.org/x", "http://b.org/y", "redirects from https to http, which is not allowed"),
        ("https://a.org/x", "HTTP://b.org/y", "redirects from https to http, which is not allowed"),
        ("https://a.org/x", "https://b.org/y", ["https://b.org/y"]),
        ("http://a.org/x", "https://b.org/y", ["https://b.org/y"]),
        ("http://a.org/x", "http://b.org/y", ["http://b.org/y"]),
        ("https://a.org/x/", "../y", ["https://a.org/y"]),
        ("https://a.org/x", "https://:80/y", "redirects to no address"),
    ],
)
def test_a_redirect_never_leaves_encryption(origin: str, location: str, outcome: object) -> None:
    assert redirected(origin, location=location) == outcome
    assert redirected(origin, uri=location) == outcome


def test_opener_has_no_other_schemes() -> None:
    for address in ("file:///etc/passwd", "ftp://127.0.0.1/x", "data:text/plain,x"):
        with pytest.raises(OSError, match="unknown url type"):
            web_opener().open(address)


def test_server_that_promises_more_than_it_sends(server: Server, tmp_path: Path) -> None:
    server.announce, server.ranges = len(BODY) + 10, False
    with pytest.raises(RecAssayError, match=r"closed after 700,000 of 700,010 bytes.*goes on where it stopped"):
        run(entry_for(server), tmp_path)
    assert "data.bin" not in left(tmp_path)


def test_size_that_is_not_the_published_one(server: Server, tmp_path: Path) -> None:
    with pytest.raises(RecAssayError, match="announces 700,000 bytes where the catalog says 5"):
        run(entry_for(server, size=5), tmp_path)
    server.chunked = True
    with pytest.raises(RecAssayError, match="sent 700,000 bytes where the catalog says 5"):
        run(entry_for(server, size=5), tmp_path)


@pytest.mark.parametrize("kind", ["sha256", "md5"])
def test_published_checksum(server: Server, tmp_path: Path, kind: str) -> None:
    right = {"sha256": SHA256, "md5": MD5}[kind]
    assert run(entry_for(server, **{kind: right}), tmp_path / "right").sha256 == SHA256
    wrong = "0" * len(right)
    with pytest.raises(InputError, match=rf"{kind} {right}, and the catalog says {wrong}"):
        run(entry_for(server, **{kind: wrong}), tmp_path / "wrong")
    assert left(tmp_path / "wrong") == []


def test_corrupt_mirror_then_a_good_one(server: Server, tmp_path: Path) -> None:
    server.locations = {"/good": "/data.bin"}
    good, server.body = server.body, b"error page"

    def mend(done: int, _: int | None) -> None:
        if done == len(b"error page"):
            server.body = good

    record = run(entry_for(server, "/data.bin", "/good", sha256=SHA256), tmp_path, progress=mend)
    assert record.address == server.base + "/good"
    assert (tmp_path / record.file).read_bytes() == good


def test_pin_of_the_first_fetch_holds(server: Server, tmp_path: Path) -> None:
    run(entry_for(server), tmp_path)
    pins = read_pins(tmp_path / "pins.json")
    assert (pins["little"].sha256, pins["little"].size) == (SHA256, len(BODY))
    (tmp_path / "data.bin").unlink()
    assert run(entry_for(server), tmp_path).sha256 == SHA256
    (tmp_path / "data.bin").unlink()
    server.body = b"something else"
    with pytest.raises(
        InputError, match=r"at the first fetch it was .*accept it \(accept_change\) or edit .*pins.json"
    ):
        run(entry_for(server), tmp_path)
    assert left(tmp_path) == ["pins.json"]
    run(entry_for(server), tmp_path, accept_change=True)
    assert read_pins(tmp_path / "pins.json")["little"].size == len(b"something else")


def test_broken_pins(server: Server, tmp_path: Path) -> None:
    (tmp_path / "pins.json").write_text("{")
    with pytest.raises(InputError, match=r"pins.json: is not a file of pins"):
        run(entry_for(server), tmp_path)


def test_file_on_disk_that_was_changed(server: Server, tmp_path: Path) -> None:
    run(entry_for(server), tmp_path)
    (tmp_path / "data.bin").write_bytes(b"edited")
    with pytest.raises(InputError, match="remove the file and fetch it again"):
        run(entry_for(server), tmp_path)
    assert (tmp_path / "data.bin").read_bytes() == b"edited"


def test_a_change_on_disk_can_be_accepted(server: Server, tmp_path: Path) -> None:
    run(entry_for(server), tmp_path)
    (tmp_path / "data.bin").write_bytes(b"edited")
    record = run(entry_for(server), tmp_path, accept_change=True)
    assert (record.size, record.address) == (6, None)
    assert read_pins(tmp_path / "pins.json")["little"] == record
    assert run(entry_for(server), tmp_path) == record


@pytest.mark.parametrize("wrong", [{"size": 5}, {"md5": "0" * 32}, {"sha256": "0" * 64}])
def test_a_file_put_there_by_hand_is_compared_with_what_is_published(tmp_path: Path, wrong: dict[str, object]) -> None:
    entry = entry_for(Server(base="https://example.org"), **wrong)
    (tmp_path / "data.bin").write_bytes(b"edited")
    ((kind, published),) = wrong.items()
    with pytest.raises(
        InputError, match=rf"the file has {kind} \w+, and the catalog says {published}; remove the file"
    ):
        run(entry, tmp_path)
    assert left(tmp_path) == ["data.bin"]


def test_pins_of_several_datasets_stand_side_by_side(server: Server, tmp_path: Path) -> None:
    for name in ("b", "a"):
        run(entry_for(server, name=name, file_name=name), tmp_path)
    pins = read_pins(tmp_path / "pins.json")
    assert [(name, pin.file, pin.sha256) for name, pin in pins.items()] == [("a", "a", SHA256), ("b", "b", SHA256)]


def test_a_file_that_stays_wrong_names_the_page_of_the_dataset(server: Server, tmp_path: Path) -> None:
    """Also where it was fetched before: a published checksum is not for the user to change."""
    run(entry_for(server), tmp_path)
    (tmp_path / "data.bin").unlink()
    with pytest.raises(InputError, match=r"; try again; if it stays, see https://example.org/little"):
        run(entry_for(server, md5="0" * 32), tmp_path)


def test_a_length_that_no_file_has_is_refused(server: Server, tmp_path: Path) -> None:
    server.announce, server.ranges = 1 << 63, False
    with pytest.raises(RecAssayError, match="which is not a size of a file"):
        run(entry_for(server), tmp_path)


def test_too_large_a_file_is_refused_by_its_announced_size(server: Server, tmp_path: Path) -> None:
    received: list[int] = []
    with pytest.raises(InputError, match="larger than the limit of 1,000 bytes"):
        run(entry_for(server), tmp_path, max_bytes=1000, progress=lambda done, _: received.append(done))
    assert received == []


def test_too_large_a_file(server: Server, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="larger than the limit of 1,000 bytes; raise max_bytes"):
        run(entry_for(server), tmp_path, max_bytes=1000)
    assert left(tmp_path) == []
    server.chunked = True
    with pytest.raises(InputError, match="larger than the limit"):
        run(entry_for(server), tmp_path, max_bytes=1000)
    assert left(tmp_path) == []


@pytest.mark.parametrize("chunked", [False, True])
def test_a_file_may_be_as_large_as_the_limit(server: Server, tmp_path: Path, chunked: bool) -> None:
    server.chunked = chunked
    assert run(entry_for(server), tmp_path, max_bytes=len(BODY)).sha256 == SHA256


def test_an_attempt_that_brings_something_is_no_failure_in_a_row(server: Server, tmp_path: Path) -> None:
    server.cuts = [100_000] * 5
    assert run(entry_for(server), tmp_path).sha256 == SHA256
    assert asked_from(server) == [0, 100_000, 200_000, 300_000, 400_000, 500_000]


def test_a_part_that_begins_anew_must_outgrow_the_former_to_count(server: Server, tmp_path: Path) -> None:
    server.ranges, server.cuts = False, [300_000, 100_000, 200_000]
    with pytest.raises(RecAssayError, match=r"closed after 200,000 of 700,000 bytes \(3 attempts\)"):
        run(entry_for(server), tmp_path)


def test_a_part_of_unknown_size_is_continued_when_the_size_is_told(server: Server, tmp_path: Path) -> None:
    server.chunked, server.cuts = True, [300_000]
    assert run(entry_for(server), tmp_path).sha256 == SHA256
    assert asked_from(server) == [0, 300_000]


def test_a_part_of_one_mirror_is_not_continued_by_another(server: Server, tmp_path: Path) -> None:
    server.cuts = [300_000]
    assert run(entry_for(server, "/one", "/two"), tmp_path, patience=ONCE).address == server.base + "/two"
    assert asked_from(server) == [0, 0]


def test_full_disk(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = type("Usage", (), {"free": 1000})
    monkeypatch.setattr("recassay.data.download.transfer.shutil.disk_usage", lambda _: usage)
    with pytest.raises(RecAssayError, match="needs 700,000 bytes and the disk has 1,000 free"):
        run(entry_for(server), tmp_path)
    assert left(tmp_path) == []


def test_room_is_needed_for_the_rest_of_a_file_and_a_reserve(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.cuts = [300_000]
    with contextlib.suppress(RecAssayError):
        run(entry_for(server), tmp_path, patience=ONCE)
    needed = len(BODY) - (tmp_path / "data.bin.part").stat().st_size + 64 * 2**20
    usage = type("Usage", (), {"free": needed - 1})
    monkeypatch.setattr("recassay.data.download.transfer.shutil.disk_usage", lambda _: usage)
    with pytest.raises(RecAssayError, match="the disk has"):
        run(entry_for(server), tmp_path)
    usage.free = needed
    assert run(entry_for(server), tmp_path).sha256 == SHA256


def test_entry_without_address(server: Server, tmp_path: Path) -> None:
    entry = entry_for(server, addresses=(), how="log in at Kaggle and download it")
    with pytest.raises(UsageError, match=r"log in at Kaggle.*put the file at .*data.bin and run this again"):
        run(entry, tmp_path)
    (tmp_path / "data.bin").write_bytes(BODY)
    record = run(entry, tmp_path)
    assert (record.sha256, record.address) == (SHA256, None)


def test_two_fetches_of_one_file_at_once(server: Server, tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl", reason="no file locks on this system")
    with (tmp_path / "data.bin.part").open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(RecAssayError, match="another process is fetching"):
            run(entry_for(server), tmp_path)


def test_obtain_unpacks_the_member(server: Server, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("ml/ratings.csv", "1,2\n")
        archive.writestr("ml/README", "read me")
    server.body = buffer.getvalue()
    entry = entry_for(server, file_name="little.zip", member="ratings.csv")
    for _ in range(2):
        path = obtain(entry, tmp_path, patience=QUICK)
        assert path.read_text() == "1,2\n"
        assert path.parent.parent.name == f"little-{hashlib.sha256(server.body).hexdigest()[:12]}"
    server.body = b"1,2\n"
    assert obtain(entry_for(server), tmp_path / "plain", patience=QUICK) == tmp_path / "plain" / "data.bin"
    server.body = gzip.compress(b"1,2\n")
    path = obtain(entry_for(server, file_name="r.csv.gz"), tmp_path / "gz", patience=QUICK)
    assert (path.name, path.read_text()) == ("r.csv", "1,2\n")


def test_obtain_of_a_file_that_must_be_converted(server: Server, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"data.bin: little was fetched, and cannot be read as it is: turn it round"):
        obtain(entry_for(server, convert="turn it round"), tmp_path, patience=QUICK)
    assert (tmp_path / "data.bin").read_bytes() == BODY


def test_obtain_of_an_archive_with_several_files(server: Server, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a/one.csv", "1,2\n")
        archive.writestr("two.csv", "1,2\n")
    server.body = buffer.getvalue()
    with pytest.raises(InputError, match="the archive holds 2 files for little where one was expected; import the"):
        obtain(entry_for(server), tmp_path, patience=QUICK)


def test_obtain_of_a_hostile_archive_leaves_no_folder(server: Server, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("../evil", "evil")
    server.body = buffer.getvalue()
    with pytest.raises(InputError, match="leaves the folder"):
        obtain(entry_for(server), tmp_path, patience=QUICK)
    assert left(tmp_path) == ["data.bin", "pins.json"]
    assert not (tmp_path.parent / "evil").exists()


@pytest.mark.parametrize("location", ["http://[::1", "http://:80/x", "//[", "http://a b/c"])
def test_redirect_to_no_address(server: Server, tmp_path: Path, location: str) -> None:
    server.locations["/data.bin"] = location
    with pytest.raises(RecAssayError, match=r"no address|not found|refused|cannot be opened"):
        run(entry_for(server), tmp_path)
    assert left(tmp_path) == []


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"code": 204, "body": b""}, "answers 204"),
        ({"code": 203}, "answers 203"),
        ({"body": b""}, "empty file"),
        ({"code": 206}, "a part of the file"),
        ({"headers": {"Content-Encoding": "gzip"}}, "encoded"),
    ],
)
def test_an_answer_that_is_no_file_is_never_pinned(
    server: Server, tmp_path: Path, state: dict[str, object], words: str
) -> None:
    for name, value in state.items():
        setattr(server, name, value)
    with pytest.raises(RecAssayError, match=words):
        run(entry_for(server), tmp_path)
    assert left(tmp_path) == []


def test_a_file_that_is_said_to_be_as_it_is_is_taken(server: Server, tmp_path: Path) -> None:
    server.headers = {"Content-Encoding": "Identity"}
    assert run(entry_for(server), tmp_path).sha256 == SHA256


def test_a_file_that_changes_its_size_starts_again(server: Server, tmp_path: Path) -> None:
    server.cuts = [300_000]
    with contextlib.suppress(RecAssayError):
        run(entry_for(server), tmp_path, patience=ONCE)
    assert (tmp_path / "data.bin.part").stat().st_size > 0
    server.body = BODY[::-1] + b"more"  # under the same ETag
    record = run(entry_for(server), tmp_path)
    assert (tmp_path / record.file).read_bytes() == BODY[::-1] + b"more"


def test_a_server_that_drips_is_left(server: Server, tmp_path: Path) -> None:
    server.drip, server.body = 0.05, BODY[:2000]
    with pytest.raises(RecAssayError, match="less than 1,000 bytes a second"):
        run(entry_for(server), tmp_path, patience=replace(ONCE, timeout=0.5))


def test_a_slow_server_is_kept_while_it_sends_enough(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = iter(range(0, 10**6, 3))
    monkeypatch.setattr(transfer, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    assert run(entry_for(server), tmp_path / "kept", patience=replace(ONCE, timeout=5.0)).sha256 == SHA256
    with pytest.raises(RecAssayError, match="the server sends less than 1,000,000 bytes a second"):
        run(entry_for(server), tmp_path / "left", patience=replace(ONCE, timeout=5.0, least_rate=1e6))


def test_a_server_that_becomes_slow_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two large pieces, then single bytes, each after three seconds: every five seconds count for themselves."""
    now, pieces = [0], iter([bytes(10_000)] * 2 + [b"x"] * 100)
    monkeypatch.setattr(transfer, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def read(_: int) -> bytes:
        now[0] += 3
        return next(pieces, b"")

    (tmp_path / "data.bin.part").touch()
    coming = transfer.Transfer(
        "http://x/", tmp_path / "data.bin.part", web_opener(), replace(ONCE, timeout=5.0), 10**6, None, False, None
    )
    with pytest.raises(Exception, match="the server sends less than 1,000 bytes a second"):
        coming._copy(SimpleNamespace(read=read), 0, None)
    assert now == [18]


def test_http_needs_a_checksum(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = entry_for(server).model_copy(update={"addresses": ("http://example.org/data.bin",)})
    with pytest.raises(InputError, match="http address, and no checksum"):
        run(entry, tmp_path)
    mirrors = entry.model_copy(update={"addresses": (*entry.addresses, *entry_for(server).addresses)})
    assert run(mirrors, tmp_path / "mirror").address == server.base + "/data.bin"

    def asked(_: object) -> None:
        raise AddressFailed("was asked")

    monkeypatch.setattr(transfer.Transfer, "run", asked)
    for known in ({"md5": MD5}, {"sha256": SHA256}):
        with pytest.raises(RecAssayError, match=r"http://example.org/data.bin: was asked"):
            run(entry.model_copy(update=known), tmp_path)
    monkeypatch.undo()
    run(entry_for(server), tmp_path)  # pins it
    (tmp_path / "data.bin").unlink()
    monkeypatch.setattr(transfer.Transfer, "run", asked)
    with pytest.raises(RecAssayError, match=r"http://example.org/data.bin: was asked"):
        run(entry, tmp_path)


@pytest.mark.parametrize(
    ("address", "open_to_others"),
    [
        ("http://example.org/x", True),
        ("HTTP://example.org/x", True),
        ("https://example.org/x", False),
        ("http://localhost:8000/x", False),
        ("http://127.0.0.1/x", False),
        ("http://[::1]:80/x", False),
        ("http://localhost.example.org/x", True),
    ],
)
def test_an_address_that_anybody_on_the_way_can_answer(address: str, open_to_others: bool) -> None:
    assert _in_the_open(address) == open_to_others


@pytest.mark.parametrize(
    ("code", "passing", "words"),
    [
        *((code, True, f"the server answers {code} Odd") for code in (408, 425, 429, 500, 502, 503, 504)),
        (401, False, "the server wants a login (401)"),
        (403, False, "the server refuses (403)"),
        (404, False, "the server has no such file (404)"),
        (410, False, "the server has no such file any more (410)"),
        (501, False, "the server refuses (501)"),
        (300, False, "redirects in a loop or too often"),
        (399, False, "redirects in a loop or too often"),
        (400, False, "the server refuses (400)"),
    ],
)
def test_what_codes_of_a_server_mean(code: int, passing: bool, words: str) -> None:
    headers = Message()
    headers["Retry-After"] = "17"
    problem = transfer._http_problem(HTTPError("http://x", code, "Odd", headers, None))
    assert (isinstance(problem, AddressFailed), str(problem)) == (not passing, words)
    assert not passing or problem.retry_after == 17


def test_what_troubles_of_the_network_mean() -> None:
    untrusted = ssl.SSLCertVerificationError("no")
    untrusted.verify_message = "self-signed"
    for reason, passing, words in (
        (socket.gaierror(8, "no name"), False, "the host was not found; is there a network?"),
        (untrusted, False, "the certificate is not trusted (self-signed)"),
        (TimeoutError(), True, "the server does not answer in time"),
        (ConnectionRefusedError(), True, "the connection was refused"),
        (OSError(104, "reset by peer"), True, "the connection broke (reset by peer)"),
        (OSError("odd"), True, "the connection broke (odd)"),
        ("no idea", False, "cannot be opened (no idea)"),
    ):
        problem = transfer._network_problem(reason)
        assert (isinstance(problem, AddressFailed), str(problem)) == (not passing, words)


def test_pauses_grow_and_have_an_end() -> None:
    patience = Patience(first_pause=1.5, longest_pause=20)
    assert [patience.pause(failures, None) for failures in (1, 2, 3, 4, 5)] == [1.5, 3, 6, 12, 20]
    assert [patience.pause(2, wait) for wait in (1, 7, 99)] == [3, 7, 20]
    assert Patience() == Patience(5, 60.0, 1.0, 60.0, 1000.0, time.sleep)
