"""Isolation forest for few points: all trees grow together, level by level.

scikit-learn's IsolationForest gives the same scores up to the chance of the draw (a test compares them), but fits one
tree after another: its 1000 trees on 30 points take 40 times as long (2.1 s against 0.05 s of processor time).
"""

from __future__ import annotations

import numpy as np

from recassay.core.types import FloatArray, IntArray


def isolation_scores(points: FloatArray, rng: np.random.Generator, *, trees: int) -> FloatArray:
    """How easily random cuts set each point (row) apart, from 0 to 1: 2^(-E(h) / c(n)) of Liu, Ting and Zhou (2008).

    A tree cuts a group of points at a uniformly random value of a random coordinate in which they differ, down to depth
    ceil(log2 n); h is the number of cuts to a point, plus c(m) where it ends among m points, and c(m) = 2 H(m - 1) -
    2 (m - 1) / m the mean depth of such a search. Every tree sees every point (the paper draws up to 256).
    """
    n, width = points.shape
    node = np.zeros((trees, n), dtype=np.int64)
    live = np.ones((trees, n), dtype=np.bool_)
    length = np.zeros((trees, n))
    tree = np.arange(trees)[:, None]
    flat = np.tile(points, (trees, 1))
    deepest = int(np.ceil(np.log2(max(n, 2))))
    for level in range(deepest + 1):
        count = 2**level
        place = (tree * count + node).ravel()
        inside = live.ravel()
        size = np.bincount(place[inside], minlength=trees * count)
        low, high = np.full((trees * count, width), np.inf), np.full((trees * count, width), -np.inf)
        np.minimum.at(low, place[inside], flat[inside])
        np.maximum.at(high, place[inside], flat[inside])
        differ = high > low
        splits = np.zeros(len(differ), dtype=np.bool_) if level == deepest else differ.max(axis=1)
        ends = inside & ~splits[place]
        length.ravel()[ends] = level + _mean_depth(size[place[ends]])
        live = live & ~ends.reshape(trees, n)
        if not live.any():
            break
        axis = np.where(differ, rng.random(differ.shape), -1.0).argmax(axis=1)
        rows = np.arange(len(axis))
        reach = np.where(splits, high[rows, axis] - low[rows, axis], 0.0)
        cut = np.where(splits, low[rows, axis], 0.0) + rng.random(len(axis)) * reach
        beyond = flat[np.arange(len(flat)), axis[place]] > cut[place]
        node = 2 * node + beyond.reshape(trees, n)
    scores: FloatArray = 2.0 ** (-length.mean(axis=0) / np.maximum(_mean_depth(np.array([n]))[0], 1.0))
    return scores


def _mean_depth(size: IntArray) -> FloatArray:
    """c(m): the mean depth of an unsuccessful search in a binary search tree of m points; 0 for one point."""
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, max(2, int(size.max(initial=1)))))])
    count = np.maximum(size, 1)
    return np.where(size > 1, 2 * harmonic[count - 1] - 2 * (count - 1) / count, 0.0)
