"""Every item regressed on all others: the non-negative elastic net, from co-occurrence counts.

For item i, with g the i-th column of the Gram matrix G = X'X of a binary X and w_i = 0, the minimiser of

    1/2 w'Gw - g'w + l1 sum(w) + l2/2 |w|^2,  w >= 0

by cyclic coordinate descent, w_j <- max(0, g_j - (Gw)_j + G_jj w_j - l1) / (G_jj + l2).

Three things make it fast. Since counts and weights are not negative, g_j - (Gw)_j <= g_j: an item with g_j <= l1 can
never enter, and is left out from the start (an exact screening rule, which needs no safety margin). Of the others a
working set of the most promising is solved alone, on a small dense matrix; then all the others are tested, those that
violate the optimality condition join (the strongest first, at most doubling the set), and the descent goes on from
where it was. Within the working set most sweeps visit only the items of positive weight (an active set).

The kernels are plain loops: array expressions would take the compiler several times as long. Only the outermost one is
cached, with the others in it.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from recassay.algorithms.kernels.compiled import in_parallel
from recassay.algorithms.kernels.counts import Counts
from recassay.core.system.compiled import compiled_exactly
from recassay.core.types import Float32Array, FloatArray, IdArray, IntArray

FIRST_SET = 64
"""Items in the first working set, and the least by which it grows."""


def regress_items(counts: Counts, l1: float, l2: float, *, tolerance: float, max_sweeps: int) -> csr_array:
    """The weights W, items x items: column i holds the weights with which other items predict item i.

    A working set is solved when no weight moves by more than `tolerance` times the largest one in a sweep over the
    whole set, or after `max_sweeps`.
    """
    n_items = len(counts.diagonal)
    numbers = np.array([l1, l2, tolerance])

    def solve(part: slice) -> tuple[IntArray, IdArray, Float32Array]:
        return _regress(counts, part.start, part.stop, numbers, max_sweeps)

    parts = in_parallel(solve, n_items)
    length = np.concatenate([np.zeros(1, dtype=np.int64), *(part[0] for part in parts)])
    column = np.concatenate([np.empty(0, dtype=np.int32), *(part[1] for part in parts)])
    value = np.concatenate([np.empty(0, dtype=np.float32), *(part[2] for part in parts)])
    by_target = csr_array((value, column, np.cumsum(length)), shape=(n_items, n_items))
    return by_target.T.tocsr()


@compiled_exactly
def choose(key: FloatArray, count: int, wanted: int, chosen: IdArray) -> int:
    """Write the positions of large keys among the first `count` (all >= 0) to `chosen`; how many there are.

    At most `wanted` are chosen, at least half as many where there are that many. All keys above a bound found by
    bisection are; where ties leave too few, some at the bound join, in the order of their position.
    """
    low, high = 0.0, 0.0
    for position in range(count):
        high = max(high, key[position])
    high = 2.0 * high + 1.0
    above = 0
    for _ in range(60):
        if count <= wanted or 2 * above >= wanted:
            break
        middle = 0.5 * (low + high)
        reaching = 0
        for position in range(count):
            reaching += key[position] >= middle
        if reaching > wanted:
            low = middle
        else:
            high, above = middle, reaching
    few = 2 * above < wanted
    room = wanted - above
    total = 0
    for position in range(count):
        if key[position] >= high or count <= wanted:
            chosen[total] = position
            total += 1
        elif few and room > 0 and key[position] >= low:
            chosen[total] = position
            total += 1
            room -= 1
    return total


@compiled_exactly
def _descend(
    square: FloatArray, residual: FloatArray, weight: FloatArray, size: int, numbers: FloatArray, sweeps: int
) -> None:
    """Coordinate descent on a dense Gram matrix; `residual` = g - Gw and `weight` are updated in place."""
    l1, l2, tolerance = numbers[0], numbers[1], numbers[2]
    everything = True
    for _ in range(sweeps):
        largest_step, largest_weight = 0.0, 0.0
        for a in range(size):
            old = weight[a]
            if old == 0.0 and not everything:
                continue
            diagonal = square[a, a]
            new = max(0.0, (residual[a] + diagonal * old - l1) / (diagonal + l2))
            step = new - old
            if step != 0.0:
                weight[a] = new
                for b in range(size):
                    residual[b] -= step * square[a, b]
            largest_step = max(largest_step, abs(step))
            largest_weight = max(largest_weight, new)
        settled = largest_step <= tolerance * largest_weight
        if settled and everything:
            return
        everything = settled


@compiled_exactly
def _screen(
    counts: Counts, target: int, numbers: FloatArray, goal: Float32Array, candidate: IdArray, key: FloatArray
) -> int:
    """Write the items that can enter for a target, their counts with it and their promise; how many there are."""
    start, column, value = counts.rows.start, counts.rows.column, counts.rows.value
    l1, l2, n_items = numbers[0], numbers[1], len(counts.diagonal)
    dense = len(counts.table) == n_items
    candidates = 0
    for p in range(n_items if dense else start[target + 1] - start[target]):
        j = p if dense else column[start[target] + p]
        count = counts.table[target, j] if dense else value[start[target] + p]
        if count > l1 and j != target:
            goal[j] = count
            candidate[candidates] = j
            key[candidates] = (count - l1) ** 2 / (counts.diagonal[j] + l2)
            candidates += 1
    return candidates


@compiled_exactly
def _extend(counts: Counts, working: IdArray, place: IdArray, size: int, larger: int, square: FloatArray) -> None:
    """Fill the Gram matrix of the working set where an item from `size` to `larger` is part of the pair."""
    start, column, value = counts.rows.start, counts.rows.column, counts.rows.value
    dense = len(counts.table) == len(counts.diagonal)
    for a in range(size, larger):
        j = working[a]
        for b in range(larger):
            both = counts.table[j, working[b]] if dense else np.float32(0.0)
            square[a, b] = both
            square[b, a] = both
    if not dense:
        for a in range(size, larger):
            for p in range(start[working[a]], start[working[a] + 1]):
                b = place[column[p]]
                if b >= 0:
                    square[a, b] = value[p]
                    square[b, a] = value[p]


@compiled_exactly
def _pull(counts: Counts, working: IdArray, weight: FloatArray, size: int, gradient: Float32Array) -> float:
    """Take the part of the working set's items off the gradient of all items; the largest weight."""
    start, column, value = counts.rows.start, counts.rows.column, counts.rows.value
    n_items = len(counts.diagonal)
    dense = len(counts.table) == n_items
    largest = 0.0
    for a in range(size):
        largest = max(largest, weight[a])
        if weight[a] > 0.0:
            j, factor = working[a], np.float32(weight[a])
            if dense:
                for p in range(n_items):
                    gradient[p] -= factor * counts.table[j, p]
            else:
                for p in range(start[j], start[j + 1]):
                    gradient[np.uint32(column[p])] -= factor * value[p]
    return largest


@compiled_exactly
def _regress(
    counts: Counts, first: int, stop: int, numbers: FloatArray, sweeps: int
) -> tuple[IntArray, IdArray, Float32Array]:
    """The weights of targets `first` to `stop`: how many each has, their items, their values."""
    diagonal, n_items = counts.diagonal, len(counts.diagonal)
    l1, l2, tolerance = numbers[0], numbers[1], numbers[2]
    length = np.zeros(stop - first, dtype=np.int64)
    kept_item, kept_weight, kept = np.empty(1024, dtype=np.int32), np.empty(1024, dtype=np.float32), 0
    # By item: its place in the working set (-1: outside), its count with the target, its gradient.
    place = np.full(n_items, -1, dtype=np.int32)
    goal, gradient = np.zeros(n_items, dtype=np.float32), np.zeros(n_items, dtype=np.float32)
    candidate, chosen = np.empty(n_items, dtype=np.int32), np.empty(n_items, dtype=np.int32)
    working, outside = np.empty(n_items, dtype=np.int32), np.empty(n_items, dtype=np.int32)
    key = np.empty(n_items)
    # By place in the working set: Gram matrix, weight, and g - Gw.
    room = 4 * FIRST_SET
    square, weight, residual = np.zeros((room, room)), np.zeros(room), np.zeros(room)
    for target in range(first, stop):
        candidates = _screen(counts, target, numbers, goal, candidate, key)
        for c in range(candidates):
            outside[c] = candidate[c]
        size = 0
        joining = choose(key, candidates, FIRST_SET, chosen)
        while joining > 0:
            # The chosen join the working set, with weight 0; its arrays grow where they are full.
            larger = size + joining
            if larger > room:
                room = 2 * larger
                grown_square, grown_weight = np.zeros((room, room)), np.zeros(room)
                for a in range(size):
                    grown_weight[a] = weight[a]
                    for b in range(size):
                        grown_square[a, b] = square[a, b]
                square, weight, residual = grown_square, grown_weight, np.zeros(room)
            for a in range(size, larger):
                working[a] = outside[chosen[a - size]]
                place[working[a]] = a
                weight[a] = 0.0
            _extend(counts, working, place, size, larger, square)
            size = larger
            # The set is solved from where it was.
            for a in range(size):
                residual[a] = goal[working[a]]
            for a in range(size):
                if weight[a] > 0.0:
                    for b in range(size):
                        residual[b] -= weight[a] * square[a, b]
            _descend(square, residual, weight, size, numbers, sweeps)
            if size == candidates:
                break
            # Of the items outside, those that violate the optimality condition may join.
            for c in range(candidates):
                gradient[candidate[c]] = goal[candidate[c]]
            largest = _pull(counts, working, weight, size, gradient)
            violating = 0
            for c in range(candidates):
                j = candidate[c]
                excess = gradient[j] - l1
                if place[j] < 0 and excess > tolerance * largest * (diagonal[j] + l2):
                    outside[violating] = j
                    key[violating] = excess**2 / (diagonal[j] + l2)
                    violating += 1
            joining = choose(key, violating, max(FIRST_SET, size), chosen)
        # Positive weights are kept; the next target begins without a working set.
        if kept + size > len(kept_item):
            more_items, more_weights = np.empty(2 * (kept + size), np.int32), np.empty(2 * (kept + size), np.float32)
            for a in range(kept):
                more_items[a], more_weights[a] = kept_item[a], kept_weight[a]
            kept_item, kept_weight = more_items, more_weights
        for a in range(size):
            place[working[a]] = -1
            if weight[a] > 0.0:
                kept_item[kept] = working[a]
                kept_weight[kept] = weight[a]
                kept += 1
                length[target - first] += 1
    return length, kept_item[:kept], kept_weight[:kept]
