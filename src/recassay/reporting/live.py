"""A study while it runs, as a page on this machine: a read-only server over functions that say how it stands."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import threading
from collections.abc import Callable, Collection
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import Any

from recassay.core.errors import RecAssayError, from_os
from recassay.core.system.printable import one_line

CLIENT_SECONDS = 20.0
"""How long a client may take to ask, or to take the next bytes of an answer."""

MOST_CLIENTS = 256
"""At a time; each has a thread, which costs about 50 KB."""

Content = tuple[str, bytes]
"""A media type, and the bytes."""

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; frame-src 'self'"
)
HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def live_page() -> Content:
    """The page that asks for `status.json` every two seconds and frames `report.html`."""
    page = resources.files("recassay.reporting") / "templates" / "live.html"
    return "text/html; charset=utf-8", page.read_bytes()


class LiveServer(ThreadingHTTPServer):
    """Serves `/`, `/status.json` and `/report.html`, and nothing else; a request may only read.

    A request must name this machine in its `Host` header (an address, its own name or one of `names`), so that a page
    of another origin cannot read it through a name of its own (DNS rebinding).
    """

    daemon_threads = True
    request_queue_size = MOST_CLIENTS

    def __init__(
        self,
        address: tuple[str, int],
        status: Callable[[], bytes],
        report: Callable[[], bytes | None],
        *,
        names: Collection[str] = (),
    ) -> None:
        self.status, self.report = status, report
        self.names = {name.strip().lower() for name in names}
        self._clients: dict[Any, None] = {}
        self._changing = threading.Lock()
        super().__init__(address, _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread; where there are too many, the one that has been connected longest is hung up on.

        An answer takes milliseconds, so that those are clients that ask or read slowly.
        """
        with self._changing:
            oldest = next(iter(self._clients)) if len(self._clients) >= MOST_CLIENTS else None
            self._clients.pop(oldest, None)
            self._clients[request] = None
        if oldest is not None:
            with contextlib.suppress(OSError):
                oldest.shutdown(socket.SHUT_RDWR)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """As of the base class; its place is free again."""
        with self._changing:
            self._clients.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a connection that broke is the client's affair, and the page shows what else there is."""

    @property
    def url(self) -> str:
        """Where a browser finds the page."""
        host = str(self.server_address[0])
        return f"http://{host}:{self.server_port}/"

    def allows(self, host: str) -> bool:
        """Whether a `Host` header names this server."""
        name = (host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() else host).strip("[]").lower()
        address = str(self.server_address[0])
        if name in {"localhost", "127.0.0.1", "::1", address, *self.names}:
            return True
        if ipaddress.ip_address(address).is_loopback:
            return False
        # Another origin has a name, never an address: only a name can be pointed elsewhere.
        with contextlib.suppress(ValueError):
            return bool(ipaddress.ip_address(name))
        return name in {socket.gethostname().lower(), socket.getfqdn().lower()}

    def content(self, path: str) -> Content | None:
        """What lies at `path`."""
        if path in {"/", "/index.html"}:
            return live_page()
        if path == "/status.json":
            return "application/json", self.status()
        if path == "/report.html":
            page = self.report()
            return None if page is None else ("text/html; charset=utf-8", page)
        return None


class _Handler(BaseHTTPRequestHandler):
    """GET and HEAD; any other method is refused by the base class with 501."""

    server: LiveServer
    server_version = "RecAssay"
    timeout = CLIENT_SECONDS
    sys_version = ""

    def do_GET(self) -> None:
        self._answer(body=True)

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def _answer(self, *, body: bool) -> None:
        if not self.server.allows(self.headers.get("Host", "")):
            self.send_error(HTTPStatus.FORBIDDEN, "this name is not served here")
            return
        path = self.path.partition("?")[0]
        try:
            content = self.server.content(path)
        except (RecAssayError, OSError) as error:
            why = from_os(error) if isinstance(error, OSError) else error
            self.send_error(HTTPStatus.SERVICE_UNAVAILABLE, "the study cannot be read", one_line(str(why)))
            return
        if content is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        kind, data = content
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in HEADERS.items():
            self.send_header(name, value)
        if path != "/report.html":
            self.send_header("Content-Security-Policy", POLICY)
        self.end_headers()
        if body:
            with contextlib.suppress(ConnectionError, TimeoutError):  # the reader went away
                self.wfile.write(data)

    def log_message(self, format: str, *values: Any) -> None:
        """Say nothing: the terminal belongs to the one line with the address."""
