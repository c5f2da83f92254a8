"""Tests and effect sizes of very many pairs at once."""

from __future__ import annotations

import numpy as np

from recassay.core.blocks import number_blocks
from recassay.core.system.compiled import compiled, uncompiled
from recassay.core.ties import beats, runs
from recassay.core.types import BoolArray, FloatArray, IntArray

FLIPS_AT_ONCE = 8192
"""Flips whose statistics of a pair are held together: they stay in the processor's cache."""

FEW_MEANS = 4_000_000
"""Up to so many means of pairs are made and parted; beyond, machine code walks to those that are asked for."""

FEW_STEPS = 20_000
"""Up to so many differences in rows with ties NumPy adds up their distributions, and machine code more of them."""


def rank_sums(differences: FloatArray, keep_zeros: bool) -> tuple[FloatArray, FloatArray, IntArray, BoolArray]:
    """By row of differences, with the sizes of differences in ascending order: their ranks, their signs, how many are
    ranked, and whether two of these tie.

    Sizes that are equal but for rounding share the mean of their ranks; zeros say nothing of the direction, and have
    rank 0. Where they are not kept, they take no place either.
    """
    sizes = np.abs(differences)
    order = np.argsort(sizes, axis=1, kind="stable")
    ordered = np.take_along_axis(sizes, order, axis=1)
    start, end = runs(beats(ordered[:, 1:], ordered[:, :-1]))
    moved = ordered > 0
    idle = np.zeros(len(sizes), dtype=np.int64) if keep_zeros else (~moved).sum(axis=1)
    ranks = np.where(moved, (start + end + 2) / 2 - idle[:, None], 0.0)
    tied: BoolArray = np.any((end > start) & (moved | keep_zeros), axis=1)
    return ranks, np.take_along_axis(np.sign(differences), order, axis=1), sizes.shape[1] - idle, tied


def tails(ranks: FloatArray, least: FloatArray) -> FloatArray:
    """By row of ascending ranks (0: nothing), P(sum <= least) and P(sum = least) under random signs."""
    both, tail = np.empty((len(ranks), 2)), _tail if ranks.size > FEW_STEPS else uncompiled(_tail)
    for row, (steps, most) in enumerate(zip(np.rint(2 * ranks).astype(np.int64), np.rint(2 * least), strict=True)):
        both[row] = tail(steps, int(most))
    return both


@compiled
def _tail(steps: IntArray, most: int) -> tuple[float, float]:
    """P(the sum of those steps whose coin shows heads <= most) and P(it = most); larger sums are left out."""
    chances = np.zeros(most + 1)
    chances[0] = 1.0
    reach = 0
    for step in steps:
        if step == 0:
            continue
        moved = chances[: reach + 1] / 2
        chances[: reach + 1] = moved
        reach = min(reach + step, most)
        if step <= reach:
            chances[step : reach + 1] += moved[: reach + 1 - step]
    return chances.sum(), chances[most]


def walsh_places(rows: FloatArray, places: IntArray) -> FloatArray:
    """Of the means of all pairs in a row (each with itself), those at these places in ascending order (rows x places).

    NaN for a place that there is not, and in a row with values that are not numbers.
    """
    n = rows.shape[1]
    first, second = np.triu_indices(n)
    chosen = np.full((len(rows), len(places)), np.nan)
    if len(rows) * len(first) > FEW_MEANS:
        _walk_to_places(rows, places, chosen)
    else:
        known, within = ~np.isnan(rows).any(axis=1), (places >= 0) & (places < len(first))
        with np.errstate(invalid="ignore"):
            means = rows[known][:, first] + rows[known][:, second]
        means.partition(np.unique(places[within]), axis=1)
        chosen[np.ix_(known, within)] = means[:, places[within]] / 2
    return chosen


@compiled
def _walk_to_places(rows: FloatArray, places: IntArray, chosen: FloatArray) -> None:
    """As `walsh_places`, into `chosen`, without making all means.

    The means of a sorted row stand in a triangle whose rows and columns ascend: how many lie below a pivot is counted
    in one walk along its edge, and every walk cuts the candidates (Johnson and Mizoguchi 1978). NaN for a place that
    there is not, and for one in a row with values that are not numbers: a walk that cuts nothing is the last.
    """
    n = rows.shape[1]
    low, high = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    below, upto = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for row in range(len(rows)):
        x = np.sort(rows[row])
        for p in range(len(places)):
            place = places[p]
            for i in range(n):
                low[i], high[i] = i, n  # candidates of line i are (i, low) to (i, high - 1)
            left, before = n * (n + 1) // 2, n * (n + 1) // 2 + 1
            chosen[row, p] = np.nan
            while 0 < left < before:
                before = left
                # The middle of a line in the middle of the candidates is the pivot.
                walk, line = left // 2, 0
                while walk >= high[line] - low[line]:
                    walk -= high[line] - low[line]
                    line += 1
                pivot = x[line] + x[(low[line] + high[line]) // 2]
                less, equal, edge, last = 0, 0, n, n
                for i in range(n):
                    while edge > i and x[i] + x[edge - 1] >= pivot:
                        edge -= 1
                    while last > i and x[i] + x[last - 1] > pivot:
                        last -= 1
                    below[i], upto[i] = max(edge, i), max(last, i)
                    less += below[i] - i
                    equal += upto[i] - i
                if less <= place < equal:
                    chosen[row, p] = pivot / 2
                    break
                left = 0
                for i in range(n):
                    if place < less:
                        high[i] = min(high[i], below[i])
                    else:
                        low[i] = max(low[i], upto[i])
                    high[i] = max(high[i], low[i])
                    left += high[i] - low[i]


def count_flips(
    sums: FloatArray, first: IntArray, second: IntArray, weight: FloatArray, least: FloatArray,
    alone: FloatArray, together: FloatArray,
) -> None:  # fmt: skip
    """Add to `alone` in how many flips (rows of `sums`: by algorithm, the sum of its values with flipped signs) the
    statistic of a pair reaches `least`, and to `together` in how many that of it or of any later pair does.
    """
    for part in number_blocks(len(sums), 1, FLIPS_AT_ONCE):
        columns = np.ascontiguousarray(sums[part].T)
        largest, statistic = np.zeros((2, columns.shape[1]))
        for pair in range(len(first) - 1, -1, -1):
            _statistics(columns, first[pair], second[pair], statistic)
            statistic *= weight[pair]
            np.maximum(largest, statistic, out=largest)
            alone[pair] += np.count_nonzero(statistic >= least[pair])
            together[pair] += np.count_nonzero(largest >= least[pair])


def largest_flips(sums: FloatArray, first: IntArray, second: IntArray, weights: FloatArray) -> FloatArray:
    """The largest statistic over the pairs (ways to weigh x flips); `weights` are ways x pairs."""
    largest, columns = np.zeros((len(weights), len(sums))), np.ascontiguousarray(sums.T)
    statistic, weighted = np.empty((2, len(sums)))
    for pair in range(len(first)):
        _statistics(columns, first[pair], second[pair], statistic)
        for way, weight in enumerate(weights[:, pair]):
            np.multiply(statistic, weight, out=weighted)
            np.maximum(largest[way], weighted, out=largest[way])
    return largest


def _statistics(columns: FloatArray, first: int, second: int, out: FloatArray) -> None:
    """The sizes of the differences of two rows."""
    np.subtract(columns[first], columns[second], out=out)
    np.abs(out, out=out)
