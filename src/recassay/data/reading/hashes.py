"""Which of very many 64-bit hashes are new, in machine code. Import it where it is used: it brings the compiler."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recassay.core.arrays import IntArray
from recassay.core.system.compiled import compiled_exactly

Hashes = NDArray[np.uint64]


class Seen:
    """The hashes that were met, in a table of slots by their leading bits, at most half of which are taken.

    A slot that holds 0 is free. The hash 0 is taken for 1: texts with that one are found by comparing texts.
    """

    def __init__(self) -> None:
        self._slots: Hashes = np.zeros(1 << 16, dtype=np.uint64)
        self._count = 0

    def first(self, hashes: Hashes) -> IntArray:
        """The positions at which a hash is met for the first time ever, in order."""
        positions, at = [np.empty(0, dtype=np.int64)], 0
        while at < len(hashes):
            room = len(self._slots) // 2 - self._count
            if room == 0:
                self._grow()
                continue
            new = np.empty(min(room, len(hashes) - at), dtype=np.int64)
            at, count = _add(hashes, at, self._slots, _shift(self._slots), new)
            self._count += count
            positions.append(new[:count])
        return np.concatenate(positions)

    def _grow(self) -> None:
        known, self._slots = self._slots[self._slots != 0], np.zeros(2 * len(self._slots), dtype=np.uint64)
        _add(known, 0, self._slots, _shift(self._slots), np.empty(len(known), dtype=np.int64))


def _shift(slots: Hashes) -> np.uint64:
    return np.uint64(65 - len(slots).bit_length())


@compiled_exactly
def _add(hashes: Hashes, start: int, slots: Hashes, shift: np.uint64, new: IntArray) -> tuple[int, int]:
    """Add hashes from `start` on until `new`, the positions of new ones, is full; where it ended, and how many are."""
    last, count = np.uint64(len(slots) - 1), 0
    for i in range(start, len(hashes)):
        wanted = hashes[i] if hashes[i] != 0 else np.uint64(1)
        slot = wanted >> shift
        while slots[slot] != 0 and slots[slot] != wanted:
            slot = (slot + np.uint64(1)) & last
        if slots[slot] == 0:
            slots[slot] = wanted
            new[count] = i
            count += 1
            if count == len(new):
                return i + 1, count
    return len(hashes), count
