"""Nearest histories: what came in those that are most like the history at hand, with its newest items counting most."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.sparse import csr_array, eye_array

from recassay.algorithms.kernels.compiled import in_parallel
from recassay.algorithms.kernels.products import SparseRows
from recassay.algorithms.kernels.shortlist import keep_best, key_of, rising
from recassay.algorithms.kernels.sparse_scoring import SparseRecommender, sparse_lists_bytes
from recassay.algorithms.sequential.rules import popular_first
from recassay.core.histories import Histories
from recassay.core.specs.search import Tunable, choice, real, whole
from recassay.core.system.compiled import compiled_exactly
from recassay.core.types import Float32Array, IdArray, IntArray, Interactions, TopK

DAY = 24 * 3600
"""Seconds."""

NO_FALL = 1e30
"""A scale so large that nothing falls with it."""

HISTORIES_AT_ONCE = 1024
"""Histories whose scores are held together, as sparse rows."""


class _NearestHistories(Tunable):
    """The parameters that the methods have in common.

    Candidates are the `sample` most recent of the histories of training that share one of the `last` newest items;
    where no times are known, the later of two users counts as more recent. The `k` most similar are kept, more recent
    ones first among equals. The history of the user asked for is one of them, if training has it: it adds only items
    that the user has had.
    """

    reads_order: ClassVar[bool] = True

    k: int = whole(50, 1500, default=500, log=True)
    sample: int = whole(500, 10_000, default=5000, log=True)
    last: int = whole(2, 200, default=20, log=True)

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> NearestRecommender:
        """Index the histories by their items."""
        histories = Histories.of(train, np.arange(train.n_users, dtype=np.int32))
        known = Known.of(histories, train.n_items)
        return NearestRecommender(histories, known, self._likeness(), self, place=popular_first(train, rng))

    @abstractmethod
    def _likeness(self) -> Likeness:
        """What is similar, and what a similar history is worth."""

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """The histories, their index in the making, the neighbours and scores of a block, and the sums per thread."""
        block = HISTORIES_AT_ONCE * (16 * self.k + 24 * min(n_items, n_interactions))
        return 160 * n_interactions + 16 * (32 + 16) * n_users + block + 2 * sparse_lists_bytes(n_items)


class VSKNN(_NearestHistories):
    """Vector multiplication session kNN (V-SKNN).

    Similarity of the history s, of which the n newest items are asked, to a history h of training: the sum over the
    items of both of (x / n)^`position`, x from 1 to n the place of the item in s; 1 is the linear decay of the paper.
    score(i) = sum over the k most similar h with i of similarity x r^-`score_position`, r = 1 for the newest item of s,
    2 for the one before, ...: the newest item that is in h. 0 is the paper, 1 the default of session-rec.
    """

    name: ClassVar[str] = "V-SKNN"
    aliases: ClassVar[tuple[str, ...]] = ("VSKNN", "VMSKNN")
    source: ClassVar[str] = "Ludewig, Jannach: Evaluation of session-based recommendation algorithms (UMUAI 2018)"

    k: int = whole(50, 1500, default=100, log=True)
    sample: int = whole(500, 10_000, default=1000, log=True)
    position: int = choice((0, 1, 2), default=1, least=0)
    score_position: int = choice((0, 1, 2), default=1, least=0)

    def _likeness(self) -> Likeness:
        return Likeness(self.position, NO_FALL, self.score_position, False, NO_FALL, NO_FALL)


class STAN(_NearestHistories):
    """Sequence and time aware neighbourhood (STAN).

    Similarity of s to h: the sum over the items of both of exp(-(places from the end of s) / `decay`), divided by the
    square root of the numbers of items of s and of h, times exp(-(age of h) / `days`). score(i) = sum over the k most
    similar h with i of similarity x exp(-|places in h between i and the newest item of s that is in h| / `nearby`).
    Ages are taken from the newest candidate, which scales all scores of a list alike. Without times all h are of one
    age.
    """

    name: ClassVar[str] = "STAN"
    source: ClassVar[str] = (
        "Garg, Gupta, Malhotra, Vig, Shroff: Sequence and time aware neighborhood for session-based recommendations "
        "(SIGIR 2019)"
    )

    decay: float = real(0.4525, 7.24, default=3.62, log=True, above=0)
    days: float = real(2.5, 100.0, default=40.0, log=True, above=0)
    nearby: float = real(0.4525, 7.24, default=3.62, log=True, above=0)

    def _likeness(self) -> Likeness:
        return Likeness(0, self.decay, 0, True, self.days * DAY, self.nearby)


class Likeness(NamedTuple):
    """What makes a history of training similar; all numbers as in the formulas of the two algorithms."""

    position: float
    decay: float
    score_position: float
    cosine: bool
    age: float
    nearby: float


class Known(NamedTuple):
    """The histories of training as sets, the most recent first, and the same by item; with the last place of each item.

    History h has `item[start[h] : start[h + 1]]` at `place[...]`; item i is in `holder[first[i] : first[i + 1]]`, there
    at `spot[...]`. `newest` is the time of the last event of h.
    """

    start: IntArray
    item: IdArray
    place: IdArray
    first: IntArray
    holder: IdArray
    spot: IdArray
    newest: IntArray

    @classmethod
    def of(cls, histories: Histories, n_items: int) -> Known:
        """The index of `histories`."""
        length = histories.lengths()
        ends = np.maximum(histories.starts[1:] - 1, 0)
        timed = histories.time is not None and len(histories.items) > 0
        newest = histories.time[ends] if histories.time is not None and timed else np.zeros(len(length), np.int64)
        recent = np.lexsort((-np.arange(len(length)), -newest))
        rank = np.empty(len(length), dtype=np.int64)
        rank[recent] = np.arange(len(length))
        # Of a pair of history and item the last event is kept: the first one of the events in reverse.
        pair = np.repeat(rank, length) * n_items + histories.items
        event = np.arange(len(pair)) - np.repeat(histories.starts[:-1], length)
        pair, last = np.unique(pair[::-1], return_index=True)
        place = event[::-1][last].astype(np.int32)
        pairs = np.divmod(pair, max(n_items, 1))
        holder, item = pairs[0].astype(np.int32), pairs[1].astype(np.int32)
        by_item = np.argsort(item, kind="stable")
        counts = (np.bincount(holder, minlength=len(length)), np.bincount(item, minlength=n_items))
        start, first = (np.concatenate([[0], np.cumsum(count)]).astype(np.int64) for count in counts)
        return cls(start, item, place, first, holder[by_item], place[by_item], newest[recent].astype(np.int64))


class NearestRecommender:
    """Lists by the nearest histories; equal scores stand by `place`."""

    def __init__(
        self, histories: Histories, known: Known, likeness: Likeness, asked: _NearestHistories, *, place: IdArray
    ) -> None:
        self._histories, self._known, self._likeness, self._place = histories, known, likeness, place
        self._limits = (min(asked.k, max(len(histories), 1)), asked.sample, asked.last)
        farthest = np.diff(histories.starts).max(initial=1)
        self._fade = np.exp(-np.arange(farthest + 1) / likeness.nearby).astype(np.float32)

    def recommend(self, users: IdArray, k: int, *, exclude: csr_array | None) -> TopK:
        """The k best items for each of `users`; see `Recommender`."""
        top = TopK.empty(users, k)
        starts = self._histories.starts
        for block in (slice(at, at + HISTORIES_AT_ONCE) for at in range(0, len(users), HISTORIES_AT_ONCE)):
            asked = users[block]
            barred = None if exclude is None else exclude[asked]
            self._fill(self._histories.items, starts[asked], starts[asked + 1], barred, top, block)
        return top

    def recommend_from(self, histories: Histories, k: int, *, exclude: csr_array | None) -> TopK:
        """The k best items after each history; see `FoldsIn`."""
        top = TopK.empty(np.arange(len(histories), dtype=np.int32), k)
        for at in range(0, len(histories), HISTORIES_AT_ONCE):
            block = slice(at, min(at + HISTORIES_AT_ONCE, len(histories)))
            bounds = histories.starts[block.start : block.stop + 1]
            self._fill(
                histories.items, bounds[:-1], bounds[1:], None if exclude is None else exclude[block], top, block
            )
        return top

    def _fill(
        self, items: IdArray, begin: IntArray, end: IntArray, exclude: csr_array | None, top: TopK, block: slice
    ) -> None:
        """Write the lists after the events from `begin` to `end` into the block of `top`."""
        items = np.require(items, np.int32, ["C", "W"])
        known, likeness, fade = self._known, self._likeness, self._fade
        k, sample, last = self._limits

        def scores(part: slice) -> SparseRows:
            near, shared = (np.full((part.stop - part.start, k), -1, dtype=np.int32) for _ in range(2))
            worth = np.zeros(near.shape, dtype=np.float32)
            _nearest(known, likeness, items, begin[part], end[part], sample, last, near, shared, worth)
            sizes = np.where(near >= 0, np.diff(known.start)[near], 0).sum(axis=1)
            room = np.concatenate([[0], np.cumsum(np.minimum(sizes, len(self._place)))]).astype(np.int64)
            column, value = np.zeros(room[-1], dtype=np.int32), np.zeros(room[-1], dtype=np.float32)
            filled = _score(known, fade, near, shared, worth, len(self._place), column, value)
            return SparseRows(filled, column[: filled[-1]], value[: filled[-1]], len(self._place))

        rows = in_parallel(scores, len(begin))
        counts = np.concatenate([np.diff(part.start) for part in rows])
        column, value = np.concatenate([part.column for part in rows]), np.concatenate([part.value for part in rows])
        shape = (len(begin), len(self._place))
        left = csr_array((value, column, np.concatenate([[0], np.cumsum(counts)])), shape=shape)
        itself = csr_array(eye_array(shape[1], dtype=np.float32, format="csr"))
        best = SparseRecommender(left, itself, place=self._place).recommend(
            np.arange(len(begin), dtype=np.int32), top.k, exclude=exclude
        )
        top.items[block], top.scores[block] = best.items, best.scores


@compiled_exactly
def _nearest(
    known: Known,
    likeness: Likeness,
    items: IdArray,
    begin: IntArray,
    end: IntArray,
    sample: int,
    last: int,
    near: IdArray,
    shared: IdArray,
    worth: Float32Array,
) -> None:
    """Write the nearest histories of each row: which, where the newest shared item is in it, and what it is worth."""
    start, _, _, first, holder, spot, newest = known
    n_known, width = len(start) - 1, near.shape[1]
    alike = np.zeros(n_known, dtype=np.float32)
    anchor, back, met = np.empty(n_known, np.int32), np.full(n_known, -1, np.int32), np.empty(n_known, np.int32)
    keys = np.empty(n_known, dtype=np.uint64)
    bits = alike.view(np.uint32)
    asked = np.zeros(len(first) - 1, dtype=np.bool_)
    for row in range(len(begin)):
        n_met, n_items = 0, 0
        length = min(end[row] - begin[row], last)
        # From the newest item on: the first item that meets a history is the newest that they share.
        for age in range(length):
            item = items[end[row] - 1 - age]
            if asked[item]:
                continue
            asked[item] = True
            n_items += 1
            weight = np.float32((1 - age / length) ** likeness.position * np.exp(-age / likeness.decay))
            for p in range(first[item], first[item + 1]):
                other = np.uint32(holder[p])
                # Not `alike`: weights of old items are 0 in single precision.
                if back[other] < 0:
                    met[n_met], anchor[other], back[other] = other, spot[p], age
                    n_met += 1
                alike[other] += weight
        for age in range(length):
            asked[items[end[row] - 1 - age]] = False
        if n_met > sample:
            # The most recent have the smallest numbers.
            for p in range(n_met):
                keys[p] = key_of(np.uint32(0), met[p])
            keep_best(keys, n_met, sample)
            for p in range(n_met):
                met[p] = ~np.uint32(keys[p])
                if p >= sample:
                    alike[met[p]], back[met[p]] = 0, -1
            n_met = sample
        latest = newest[met[:n_met].min()] if n_met else 0
        for p in range(n_met):
            other = np.uint32(met[p])
            if likeness.cosine:
                alike[other] /= np.sqrt(np.float64(n_items * (start[other + 1] - start[other])))
            alike[other] *= np.exp(-(latest - newest[other]) / likeness.age)
            keys[p] = key_of(rising(bits[other]), met[p])
        kept = keep_best(keys, n_met, width)
        for p in range(kept):
            other = ~np.uint32(keys[p])
            near[row, p], shared[row, p] = other, anchor[other]
            worth[row, p] = alike[other] * (1.0 + back[other]) ** -likeness.score_position
        for p in range(n_met):
            alike[met[p]], back[met[p]] = 0, -1


@compiled_exactly
def _score(
    known: Known,
    fade: Float32Array,
    near: IdArray,
    shared: IdArray,
    worth: Float32Array,
    n_items: int,
    column: IdArray,
    value: Float32Array,
) -> IntArray:
    """Write the scores of each row one after the other; where each row begins."""
    sums, met = np.zeros(n_items, dtype=np.float32), np.zeros(n_items, dtype=np.bool_)
    begins = np.zeros(len(near) + 1, dtype=np.int64)
    filled = 0
    for row in range(len(near)):
        for p in range(near.shape[1]):
            other = near[row, p]
            if other < 0:
                break
            for q in range(known.start[other], known.start[other + 1]):
                item = np.uint32(known.item[q])
                if not met[item]:
                    met[item] = True
                    column[filled] = item
                    filled += 1
                sums[item] += worth[row, p] * fade[abs(known.place[q] - shared[row, p])]
        for spot in range(begins[row], filled):
            item = np.uint32(column[spot])
            value[spot] = sums[item]
            sums[item], met[item] = 0, False
        begins[row + 1] = filled
    return begins
