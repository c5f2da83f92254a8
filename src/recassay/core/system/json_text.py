"""JSON from anywhere, read so that nothing in it is lost or stops a later step."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from recassay.core.errors import InputError

_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def read_json(text: str | bytes, where: str) -> Any:
    """What a JSON text says; `ValueError` where it is not JSON, or is nested too deeply.

    `InputError` for a key that one object has twice, of which the parser would keep the last, and for half of a
    character (`\\ud800`), which no file or terminal can be given.
    """
    text = text if isinstance(text, str) else text.decode("utf-8-sig")
    try:
        content = json.loads(text, object_pairs_hook=lambda pairs: _once(pairs, where))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if _HALF.search(text):
        try:
            json.dumps(content, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            what = f"holds half of a character (U+{ord(error.object[error.start]):04X})"
            raise InputError(what, where=where, fix="write it again as UTF-8") from None
    return content


def _once(pairs: list[tuple[str, Any]], where: str) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise InputError(f"has the key {twice[:80]!r} twice in one object", where=where, fix="keep one of the two")
    return content
