"""Random generators derived from names, so that a number never depends on the order of the work."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray


def derived_rng(seed: int, *names: str) -> np.random.Generator:
    """A generator determined by `seed` and `names` alone (SHA-256 of both)."""
    text = "\x1f".join([str(seed), *names])
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big"))


def splitmix(key: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64 (Steele, Lea & Flood 2014) on every element, in place (64-bit overflow is meant)."""
    key ^= key >> np.uint64(30)
    key *= np.uint64(0xBF58476D1CE4E5B9)
    key ^= key >> np.uint64(27)
    key *= np.uint64(0x94D049BB133111EB)
    key ^= key >> np.uint64(31)
    return key
