"""UltraGCN: what infinitely many layers of graph convolution would learn, as a loss on plain embeddings."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array, diags_array

from recassay.algorithms.kernels.device import torch
from recassay.algorithms.kernels.products import SparseRows
from recassay.algorithms.kernels.sparse_neighbours import largest_products
from recassay.algorithms.neural.algorithm import NeuralAlgorithm
from recassay.algorithms.neural.events import Events
from recassay.algorithms.neural.links import degrees
from recassay.algorithms.neural.network import EmbeddingNetwork, rows, xavier
from recassay.core.ranking import tie_order
from recassay.core.seeds import derived_rng
from recassay.core.specs.search import fixed, real, whole
from recassay.core.types import Float32Array, IdArray

SMALLEST_BATCH = 32


class UltraGCN(NeuralAlgorithm):
    """Ultra simplification of graph convolution: no layers, only the constraint that they converge to.

    Scores are inner products of learned vectors. With s the logistic function and
    beta_ui = sqrt((|N_u| + 1) / (|N_i| + 1)) / |N_u|, minimises, per event (u, i),

        - beta_ui ln s(u . i) - w mean over j that u lacks of beta_uj ln s(- u . j)
        - `item_weight` sum over the `neighbours` of i of omega_ij ln s(u . j)            (equations 11 and 13)

    plus `reg` times half the squares of all vectors, shared out among the events of the dataset.
    w = `negative_weight`; omega_ij is G_ij sqrt(g_i / g_j) / (g_i - G_ii), G = X'X and g its sums by row (equation
    12). The wrong items of a batch are `negatives` even draws from the catalogue. An epoch has at least `fewest_steps`
    steps: in small data a batch has fewer events.
    """

    name: ClassVar[str] = "UltraGCN"
    folds_in: ClassVar[bool] = False
    source: ClassVar[str] = "Mao, Zhu, Xiao, Lu, Wang & He 2021, UltraGCN, CIKM"

    embedding: int = whole(32, 256, default=64, step=32)
    negative_weight: float = real(30.0, 1000.0, default=300.0, log=True)
    item_weight: float = real(1e-3, 3.0, default=0.1, log=True)
    reg: float = real(0.01, 1.0, default=0.15, log=True)
    rate: float = real(5e-4, 1e-2, default=3e-3, log=True)
    negatives: int = 1500
    neighbours: int = 10
    epochs: int = 200
    batch: int = 1024
    fewest_steps: int = fixed(64, least=1)

    def batch_for(self, n_interactions: int) -> int:
        """`batch`, or less in small data: few steps end on the plateau where all scores are low."""
        return min(self.batch, max(SMALLEST_BATCH, n_interactions // self.fewest_steps))

    def network(self, events: Events) -> Constrained:
        """The vectors, and the weights of the constraint."""
        return Constrained(self, events)

    def numbers(self, n_users: int, n_items: int, n_interactions: int) -> tuple[int, int]:
        """A vector for each id; the scores of a batch with the items drawn and with the neighbours of its items."""
        batch, vectors = min(self.batch, n_interactions), self.embedding * (n_users + n_items)
        near = self.neighbours * (3 * self.embedding * batch + 4 * n_items)
        return vectors, 2 * vectors + 8 * batch * min(self.negatives, n_items) + near


class Constrained(EmbeddingNetwork[UltraGCN]):
    """The network of `UltraGCN`."""

    recordable = True

    def __init__(self, algorithm: UltraGCN, events: Events) -> None:
        super().__init__(algorithm, events)
        self.users = xavier(events.n_users, algorithm.embedding, self.chance)
        self.items = xavier(events.n_items, algorithm.embedding, self.chance)
        users, items = degrees(events)
        self.decay = algorithm.reg / max(len(events), 1)
        self.user_share = (users + 1).sqrt() / users.clamp(min=1)
        self.item_share = torch.rsqrt(items + 1)
        near, weight = nearest_items(events.host(), algorithm.neighbours)
        self.near = torch.from_numpy(np.where(near < 0, 0, near).astype(np.int64)).to(events.device)
        self.near_weight = torch.from_numpy(np.where(near < 0, 0, weight).astype(np.float32)).to(events.device)

    def loss(self, batch: Any) -> Any:
        """The three terms for a batch of events; the optimiser adds the penalty."""
        algorithm, softplus = self.algorithm, torch.nn.functional.softplus
        user, item = self.events.user[batch], self.events.item[batch]
        # The wrong items are shared by the batch, so that their scores are one product of matrices.
        others, near = self.events.some_items(algorithm.negatives), self.near[item]
        mine, share = rows(self.users, user), self.user_share[user]
        theirs, far, beside = rows(self.items, torch.cat([item, others, near.flatten()])).split(
            [len(item), len(others), near.numel()]
        )
        liked = share * self.item_share[item] * softplus(-(mine * theirs).sum(1))
        lacked = ~self.events.holds(user, others)
        high = softplus(mine @ far.T) * self.item_share[others] * lacked
        wrong = share * high.sum(1) / lacked.sum(1).clamp(min=1)
        nearness = (mine[:, None] * beside.view(*near.shape, -1)).sum(2)
        similar = (self.near_weight[item] * softplus(-nearness)).sum(1)
        return (liked + algorithm.negative_weight * wrong + algorithm.item_weight * similar).mean()

    def embeddings(self) -> tuple[Any, Any]:
        """The learned vectors."""
        return self.users, self.items


def nearest_items(history: csr_array, k: int) -> tuple[IdArray, Float32Array]:
    """The k items j with the largest omega_ij for every item i (-1 where there are fewer), and their omega."""
    profiles = history.T.tocsr().astype(np.float32)
    # g_i sums the row of X'X: the events of all users of i.
    total = np.maximum(profiles @ np.diff(history.indptr).astype(np.float32), 1).astype(np.float32)
    lengths = np.diff(profiles.indptr)
    scaled = (diags_array(1 / np.sqrt(total)) @ profiles).tocsr().astype(np.float32)
    place = tie_order(len(total), derived_rng(0, "neighbours"))
    width = min(k, max(len(total), 1))
    near, value = largest_products(SparseRows.of(profiles), SparseRows.of(scaled.T.tocsr()), width, place)
    return near, value * (np.sqrt(total) / np.maximum(total - lengths, 1)).astype(np.float32)[:, None]
