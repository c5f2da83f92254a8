"""Bytes from outside as they go wrong: known files with pieces put in, cut out, swapped, or one word changed."""

from __future__ import annotations

import random
import re

PIECES = [
    ",", "\t", ";", "|", "::", "\n", "\r", "\r\n", '"', "'", "{", "}", "[", "]", "=", ":", "@", "%", "&", "\\\\", "$",
    "nan", "inf", "-1", "1e400", "0x10", "1_000", "1,5", "\x00", "\x0c", "\x1b", "\u2028", "\ufeff", "\uffff", "é",
    "💥", "user", "item", "rating", "algorithm", "dataset", "metric", "value", "ndcg@10", "@attribute", "@data",
    "{1 2}", "true", "null", "---", "| - |", "\\begin{tabular}{ll}", "9" * 400, "a" * 300,
]  # fmt: skip
WORDS = [
    "", "0", "-1", "1.5", "1e308", "1e400", "NaN", "Infinity", "nan", "inf", "null", "true", "[]", "{}", '""', "[1]",
    '{"a": 1}', "99999999999999999999", "9" * 400, "name", "../x", "a\\nb", "\\u0000", "é", "1970-01-01",
    "18446744073709551616",
]  # fmt: skip
"""What stands in place of a word, a number or a whole list."""
LONGEST = 200_000
_TOKEN = re.compile(rb'"[^"\n]*"|\[[^\[\]]*\]|\{[^{}]*\}|[\w.+-]+')


def mutated(chance: random.Random, seed: bytes) -> bytes:
    """`seed` changed in one to six places; now and then bytes of no kind at all."""
    if chance.randrange(20) == 0:
        return bytes(chance.randrange(256) for _ in range(chance.randrange(300)))
    content = bytearray(seed)
    for _ in range(chance.randrange(1, 7)):
        at, to = (chance.randrange(len(content) + 1) for _ in range(2))
        kind = chance.randrange(8)
        if kind == 0:
            content[at:at] = chance.choice(PIECES).encode()
        elif kind == 1:
            del content[min(at, to) : max(at, to)]
        elif kind == 2:
            content[at:at] = content[min(at, to) : max(at, to)]
        elif kind == 3 and content:
            content[at % len(content)] = chance.randrange(256)
        elif kind == 4:
            content[at:at] = chr(chance.randrange(0x110000)).encode("utf-8", "surrogatepass")
        elif kind == 5:
            del content[at : at + chance.randrange(1, 20)]
        else:
            _other_word(chance, content, at)
    return bytes(content[:LONGEST])


def _other_word(chance: random.Random, content: bytearray, at: int) -> None:
    """The first word, number, list or table after `at` becomes another one."""
    found = _TOKEN.search(content, at) or _TOKEN.search(content)
    if found is not None:
        content[found.start() : found.end()] = chance.choice(WORDS).encode()
