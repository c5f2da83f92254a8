"""The 18 characteristics of a dataset (KDD'24, section 4.3, after Deldjoo et al.).

Sizes and frequencies, the inequality of activity and popularity, and the moments over users of two
things: how popular the items of a profile are, and how much of the profile lies in the long tail.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from recassay.core.errors import InputError
from recassay.core.pairs import DistinctPairs
from recassay.core.types import BoolArray, FloatArray, IntArray, Interactions

HEAD_SHARE = (4, 5)
"""The most popular items that together stay within 4/5 of the interactions are the head; the others are
the long tail."""


def describe(*parts: Interactions) -> dict[str, float]:
    """The 18 characteristics of interactions, or of several parts of them together, named as in the paper and its
    published table; weights and times have no part in them.

    Users and items are those with at least one interaction; a repeated user-item pair counts once. `x_u`
    is the number of interactions of user u, `x_i` of item i. Standard deviations are sample ones (divided
    by n - 1); skewness is m3 / m2^1.5 and kurtosis m4 / m2^2 - 3 over central moments divided by n (no
    bias correction), as the published table has them.

    - Nu, Ni, Nr: users, items, and interactions: distinct user-item pairs;
    - SpaceSize = Nu * Ni, the cells of the interaction matrix; Shape = Nu / Ni; Density = Nr / (Nu * Ni);
    - Rpu = Nr / Nu and Rpi = Nr / Ni, interactions per user and per item;
    - Giniu, Ginii: Gini coefficients (see `gini`) of x_u and x_i, 0 where all users or items are alike;
    - APB, StPB, SkPB, KuPB: mean, standard deviation, skewness and excess kurtosis over users of their popularity
      bias, the mean over their items of x_i / Nu;
    - LTavg, LTstd, LTsk, LTku: the same of the share of their items that are long-tail items (see `long_tail`).

    NaN means undefined, never "none": a standard deviation of a single user, and a skewness or kurtosis where every
    user has the same value. No interactions at all raise `InputError`: most of the 18 would be 0 / 0.

    The distinct pairs are counted a range of users at a time: parts in the order of user and item (those of a split)
    need no memory beside them, others 8 bytes per row.
    """
    if not any(map(len, parts)):
        raise InputError("no interactions to describe", fix="give at least one row (is a filter too strict?)")
    items, size = parts[0].items, parts[0].n_users
    pairs = DistinctPairs(parts)
    user_counts, item_counts = np.zeros(size, dtype=np.int64), np.zeros(items.len(), dtype=np.int64)
    for user, item in pairs:
        user_counts[user[0] : user[-1] + 1] += np.bincount(user - user[0])
        item_counts += np.bincount(item, minlength=len(item_counts))
    present = user_counts > 0
    activity, popularity = user_counts[present], item_counts[item_counts > 0]
    n_users, n_items, n_pairs = len(activity), len(popularity), int(user_counts.sum())

    popularity_sums, tail_sums, tail = np.zeros(size), np.zeros(size, dtype=np.int64), long_tail(item_counts, items)
    for user, item in pairs:
        here, place = slice(user[0], user[-1] + 1), user - user[0]
        popularity_sums[here] += np.bincount(place, weights=item_counts[item])
        tail_sums[here] += np.bincount(place[tail[item]], minlength=here.stop - here.start)
    popularity_sum, tail_sum = popularity_sums[present], tail_sums[present]
    bias, tail_share = popularity_sum / (activity * n_users), tail_sum / activity
    return {
        "Nu": n_users,
        "Ni": n_items,
        "Nr": n_pairs,
        "SpaceSize": n_users * n_items,
        "Shape": n_users / n_items,
        "Density": n_pairs / (n_users * n_items),
        "Rpu": n_pairs / n_users,
        "Rpi": n_pairs / n_items,
        "Giniu": gini(activity),
        "Ginii": gini(popularity),
        **dict(zip(("APB", "StPB", "SkPB", "KuPB"), _moments(bias), strict=True)),
        **dict(zip(("LTavg", "LTstd", "LTsk", "LTku"), _moments(tail_share), strict=True)),
    }


def gini(counts: IntArray) -> float:
    """1 - 2 * sum_i((n + 1 - i) * x_i) / ((n + 1) * sum_i(x_i)) over the ascending counts x_1 <= ... <=
    x_n.

    0 for equal counts (and for a single one), at most (n - 1) / (n + 1).
    """
    ascending = np.sort(counts)
    n = len(ascending)
    weighted = np.dot(np.arange(n, 0, -1, dtype=np.float64), ascending)
    return float(1 - 2 * weighted / ((n + 1) * ascending.sum()))


def long_tail(item_counts: IntArray, items: pl.Series) -> BoolArray:
    """Which items are in the long tail: a mask over the id table.

    Items are sorted by falling count and their counts are summed; the long tail begins with the item
    whose sum first exceeds 80 % of the interactions (that item included). Among items with the count of
    that one, those with the smaller ids come first, so that the order of rows has no say. Items without
    interactions are never counted.
    """
    order = np.argsort(-item_counts, kind="stable")
    total = int(item_counts.sum())
    covered = np.cumsum(item_counts[order])
    start = int(np.searchsorted(covered * HEAD_SHARE[1], total * HEAD_SHARE[0], side="right"))
    boundary = item_counts[order[start]]
    tied = np.flatnonzero(item_counts == boundary)
    tail: BoolArray = (item_counts < boundary) & (item_counts > 0)
    heads_among_tied = start - int(np.count_nonzero(item_counts > boundary))
    by_id = items.gather(tied).arg_sort().to_numpy()
    tail[tied[by_id[heads_among_tied:]]] = True
    return tail


def _moments(values: FloatArray) -> tuple[float, float, float, float]:
    """Mean, sample standard deviation, skewness and excess kurtosis (NaN where undefined)."""
    mean = float(values.mean())
    if len(values) == 1:
        return mean, float("nan"), float("nan"), float("nan")
    if values.min() == values.max():
        return mean, 0.0, float("nan"), float("nan")
    centred = values - mean
    squared = centred * centred
    second = float(squared.mean())
    third, fourth = float((squared * centred).mean()), float((squared * squared).mean())
    return mean, float(values.std(ddof=1)), third / second**1.5, fourth / second**2 - 3
