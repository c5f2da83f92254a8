"""Random generators derived from names, so that a number never depends on the order of the work."""

from __future__ import annotations

import hashlib

import numpy as np


def derived_rng(seed: int, *names: str) -> np.random.Generator:
    """A generator determined by `seed` and `names` alone (SHA-256 of both)."""
    text = "\x1f".join([str(seed), *names])
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big"))
