"""A page as one file: the head that all pages have, the body of its template, and what it may do."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources

from recassay.core.version import __version__
from recassay.reporting.markup import POLICY, escaped


def template(name: str) -> str:
    """A file of `templates/`."""
    return (resources.files("recassay.reporting") / "templates" / name).read_text(encoding="utf-8")


def document(content: str, *, title: str, styles: Sequence[str], script: str = "", **fields: str) -> str:
    """The page of these files of `templates/`: its content and its style sheets; `fields` are what the content names.

    The policy of the page lets nothing run but its own script, which it names by hash, and fetches nothing.
    """
    fields |= {
        "policy": escaped(_policy(script) if script else POLICY),
        "version": escaped(__version__),
        "title": escaped(title),
        "style": "".join(map(template, styles)),
        "script": script,
    }
    pieces = (template("head.html") + template(content)).split("$$")
    return "".join(fields[piece] if i % 2 else piece for i, piece in enumerate(pieces))


def _policy(script: str) -> str:
    """What a page may do: run this script, known by its hash, and fetch nothing."""
    digest = base64.b64encode(hashlib.sha256(f"\n{script}\n".encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'"
    )
