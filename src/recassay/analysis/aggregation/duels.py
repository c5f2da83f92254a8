"""Who beats whom over datasets, for very many weightings of them: what Copeland's and the Minimax rule ask.

Every pair of algorithms is looked at once. A matrix product says by how much one is ahead, a block of weightings at a
time, so that nothing of the size weightings x pairs is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recassay.core.blocks import number_blocks
from recassay.core.ranked import wins
from recassay.core.system.compiled import compiled
from recassay.core.ties import beats
from recassay.core.types import FloatArray, IntArray

NUMBERS_AT_ONCE = 8_000_000
"""Numbers (weightings x pairs) held in memory together."""


class Outcomes(NamedTuple):
    """By weighting and algorithm (weightings x algorithms)."""

    balance: FloatArray
    """How many others it beats on more datasets than they beat it, less the opposite: Copeland's score."""
    worst: FloatArray
    """The most datasets on which one that is ahead of it beats it."""


class Duels:
    """All pairs of one table whose higher values are the better ones (algorithms x datasets)."""

    def __init__(self, up: FloatArray) -> None:
        self.count = len(up)
        # By pair, the first before the second, and dataset: whether the first is better, and whether the second is.
        first, second = np.triu_indices(self.count, 1)
        self._won, self._lost = np.empty((2, len(first), up.shape[1]), dtype=np.float32)
        for part in number_blocks(len(first), up.shape[1], NUMBERS_AT_ONCE):
            left, right = up[first[part]], up[second[part]]
            self._won[part], self._lost[part] = beats(left, right), beats(right, left)
        self._last: tuple[FloatArray, Outcomes] | None = None

    def outcomes(self, weights: FloatArray) -> Outcomes:
        """The two scores under every row of weights (weightings x datasets); the last answer is kept."""
        if self._last is None or self._last[0] is not weights:
            scores = Outcomes(*np.zeros((2, len(weights), self.count)))
            for part, won, lost in self._blocks(weights):
                _score(won, lost, scores.balance[part], scores.worst[part])
            self._last = weights, scores
        return self._last[1]

    def with_another(self, up: FloatArray, weights: FloatArray) -> Outcomes:
        """The same after one more algorithm came last in the table, of which `up` is the whole."""
        before = self.outcomes(weights)
        won = weights @ beats(up[-1], up[:-1]).T.astype(np.float64)
        lost = weights @ beats(up[:-1], up[-1]).T.astype(np.float64)
        ahead, behind = beats(won, lost), beats(lost, won)
        balance = before.balance - ahead + behind
        worst = np.maximum(before.worst, np.where(ahead, won, 0.0))
        lead = (ahead.sum(axis=1, keepdims=True) - behind.sum(axis=1, keepdims=True)).astype(np.float64)
        own_worst = np.where(behind, lost, 0.0).max(axis=1, keepdims=True)
        return Outcomes(np.hstack([balance, lead]), np.hstack([worst, own_worst]))

    def among(self, chosen: IntArray) -> Outcomes:
        """The same among a part of the algorithms alone (positions, tables x size), where every dataset counts once."""
        won = np.zeros((self.count, self.count))
        first, second = np.triu_indices(self.count, 1)
        won[first, second], won[second, first] = self._won.sum(axis=1), self._lost.sum(axis=1)
        scores = Outcomes(*np.zeros((2, *chosen.shape)))
        _score_parts(won, chosen, scores.balance, scores.worst)
        return scores

    def dominated(self, weights: FloatArray, ranks: FloatArray) -> tuple[int, IntArray, IntArray]:
        """Pairs of which one is nowhere worse and somewhere better, on the datasets of positive weight: how many over
        all weightings, and of them, by rule (`ranks`: rules x weightings x algorithms), how many rank the other way
        round and how many level."""
        counts = np.zeros((len(ranks), 2), dtype=np.int64)
        pairs = 0
        for part, won, lost in self._blocks(weights):
            won, lost = np.ascontiguousarray(won.T), np.ascontiguousarray(lost.T)
            pairs += _count_dominated(won, lost, np.ascontiguousarray(ranks[:, part]), counts)
        return pairs, counts[:, 0], counts[:, 1]

    def _blocks(self, weights: FloatArray) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
        """Which weightings, and `[p, w]`, the weight of the datasets that the first of pair p wins, and the second."""
        whole = bool((weights == np.rint(weights)).all()) and float(np.abs(weights).sum(axis=1).max()) < 2**24
        # Whole numbers of this size are exact in single precision, which is twice as fast.
        kind = np.float32 if whole else np.float64
        sides: list[NDArray[Any]] = [side.astype(kind, copy=False) for side in (self._won, self._lost)]
        for part in number_blocks(len(weights), len(self._won), NUMBERS_AT_ONCE):
            some: NDArray[Any] = weights[part].astype(kind).T
            with np.errstate(invalid="ignore"):  # OpenBLAS may compute with what lies beside small matrices
                won, lost = ((side @ some).astype(np.float64) for side in sides)
            yield part, won, lost


@compiled
def _note_duel(a: int, b: int, won: float, lost: float, balance: FloatArray, worst: FloatArray) -> None:
    """Count the duel of a, which won on so many datasets, with b, which won on the others."""
    if wins(won, lost):
        balance[a] += 1
        balance[b] -= 1
        worst[b] = max(worst[b], won)
    elif wins(lost, won):
        balance[b] += 1
        balance[a] -= 1
        worst[a] = max(worst[a], lost)


def _score(won: FloatArray, lost: FloatArray, balance: FloatArray, worst: FloatArray) -> None:
    """Add to the two scores (weightings x algorithms) the duels of all pairs (pairs x weightings)."""
    count = balance.shape[1]
    lead, most = np.zeros((2, count, len(balance)))
    start = 0
    for a in range(count - 1):
        end = start + count - 1 - a
        mine, other = won[start:end], lost[start:end]
        ahead, behind = beats(mine, other), beats(other, mine)
        lead[a] += ahead.sum(axis=0, dtype=np.int32)
        lead[a] -= behind.sum(axis=0, dtype=np.int32)
        lead[a + 1 :] += behind
        lead[a + 1 :] -= ahead
        np.maximum(most[a + 1 :], np.where(ahead, mine, 0.0), out=most[a + 1 :])
        np.maximum(most[a], np.where(behind, other, 0.0).max(axis=0), out=most[a])
        start = end
    balance += lead.T
    np.maximum(worst, most.T, out=worst)


@compiled
def _score_parts(won: FloatArray, chosen: IntArray, balance: FloatArray, worst: FloatArray) -> None:
    size, lost = chosen.shape[1], won.T.copy()
    for t in range(len(chosen)):
        for i in range(size):
            for j in range(i + 1, size):
                mine, other = won[chosen[t, i], chosen[t, j]], lost[chosen[t, i], chosen[t, j]]
                _note_duel(i, j, mine, other, balance[t], worst[t])


@compiled
def _count_dominated(won: FloatArray, lost: FloatArray, ranks: FloatArray, counts: IntArray) -> int:
    """Add to `counts` (rules x 2) the dominated pairs that are ranked the other way round, and level; how many there
    are."""
    pairs = 0
    count = ranks.shape[2]
    for w in range(len(won)):
        pair = 0
        for a in range(count):
            for b in range(a + 1, count):
                first_wins, second_wins = won[w, pair] > 0, lost[w, pair] > 0
                pair += 1
                if first_wins == second_wins:
                    continue
                pairs += 1
                better, worse = (a, b) if first_wins else (b, a)
                for r in range(len(ranks)):
                    counts[r, 0] += int(ranks[r, w, better] > ranks[r, w, worse])
                    counts[r, 1] += int(ranks[r, w, better] == ranks[r, w, worse])
    return pairs
