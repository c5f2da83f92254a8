"""LocalEASE: a sparse form of EASE for catalogues whose items x items matrix does not fit in memory."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from recassay.algorithms.kernels.compiled import compiled, in_parallel
from recassay.algorithms.kernels.counts import LARGE_CATALOGUE, PairCounts, cooccurring_pairs, is_crowded
from recassay.algorithms.kernels.products import gram
from recassay.algorithms.kernels.similarity import NeighbourLists, Neighbours
from recassay.algorithms.kernels.small_systems import solve_definite
from recassay.algorithms.kernels.sparse_scoring import history_recommender, sparse_lists_bytes
from recassay.core.specs.search import Tunable, real, whole
from recassay.core.types import Float32Array, IdArray, Interactions, Recommender

COSINE = ("cosine", "none", 0.0)


class LocalEASE(Tunable):
    """EASE, every item regressed on its m nearest items alone.

    With N the `neighbours` items of the highest cosine to item i, G = X'X and X binary,
    w_N = (G_NN + reg I)^-1 G_Ni, all other weights 0: the least squares of EASE under the restriction that only N may
    predict i. Items without a common user are never in N; where all pairs have one and N is all other items, it is EASE
    exactly. The score of user u is x_u W.

    This is the sparse approximation of Steck's Markov random fields with the sparsity pattern of the nearest items,
    each column solved alone (section 3.2, without the sharing of one inverse among several columns), or SLIM's fsSLIM
    with a ridge penalty. It is not SANSA (Spisak et al., RecSys 2023), which inverts a sparsified G by an approximate
    sparse factorisation; both serve catalogues for which the dense inverse is too large.

    Memory grows with the pairs of items that have a user in common (8 bytes each) and with items x neighbours, not
    with items^2 (a catalogue of at most 16,384 items may get a dense table); time with items x neighbours^3.
    """

    name: ClassVar[str] = "LocalEASE"
    aliases: ClassVar[tuple[str, ...]] = ("sparse EASE",)
    source: ClassVar[str] = "Steck: Markov random fields for collaborative filtering (NeurIPS 2019), section 3.2"

    neighbours: int = whole(20, 400, default=200, log=True)
    reg: float = real(1.0, 1000.0, default=250.0, log=True, above=0)

    @staticmethod
    def shared(train: Interactions) -> tuple[LocalCounts, NeighbourLists]:
        """Counts of pairs, and neighbour lists of which a smaller number is a cut."""
        history = train.csr()
        return LocalCounts.of(history), NeighbourLists(history.T.tocsr())

    def fit(
        self, train: Interactions, *, rng: np.random.Generator, shared: tuple[LocalCounts, NeighbourLists] | None = None
    ) -> Recommender:
        """Solve one small system an item."""
        counts, lists = self.shared(train) if shared is None else shared
        weights = local_weights(counts, lists.nearest(self.neighbours, COSINE), self.reg)
        return history_recommender(train.csr(), weights.matrix().T.tocsr(), rng=rng)

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """Counts of the pairs, four forms of the lists, the history, and the sums of each thread."""
        lists = n_items * min(self.neighbours, n_items)
        pairs = cooccurring_pairs(n_users, n_items, n_interactions)
        if n_items > LARGE_CATALOGUE:
            pairs = pairs // 2
        return 8 * pairs + 4 * 8 * lists + 64 * n_interactions + 64 * n_items + sparse_lists_bytes(n_items)


class LocalCounts(NamedTuple):
    """How many users have both items: a dense `table`, or where that is too large or too empty, the `pairs`."""

    table: Float32Array
    pairs: PairCounts

    @classmethod
    def of(cls, history: csr_array) -> LocalCounts:
        """X'X of a binary users x items matrix."""
        if is_crowded(history):
            return cls(gram(history), PairCounts.of(history[:0]))
        return cls(np.zeros((0, 0), dtype=np.float32), PairCounts.of(history))


def local_weights(counts: LocalCounts, near: Neighbours, reg: float) -> Neighbours:
    """The neighbours with their weights in place of their similarities: row i predicts item i."""
    lists = np.ascontiguousarray(near.profile)
    weights = np.zeros(lists.shape, dtype=np.float32)

    def solve(part: slice) -> None:
        _solve(counts, lists, part.start, part.stop, np.float32(reg), weights)

    in_parallel(solve, len(lists))
    return Neighbours(lists, weights)


@compiled
def _solve(counts: LocalCounts, lists: IdArray, first: int, stop: int, reg: np.float32, weights: Float32Array) -> None:
    """Fill G_NN + reg I (lower triangle) and G_Ni for the items `first` to `stop`, and solve."""
    table, (start, other, users, number, degree) = counts
    n_items, most = lists.shape
    dense = len(table) == n_items
    place = np.full(n_items, -1, dtype=np.int32)
    # The last row is G_Ni.
    system = np.zeros((most + 1, most + 1), dtype=np.float32)
    for target in range(first, stop):
        size = 0
        while size < most and lists[target, size] >= 0:
            size += 1
        near = lists[target, :size]
        if dense:
            for a in range(size + 1):
                row = table[near[a] if a < size else target]
                for b in range(min(a + 1, size)):
                    system[a, b] = row[np.uint32(near[b])]
                system[a, a] += reg
        else:
            for a in range(size + 1):
                system[a, :a] = 0
                item = number[near[a] if a < size else target]
                system[a, a] = degree[item] + reg
                place[item] = a
            for a in range(size + 1):
                item = number[near[a] if a < size else target]
                for p in range(start[item], start[item + 1]):
                    b = place[np.uint32(other[p])]
                    if b >= 0:
                        system[max(a, b), min(a, b)] = users[p]
            for a in range(size + 1):
                place[number[near[a] if a < size else target]] = -1
        weights[target, :size] = system[size, :size]
        solve_definite(system, size, reg, weights[target])
