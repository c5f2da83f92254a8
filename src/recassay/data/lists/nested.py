"""Lists in JSON and in ranx's compressed form: nested by user, by column, or as records."""

from __future__ import annotations

import struct
from typing import Any

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError
from recassay.core.system.json_text import read_json
from recassay.data.packed import MOST_COST, USUAL

LZ4_MAGIC = b"\x04\x22\x4d\x18"
MOST_BYTES, PACKED_BYTE = 1 << 31, 40
"""What compressed lists may unpack to, and what a byte of them costs: it may be a value of its own."""

_DEEP = 8


def json_table(data: bytes, where: str) -> pl.DataFrame:
    """The table of a JSON file: `{user: {item: score}}` (ranx, pytrec_eval), `{user: [item, ...]}`, records (one on
    each line too), or columns (pandas `to_json`)."""
    try:
        content = read_json(data, where)
    except ValueError as error:
        try:
            content = [read_json(line, where) for line in data.splitlines() if line.strip()]
        except ValueError:
            raise InputError(f"is not JSON ({error})", where=where, fix="write it again") from None
    return nested_table(content, where)


def nested_table(content: Any, where: str) -> pl.DataFrame:
    """Plain nested data as a table of lists."""
    if isinstance(content, list) and content and all(isinstance(row, dict) for row in content):
        try:
            return pl.DataFrame(content, infer_schema_length=None, strict=False)
        except (pl.exceptions.PolarsError, TypeError):  # the latter where objects of one column differ
            what = "a column of its records holds lists or objects in some rows and plain values in others"
            raise InputError(what, where=where, fix="give every record a user, an item and a rank or score") from None
    if not isinstance(content, dict) or not content:
        raise InputError(
            "holds no lists", where=where, fix="give {user: {item: score}}, {user: [items]}, or a list of records"
        )
    values = list(content.values())
    scored = all(isinstance(value, dict) for value in values)
    if not scored and not all(isinstance(value, list) for value in values):
        raise InputError("mixes lists and scores", where=where, fix="give {user: {item: score}} or {user: [items]}")
    users = [user for user, listed in content.items() for _ in listed]
    if scored:
        keys = [list(value) for value in values]
        columns = {"user", "item", "user_id", "item_id", "query_id", "doc_id", "q_id"} & set(content)
        if len(columns) > 1 and all(key == keys[0] for key in keys):
            return pl.DataFrame({name: list(value.values()) for name, value in content.items()}, strict=False)
        items = [item for listed in values for item in listed]
        scores = [score for listed in values for score in listed.values()]
        if not all(isinstance(score, int | float) for score in scores):
            raise InputError("a score is not a number", where=where, fix="give {user: {item: score}}")
        return pl.DataFrame({c.USER: users, c.ITEM: items, c.SCORE: pl.Series(scores, dtype=pl.Float64, strict=False)})
    if {"user", "item"} <= set(content) or {"user_id", "item_id"} <= set(content):
        return pl.DataFrame(content, strict=False)
    items = [str(row[0] if isinstance(row, list) and row else row) for listed in values for row in listed]
    ranks = [rank for listed in values for rank in range(1, len(listed) + 1)]
    return pl.DataFrame({c.USER: users, c.ITEM: items, c.RANK: ranks})


def lz4_table(data: bytes, where: str) -> pl.DataFrame:
    """The table of a ranx run or qrels saved as `.lz4`: CBOR in one or two LZ4 frames."""
    most = min(MOST_BYTES, max(MOST_COST // PACKED_BYTE, USUAL * len(data)))
    try:
        for _ in range(_DEEP):
            if not data.startswith(LZ4_MAGIC):
                break
            data = _unframed(data, most)
        content, end = _cbor(data, 0, 0)
        if end != len(data):
            raise ValueError("bytes after its content")
    except (LookupError, struct.error, ValueError) as error:
        raise InputError(f"is not a readable LZ4 file ({error})", where=where, fix="save it as JSON") from None
    return nested_table(content, where)


def _unframed(data: bytes, most: int) -> bytes:
    """The content of an LZ4 frame (the frame format 1.6.1; checksums are passed over)."""
    flags = data[4]
    place = 7 + (8 if flags & 8 else 0) + (4 if flags & 1 else 0)
    out = bytearray()
    while True:
        (size,) = struct.unpack_from("<I", data, place)
        place += 4
        if size == 0:
            return bytes(out)
        stored, size = bool(size >> 31), size & 0x7FFFFFFF
        block = data[place : place + size]
        if len(block) != size:
            raise ValueError("cut short")
        out += block if stored else b""
        if not stored:
            _unpack_block(block, out, most)
        if len(out) > most:
            raise ValueError(f"unpacks to more than {most:,} bytes")
        place += size + (4 if flags & 16 else 0)


def _unpack_block(block: bytes, out: bytearray, most: int) -> None:
    """Append what an LZ4 block unpacks to: runs of literals, each followed by a copy of earlier bytes."""
    place = 0
    while place < len(block):
        token = block[place]
        place += 1
        length, place = _length(block, place, token >> 4)
        out += block[place : place + length]
        place += length
        if place >= len(block):
            return
        offset = block[place] | block[place + 1] << 8
        place += 2
        length, place = _length(block, place, token & 15)
        length += 4
        start = len(out) - offset
        if offset == 0 or start < 0 or len(out) + length > most:
            raise ValueError("a copy reaches outside the content")
        if offset >= length:
            out += out[start : start + length]
        else:
            piece = bytes(out[start:])
            out += (piece * (length // offset + 1))[:length]


def _length(block: bytes, place: int, length: int) -> tuple[int, int]:
    """A length that was begun with four bits: where these are full, bytes follow, until one is not full."""
    more = 255 if length == 15 else 0
    while more == 255:
        more = block[place]
        length, place = length + more, place + 1
    return length, place


def _cbor(data: bytes, place: int, depth: int) -> tuple[Any, int]:
    """One CBOR value (RFC 8949) of the kinds that lists have: whole numbers, floats, text, arrays and maps."""
    if depth > _DEEP:
        raise ValueError("nested too deeply")
    kind, small = data[place] >> 5, data[place] & 31
    place += 1
    if kind == 7:
        widths = {25: (">e", 2), 26: (">f", 4), 27: (">d", 8)}
        if small in widths:
            form, width = widths[small]
            return struct.unpack_from(form, data, place)[0], place + width
        return {20: False, 21: True, 22: None}[small], place
    if small >= 24:
        width = {24: 1, 25: 2, 26: 4, 27: 8}[small]
        small, place = int.from_bytes(data[place : place + width], "big"), place + width
    if kind in (0, 1):
        return small if kind == 0 else -1 - small, place
    if kind in (2, 3):
        raw = data[place : place + small]
        if len(raw) != small:
            raise ValueError("cut short")
        return raw.decode(), place + small
    if kind in (4, 5):  # an array of so many values, or a map of so many keys and values
        values = []
        for _ in range(small if kind == 4 else 2 * small):
            value, place = _cbor(data, place, depth + 1)
            values.append(value)
        return values if kind == 4 else dict(zip(map(str, values[::2]), values[1::2], strict=True)), place
    raise ValueError(f"a value of kind {kind}")
