"""The best of many candidates, met one after the other.

A candidate is one whole number that sorts as it should: the score in the upper 32 bits, in the lower ones the place in
a random order of the catalogue, which decides between equal scores (see `core.ranking`). Candidates are gathered in
an array with room for more than are wanted; whenever it is full, all but the best are dropped. The functions are called
by kernels; scores come as the bits of float32 numbers.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from recassay.core.system.compiled import compiled_exactly
from recassay.core.types import Float32Array, IdArray

Keys: TypeAlias = NDArray[np.uint64]


@compiled_exactly
def new_shortlist(width: int) -> Keys:
    """Room for the candidates of a list of `width`."""
    return np.empty(2 * width + 64, dtype=np.uint64)


@compiled_exactly
def rising(bits: np.uint32) -> np.uint32:
    """The bits of a float32 as a whole number that rises with it."""
    return np.uint32(~bits) if bits >> np.uint32(31) else np.uint32(bits | np.uint32(0x80000000))


@compiled_exactly
def key_of(rank: np.uint32, place: np.int32) -> np.uint64:
    """A candidate of a score (see `rising`) at a place of the random order; higher is better."""
    return (np.uint64(rank) << np.uint64(32)) | np.uint64(np.uint32(~np.uint32(place)))


@compiled_exactly
def keep_best(keys: Keys, size: int, width: int) -> int:
    """Bring the `width` largest of the first `size` keys to the front, the least of them last; how many there are.

    Hoare's quickselect.
    """
    if size < width:
        return size
    low, high, wanted = 0, size - 1, width - 1
    while low < high:
        middle = (low + high) >> 1
        a, b, c = keys[low], keys[middle], keys[high]
        pivot = max(min(a, b), min(max(a, b), c))
        left, right = low, high
        while left <= right:
            while keys[left] > pivot:
                left += 1
            while keys[right] < pivot:
                right -= 1
            if left <= right:
                kept = keys[left]
                keys[left] = keys[right]
                keys[right] = kept
                left += 1
                right -= 1
        if wanted <= right:
            high = right
        elif wanted >= left:
            low = left
        else:
            break
    return width


@compiled_exactly
def hand_over(keys: Keys, size: int, best: Keys) -> None:
    """Write the best of the first `size` keys into `best`, in any order, and 0 where there are none."""
    kept = keep_best(keys, size, len(best))
    for spot in range(len(best)):
        best[spot] = keys[spot] if spot < kept else np.uint64(0)


def read_lists(best: Keys, order: IdArray) -> tuple[IdArray, Float32Array]:
    """Ids and scores of keys, rows x width, best first; -1 and -inf where the key is 0. Sorts `best` in place.

    `order` holds the id at every place.
    """
    best.sort(axis=1)
    falling = best[:, ::-1]
    place, rank = ~falling.astype(np.uint32), (falling >> np.uint64(32)).astype(np.uint32)
    ids = order[np.minimum(place, np.uint32(len(order) - 1))]
    bits = np.where(rank >> np.uint32(31), rank ^ np.uint32(1 << 31), ~rank)
    none = falling == 0
    return np.where(none, np.int32(-1), ids), np.where(none, np.float32(-np.inf), bits.view(np.float32))
