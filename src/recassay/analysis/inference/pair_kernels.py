"""Tests and effect sizes of very many pairs, in machine code. Import it where it is used: it brings the compiler."""

from __future__ import annotations

import numpy as np

from recassay.core.ranked import wins
from recassay.core.system.compiled import compiled
from recassay.core.types import FloatArray, IntArray


@compiled
def signed_rank_rows(
    differences: FloatArray,
    keep_zeros: bool,
    most: int,
    most_tied: int,
    sums: FloatArray,
    lower: FloatArray,
    whole: FloatArray,
) -> None:
    """For each row of differences, into `sums` its positive and negative rank sums, how many differences were ranked
    and the sum of squared ranks; into `lower` P(sum <= the negative one) and P(sum <= the positive one) under random
    signs, NaN where more than `most` differences are ranked, or more than `most_tied` of which some tie.

    `whole` is P(sum <= s) of the ranks 1 to n, which rows without ties and zeros share.
    """
    n = differences.shape[1]
    sizes, signs, ranks = np.empty(n), np.empty(n), np.empty(n)
    for row in range(len(differences)):
        count = 0
        for j in range(n):
            if keep_zeros or differences[row, j] != 0:
                sizes[count], signs[count] = abs(differences[row, j]), np.sign(differences[row, j])
                count += 1
        order = np.argsort(sizes[:count], kind="mergesort")
        # Sizes that are equal but for rounding share the mean of their ranks; zeros say nothing of the direction.
        tied, start = False, 0
        while start < count:
            end = start
            while end + 1 < count and not wins(sizes[order[end + 1]], sizes[order[end]]):
                end += 1
            tied |= end > start
            for at in range(start, end + 1):
                ranks[at] = 0.0 if signs[order[at]] == 0 else (start + end + 2) / 2
            start = end + 1
        positive, negative, squares = 0.0, 0.0, 0.0
        for at in range(count):
            squares += ranks[at] ** 2
            if signs[order[at]] > 0:
                positive += ranks[at]
            else:
                negative += ranks[at]
        sums[row, 0], sums[row, 1], sums[row, 2], sums[row, 3] = positive, negative, count, squares
        if count > most:
            lower[row, :] = np.nan
        elif count == n and not tied and positive + negative == n * (n + 1) / 2:
            lower[row, 0], lower[row, 1] = whole[int(negative)], whole[int(positive)]
        elif count > most_tied:
            lower[row, :] = np.nan
        else:
            less = _tail(ranks[:count], min(positive, negative))
            # By symmetry P(sum <= larger) = 1 - P(sum < smaller) = 1 - P(sum <= smaller) + P(sum = smaller).
            more = min(1.0, 1.0 - less[0] + less[1])
            lower[row, 0] = less[0] if negative <= positive else more
            lower[row, 1] = less[0] if positive <= negative else more


@compiled
def _tail(ranks: FloatArray, statistic: float) -> tuple[float, float]:
    """P(sum <= statistic) and P(sum = statistic) of ascending ranks under random signs; larger sums are left out."""
    most = int(np.rint(2 * statistic))
    now, then = np.zeros(most + 1), np.zeros(most + 1)
    now[0] = 1.0
    reach = 0
    for rank in ranks:
        step = int(np.rint(2 * rank))
        if step == 0:
            continue
        reach = min(reach + step, most)
        now, then = then, now
        for s in range(min(step, reach + 1)):
            now[s] = then[s] / 2
        for s in range(step, reach + 1):
            now[s] = (then[s] + then[s - step]) / 2
    return now.sum(), now[most]


@compiled
def walsh_places(rows: FloatArray, places: IntArray, chosen: FloatArray) -> None:
    """Into `chosen` (rows x places), of the means of all pairs in a row (each with itself), those at these places in
    ascending order.

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


@compiled
def count_flips(
    sums: FloatArray, first: IntArray, second: IntArray, weight: FloatArray, least: FloatArray,
    alone: FloatArray, together: FloatArray,
) -> None:  # fmt: skip
    """Add to `alone` in how many flips (rows of `sums`: by algorithm, the sum of its values with flipped signs) the
    statistic of a pair reaches `least`, and to `together` in how many that of it or of any later pair does.
    """
    for flip in range(len(sums)):
        largest = 0.0
        for pair in range(len(first) - 1, -1, -1):
            statistic = abs(sums[flip, first[pair]] - sums[flip, second[pair]]) * weight[pair]
            largest = max(largest, statistic)
            alone[pair] += statistic >= least[pair]
            together[pair] += largest >= least[pair]


@compiled
def largest_flips(
    sums: FloatArray, first: IntArray, second: IntArray, weights: FloatArray, largest: FloatArray
) -> None:
    """Into `largest` (flips x ways to weigh), the largest statistic over the pairs; `weights` are ways x pairs."""
    for flip in range(len(sums)):
        for way in range(len(weights)):
            top = 0.0
            for pair in range(len(first)):
                top = max(top, abs(sums[flip, first[pair]] - sums[flip, second[pair]]) * weights[way, pair])
            largest[flip, way] = top
