"""The server of a running study, without a study: what it answers, to whom, and how many at a time."""

from __future__ import annotations

import socket
import threading
from http.server import ThreadingHTTPServer

import pytest

from recassay.core.errors import InputError
from recassay.reporting import live
from recassay.reporting.live import LiveServer
from support.asking import ask


@pytest.fixture
def served():
    """A server with a status and a report that a test may change."""
    with LiveServer(("127.0.0.1", 0), lambda: running.state(), lambda: running.page) as running:
        running.state, running.page = lambda: b'{"a": 1}', b"<p>report</p>"
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield running
        running.shutdown()


def test_each_address_has_its_type_and_the_headers_that_keep_it_here(served):
    for path, kind, said in (
        ("/", "text/html; charset=utf-8", live.live_page()[1]),
        ("/index.html?x=1", "text/html; charset=utf-8", live.live_page()[1]),
        ("/status.json?x=1", "application/json", b'{"a": 1}'),
        ("/report.html?cells=4", "text/html; charset=utf-8", b"<p>report</p>"),
    ):
        answer, body = ask(served, path)
        assert (answer.status, answer.headers["Content-Type"], body) == (200, kind, said)
        assert {name: answer.headers[name] for name in live.HEADERS} == live.HEADERS
        own = path.startswith("/report.html")
        assert answer.headers["Content-Security-Policy"] == (None if own else live.POLICY), "a report has its own"
        assert answer.headers["Server"].strip() == "RecAssay", "the version of Python is not told"
    answer, body = ask(served, "/status.json", "HEAD")
    assert (answer.headers["Content-Length"], body) == ("8", b"")
    assert served.url == f"http://127.0.0.1:{served.server_address[1]}/"


def test_a_head_has_no_body_and_other_names_are_refused(served):
    def raw(request):
        with socket.create_connection(served.server_address[:2], timeout=60) as asking:
            asking.sendall(request)
            return b"".join(iter(lambda: asking.recv(4096), b""))

    head = raw(b"HEAD /status.json HTTP/1.0\r\nHost: localhost\r\n\r\n")
    assert head.endswith(b"\r\n\r\n")
    assert raw(b"GET /status.json HTTP/1.0\r\nHost: localhost\r\n\r\n").endswith(b'\r\n\r\n{"a": 1}')
    assert ask(served, "/status.json", Host="evil.example")[0].status == 403


def test_what_keeps_pages_here_and_slow_readers_away():
    assert live.HEADERS == {
        "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "SAMEORIGIN",
        "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin",
    }  # fmt: skip
    assert dict(rule.split(" ", 1) for rule in live.POLICY.split("; ")) == {
        "default-src": "'none'", "style-src": "'unsafe-inline'", "script-src": "'unsafe-inline'",
        "connect-src": "'self'", "frame-src": "'self'",
    }  # fmt: skip
    assert live._Handler.timeout == 20
    assert (LiveServer.daemon_threads, LiveServer.request_queue_size) == (True, 256)


def test_a_report_that_is_not_made_yet_is_not_found(served):
    served.page = None
    assert ask(served, "/report.html")[0].status == 404


@pytest.mark.parametrize(
    ("error", "told"),
    [(InputError("is\ndamaged", where="study"), b"study: is damaged"), (PermissionError(13, "no", "a"), b"permission")],
)
def test_a_study_that_cannot_be_read_is_said_in_one_line(served, error, told):
    def fails():
        raise error

    served.state = fails
    answer, body = ask(served, "/status.json")
    assert (answer.status, answer.reason) == (503, "the study cannot be read")
    assert told in body


def test_on_this_machine_only_its_own_names_are_served():
    with LiveServer(("127.0.0.1", 0), bytes, bytes, names=[" Mine.example "]) as running:
        known = ("localhost", "LOCALHOST:80", "127.0.0.1", "127.0.0.1:80", "[::1]:80", "[::1]", "mine.example:1")
        assert [host for host in known if not running.allows(host)] == []
        others = ("192.0.2.7", "192.0.2.7:80", socket.gethostname(), "localhost.evil.example", "evil.example", "")
        assert [host for host in others if running.allows(host)] == []


def test_of_too_many_clients_the_oldest_is_hung_up_on(monkeypatch):
    class Client:
        def __init__(self, error=None):
            self.ended, self.error = [], error

        def shutdown(self, how):
            self.ended.append(how)
            if self.error:
                raise self.error

    handed = []
    monkeypatch.setattr(live, "MOST_CLIENTS", 2)
    monkeypatch.setattr(ThreadingHTTPServer, "process_request", lambda self, request, address: handed.append(request))
    monkeypatch.setattr(ThreadingHTTPServer, "shutdown_request", lambda self, request: None)
    clients = [Client(OSError("gone")), Client(), Client(), Client(), Client()]
    with LiveServer(("127.0.0.1", 0), bytes, bytes) as running:
        for client in clients[:3]:
            running.process_request(client, None)
        assert [client.ended for client in clients[:3]] == [[socket.SHUT_RDWR], [], []]
        running.shutdown_request(clients[2])
        running.process_request(clients[3], None)
        assert clients[1].ended == [], "a place was free again"
        running.process_request(clients[4], None)
        assert clients[1].ended == [socket.SHUT_RDWR]
    assert handed == clients
