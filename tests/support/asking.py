"""What a browser does with a server of ours, without one."""

from __future__ import annotations

import http.client
from typing import Any


def ask(server: Any, path: str, method: str = "GET", **headers: str) -> tuple[http.client.HTTPResponse, bytes]:
    """The answer of a running server, and its body."""
    connection = http.client.HTTPConnection(*server.server_address[:2], timeout=60)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body
