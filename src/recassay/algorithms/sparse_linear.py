"""LocalEASE: a sparse form of EASE for catalogues whose items x items matrix does not fit in memory."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from recassay.algorithms.kernels.counts import Counts, cooccurring_pairs
from recassay.algorithms.kernels.products import in_parallel
from recassay.algorithms.kernels.similarity import NeighbourLists, Neighbours, nearest
from recassay.algorithms.kernels.sparse_scoring import SparseRecommender, sparse_lists_bytes
from recassay.core.errors import UsageError
from recassay.core.specs.search import Real, SearchSpace, Whole
from recassay.core.system.compiled import compiled_exactly
from recassay.core.types import Float32Array, FloatArray, IdArray, IntArray, Interactions, Recommender

COSINE = ("cosine", "none", 0.0)


class LocalEASE:
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
    with items^2; time with items x neighbours^3.
    """

    name: ClassVar[str] = "LocalEASE"
    aliases: ClassVar[tuple[str, ...]] = ("sparse EASE",)
    space: ClassVar[SearchSpace] = {
        "neighbours": Whole(20, 400, 200, log=True),
        "reg": Real(1.0, 1000.0, 250.0, log=True),
    }
    source: ClassVar[str] = "Steck: Markov random fields for collaborative filtering (NeurIPS 2019), section 3.2"

    def __init__(self, neighbours: int = 200, reg: float = 250.0) -> None:
        if neighbours < 1:
            raise UsageError(f"LocalEASE cannot work with {neighbours} neighbours", fix="give at least 1")
        if not reg > 0:
            raise UsageError(f"LocalEASE cannot work with reg = {reg}", fix="give a number above 0")
        self.neighbours, self.reg = neighbours, reg

    @staticmethod
    def shared(train: Interactions) -> tuple[Counts, NeighbourLists]:
        """The Gram matrix, and neighbour lists of which a smaller number is a cut."""
        history = train.csr()
        return Counts.of(history), NeighbourLists(history.T.tocsr())

    def fit(
        self, train: Interactions, *, rng: np.random.Generator, shared: tuple[Counts, NeighbourLists] | None = None
    ) -> Recommender:
        """Solve one small system an item."""
        history = train.csr()
        if shared is None:
            counts = Counts.of(history)
            near = nearest(history.T.tocsr(), self.neighbours, COSINE)
        else:
            counts, lists = shared
            near = lists.nearest(self.neighbours, COSINE)
        return SparseRecommender(history, local_weights(counts, near, self.reg).matrix().T.tocsr(), rng=rng)

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """Counts of the pairs, four forms of the lists, the history, and the sums of each thread."""
        lists = n_items * min(self.neighbours, n_items)
        pairs = cooccurring_pairs(n_users, n_items, n_interactions)
        return 8 * pairs + 4 * 8 * lists + 64 * n_interactions + 64 * n_items + sparse_lists_bytes(n_items)


def local_weights(counts: Counts, near: Neighbours, reg: float) -> Neighbours:
    """The neighbours with their weights in place of their similarities: row i predicts item i."""
    lists = np.ascontiguousarray(near.profile)
    weights = np.zeros(lists.shape, dtype=np.float32)
    rows = counts.rows

    def solve(part: slice) -> None:
        _solve(
            counts.table,
            rows.start,
            rows.column,
            rows.value,
            counts.diagonal,
            lists,
            part.start,
            part.stop,
            float(reg),
            weights,
        )

    in_parallel(solve, len(lists))
    return Neighbours(lists, weights)


@compiled_exactly
def _solve(
    table: Float32Array,
    start: IntArray,
    column: IdArray,
    value: Float32Array,
    diagonal: FloatArray,
    lists: IdArray,
    first: int,
    stop: int,
    reg: float,
    weights: Float32Array,
) -> None:
    """Symmetric elimination on (G_NN + reg I | G_Ni), upper triangle, for the items `first` to `stop`."""
    n_items, most = lists.shape
    dense = len(table) == n_items
    place = np.full(n_items, -1, dtype=np.int32)
    system = np.zeros((most, most + 1), dtype=np.float32)
    least = np.float32(reg)
    for target in range(first, stop):
        size = 0
        while size < most and lists[target, size] >= 0:
            place[lists[target, size]] = size
            size += 1
        for a in range(size):
            j = lists[target, a]
            if dense:
                for b in range(a, size):
                    system[a, b] = table[j, lists[target, b]]
                system[a, size] = table[j, target]
            else:
                for b in range(a, size + 1):
                    system[a, b] = 0.0
                for p in range(start[j], start[j + 1]):
                    b = place[column[p]]
                    if b >= a:
                        system[a, b] = value[p]
                    elif column[p] == target:
                        system[a, size] = value[p]
            system[a, a] = np.float32(diagonal[j]) + least
        for a in range(size):
            # What is eliminated from a positive semidefinite matrix leaves one: a pivot below reg is rounding.
            system[a, a] = max(system[a, a], least)
            for b in range(a + 1, size):
                # Slices that begin at 0 spare the tests that keep the innermost loop from being vectorised.
                factor = system[a, b] / system[a, a]
                above, below = system[a, b : size + 1], system[b, b : size + 1]
                for c in range(len(above)):
                    below[c] -= factor * above[c]
        for a in range(size - 1, -1, -1):
            solution = system[a, size]
            for b in range(a + 1, size):
                solution -= system[a, b] * weights[target, b]
            weights[target, a] = solution / system[a, a]
        for a in range(size):
            place[lists[target, a]] = -1
