"""What was answered when it was last looked at, kept beside the tests: a change is told, and is a fault or meant.

`RECASSAY_FREEZE=1 python3 dev.py test tests/frozen tests/api/test_options.py -n 0` records the answers of today, and
with `tests/reporting/test_section_charts.py` what charts show.
"""

from __future__ import annotations

import json
import math
import os
import re
from hashlib import sha256
from itertools import chain
from pathlib import Path
from types import NoneType
from typing import Any

RECORDS = Path(__file__).parents[1] / "frozen"
NEAR = 1e-3
"""How near numbers are to come: processors round differently (docs/reproducibility.md says by how much)."""
NUMBER = r"\d+(?:\.\d+)?(?: %)?"
SHORT = 8
"""Longer lists are kept as their length and sums, longer tables as a hash."""


def digest(data: Any) -> Any:
    """Plain data, made short: numbers to seven digits, long lists of numbers as sums, lists of records by column."""
    if isinstance(data, dict):
        return {str(name): digest(value) for name, value in data.items()}
    if isinstance(data, float):
        return float(f"{data:.7g}") if math.isfinite(data) else str(data)
    if not isinstance(data, (list, tuple)):
        return data if data is None or isinstance(data, (bool, int, str)) else str(data)
    if len(data) > 1 and all(isinstance(row, dict) and row.keys() == data[0].keys() for row in data):
        return {name: digest([row[name] for row in data]) for name in data[0]}
    if len(data) > 1 and all(isinstance(row, (list, tuple)) for row in data):
        lengths = {len(row) for row in data}
        flat = list(chain.from_iterable(data))
        if len(lengths) == 1 and len(flat) > SHORT:
            return {"rows": len(data), "cells": digest(flat)}
    if len(data) <= SHORT:
        return [digest(value) for value in data]
    numbers = [value for value in data if isinstance(value, (int, float)) and math.isfinite(value)]
    others = [str(value) for value in data if not (isinstance(value, (int, float)) and math.isfinite(value))]
    short: dict[str, Any] = {"length": len(data)}
    if numbers:
        # The second sum depends on the order.
        sums = sum(numbers), sum(value * math.cos(i) for i, value in enumerate(numbers, 1)), sum(map(abs, numbers))
        short["sums"] = [float(f"{value:.7g}") for value in sums]
    if others:
        short["others"] = hashed("\n".join(others))
    return short


def leaves(data: Any) -> list[Any]:
    """Every number and word of plain data in order, for a digest that is short whatever its form."""
    if isinstance(data, dict):
        return [leaf for name, value in data.items() for leaf in (str(name), *leaves(value))]
    if isinstance(data, (list, tuple)):
        return [leaf for value in data for leaf in leaves(value)]
    return [data if data is None or isinstance(data, (bool, int, float, str)) else str(data)]


def hashed(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:12]


def changes(old: Any, new: Any, near: float, place: str = "") -> list[str]:
    """Where two digests differ by more than another processor may change: words, and numbers by more than `near`."""
    if isinstance(old, dict) and isinstance(new, dict):
        if set(old) == set(new) and "sums" in old:
            size = max(abs(old["sums"][2]), abs(new["sums"][2]), 1e-12)
            far = any(abs(a - b) > near * size for a, b in zip(old["sums"], new["sums"], strict=True))
            other = old["length"] != new["length"] or (near <= NEAR and old.get("others") != new.get("others"))
            return [f"{place}: {old} was answered, now {new}"] if far or other else []
        lines = [f"{place}/{name} is new" for name in new if name not in old]
        lines += [f"{place}/{name} is gone" for name in old if name not in new]
        return lines + [line for name in old if name in new
                        for line in changes(old[name], new[name], near, f"{place}/{name}")]  # fmt: skip
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = zip(old, new, strict=True)
        return [line for i, pair in enumerate(pairs) for line in changes(*pair, near, f"{place}/{i}")]
    if isinstance(old, (bool, NoneType)) or isinstance(new, (bool, NoneType)):
        same = old is new
    elif isinstance(old, str) and isinstance(new, str):
        same = re.sub(NUMBER, "0", old) == re.sub(NUMBER, "0", new) and all(
            abs(value(a) - value(b)) <= (near * value(a) + 1.01 * unit(a) if unit(a) else 0)
            for a, b in zip(re.findall(NUMBER, old), re.findall(NUMBER, new), strict=True)
        )
    else:
        numbers = isinstance(old, (int, float)) and isinstance(new, (int, float))
        same = old == new or (numbers and math.isclose(old, new, rel_tol=near, abs_tol=min(0.002, near)))
    return [] if same else [f"{place}: {str(old)[:300]} was answered, now {str(new)[:300]}"]


def value(number: str) -> float:
    return float(number.removesuffix(" %"))


def unit(number: str) -> float:
    """One step in the last printed digit; counts are exact."""
    decimals = len(number.removesuffix(" %").partition(".")[2])
    return 10.0**-decimals if decimals or number.endswith("%") else 0.0


def changed(file: str, name: str, data: Any, *, near: float = NEAR) -> list[str]:
    """Where an answer differs from the recorded one; nothing while answers are recorded.

    Iterations that end early need a wider `near`.
    """
    path = RECORDS / f"{file}.json"
    known = recorded(file)
    answered = json.loads(json.dumps(digest(data)))
    if os.environ.get("RECASSAY_FREEZE"):
        known[name] = answered
        lines = (f"{json.dumps(name)}: {json.dumps(known[name], ensure_ascii=False)}" for name in sorted(known))
        path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        return []
    if name not in known:
        return [f"{name} is not recorded in {path.name}"]
    return changes(known[name], answered, near)[:20]


def recorded(file: str) -> dict[str, Any]:
    """What is recorded in a file, by name."""
    path = RECORDS / f"{file}.json"
    return json.loads(path.read_text()) if path.exists() else {}
