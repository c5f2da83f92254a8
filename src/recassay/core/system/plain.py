"""Results as plain data for JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def plain(value: Any) -> Any:
    """Dictionaries, lists, strings, booleans and finite numbers; NaN and infinities become None (JSON has neither).

    Args:
        value: anything made of mappings, sequences, arrays, numbers and data classes (by `to_dict` where they have one,
            else by their fields).
    """
    if value is None or type(value) in _AS_THEY_ARE:
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if is_dataclass(value) and not isinstance(value, type):
        method = getattr(value, "to_dict", None)
        return plain(method() if method else {field.name: getattr(value, field.name) for field in fields(value)})
    return plain(value.tolist()) if hasattr(value, "tolist") else value


_AS_THEY_ARE = (str, int, bool)
