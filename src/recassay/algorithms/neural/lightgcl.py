"""LightGCL: graph embeddings that are to agree with those of a graph of low rank."""

from __future__ import annotations

from typing import Any, ClassVar

from recassay.algorithms.kernels.device import torch
from recassay.algorithms.neural.events import Events
from recassay.algorithms.neural.lightgcn import MOST_CONTRASTED, GraphAlgorithm, GraphNetwork, contrast
from recassay.algorithms.neural.links import Links, balanced
from recassay.algorithms.neural.network import ranking_loss, rows
from recassay.core.specs.search import choice, fixed, real, whole

SLOPE = 0.5
"""Of the leaky rectifier, below zero."""

OVERSAMPLED = 8
POWER_STEPS = 4
"""How many directions beyond `rank`, and how many products with the graph, the decomposition takes to be exact."""


MOST_ALIKE = 5.0
"""Up to which similarity, divided by the temperature, the authors' program draws the views of a node together."""


class LightGCL(GraphAlgorithm):
    """Graph contrastive learning with a singular value decomposition.

    Layer l of a node is that of layer l - 1 plus z_l, the leaky rectifier of its neighbours' layer l - 1, summed over
    the balanced links (of which a share `dropout` is left out in each training step); the final vectors are the sum of
    all layers. g_l is what z_l would be on the graph of rank `rank` (q) nearest to the real one, where all nodes are
    linked. Minimises BPR plus `contrast` (lambda 1) times the InfoNCE loss at `temperature` between z_l and g_l of the
    batch's users and items, summed over layers (equations 8 and 9), plus `reg` (lambda 2) times all squared weights.

    With `form = "code"` it is what the authors' program does, and what others have measured: layers without rectifier
    and without the layer before, and one contrast of the sums of all layers by their plain products, which no longer
    pulls beyond 5. Its settings are contrast = 0.2, temperature = 0.2, reg = 1e-7, rate = 1e-3.
    """

    name: ClassVar[str] = "LightGCL"
    source: ClassVar[str] = (
        "Cai, Huang, Xia & Ren 2023, LightGCL: Simple Yet Effective Graph Contrastive Learning, ICLR"
    )
    graphs: ClassVar[int] = 2

    embedding: int = whole(32, 256, default=64, step=32)
    layers: int = whole(1, 4, default=2)
    rank: int = whole(3, 10, default=5)
    contrast: float = real(1e-7, 0.3, default=4e-3, log=True)
    temperature: float = real(0.1, 5.0, default=0.28, log=True)
    dropout: float = choice((0.0, 0.1, 0.25), default=0.0, least=0, most=0.99)
    reg: float = real(1e-8, 1e-4, default=3e-5, log=True)
    rate: float = real(1e-5, 1e-2, default=3e-3, log=True)
    form: str = fixed("paper", among=("paper", "code"))
    batch: int = 4096

    def network(self, events: Events) -> LowRankView:
        """Layer 0, the links and their decomposition."""
        return LowRankView(self, events)

    def numbers(self, n_users: int, n_items: int, n_interactions: int) -> tuple[int, int]:
        """As LightGCN on two graphs, and the similarities of a batch in every layer."""
        learned, step = super().numbers(n_users, n_items, n_interactions)
        return learned, 3 * step + 3 * self.layers * min(self.batch, n_interactions) * (n_users + n_items)


class LowRankView(GraphNetwork[LightGCL]):
    """The network of `LightGCL`."""

    def __init__(self, algorithm: LightGCL, events: Events) -> None:
        super().__init__(algorithm, events)
        self.balance = balanced(events)
        self.left, self.right = leading_parts(self.links, events, algorithm.rank)
        self.recordable = max(events.n_users, events.n_items) <= MOST_CONTRASTED

    def embeddings(self) -> tuple[Any, Any]:
        """The sum of all layers, without dropout."""
        return self._layers(self.links)[:2]

    def loss(self, batch: Any) -> Any:
        """Ranking, contrast and penalty of a batch."""
        user, item, other = self.drawn(batch)
        users, items, views = self._layers(self._thinned())
        loss = ranking_loss(rows(users, user), rows(items, item), rows(items, other))
        loss = loss + self.algorithm.reg * (self.users.square().sum() + self.items.square().sum())
        temperature = self.algorithm.temperature
        if self.algorithm.form == "code":
            far_users = self.users + sum(far for (_, far), _ in views)
            far_items = self.items + sum(far for _, (_, far) in views)
            contrasted = plain_contrast(far_users, users, user, temperature)
            return loss + self.algorithm.contrast * (contrasted + plain_contrast(far_items, items, item, temperature))
        for (of_users, far_users), (of_items, far_items) in views:
            contrasted = contrast(of_users, far_users, user, temperature)
            loss = loss + self.algorithm.contrast * (contrasted + contrast(of_items, far_items, item, temperature))
        return loss

    def _thinned(self) -> Links:
        if not self.algorithm.dropout:
            return self.links
        ones = torch.ones(len(self.events), device=self.events.device)
        return self.links.weighted(self.balance * self.chance.dropout(ones, self.algorithm.dropout))

    def _layers(self, links: Links) -> tuple[Any, Any, list[Any]]:
        """(final users, final items, for each layer (z, g) of users and of items)."""
        paper = self.algorithm.form == "paper"
        bent = torch.nn.functional.leaky_relu if paper else lambda x, _: x
        users, items = self.users, self.items
        all_users, all_items, views = users, items, []
        for _ in range(self.algorithm.layers):
            of_users, of_items = bent(links.of_items(items), SLOPE), bent(links.of_users(users), SLOPE)
            far_users = bent(self.left @ (self.right.T @ items), SLOPE)
            far_items = bent(self.right @ (self.left.T @ users), SLOPE)
            views.append(((of_users, far_users), (of_items, far_items)))
            users, items = (users + of_users, items + of_items) if paper else (of_users, of_items)
            all_users, all_items = all_users + users, all_items + items
        return all_users, all_items, views


def plain_contrast(first: Any, second: Any, chosen: Any, temperature: float) -> Any:
    """Mean over `chosen` of ln sum_w exp(a_v . b_w / T) - min(max(a_v . b_v / T, -5), 5)."""
    anchors = rows(first, chosen)
    same = (anchors * rows(second, chosen)).sum(1) / temperature
    return (torch.logsumexp(anchors @ second.T / temperature, dim=1) - same.clamp(-MOST_ALIKE, MOST_ALIKE)).mean()


def leading_parts(links: Links, events: Events, rank: int) -> tuple[Any, Any]:
    """(U sqrt(S), V sqrt(S)) of the leading `rank` singular values of the links, by randomised subspace iteration."""
    size = min(rank + OVERSAMPLED, events.n_users, events.n_items)
    basis = torch.linalg.qr(links.of_items(events.chance.normal(events.n_items, size)))[0]
    for _ in range(POWER_STEPS):
        basis = torch.linalg.qr(links.of_items(torch.linalg.qr(links.of_users(basis))[0]))[0]
    right, values, left = torch.linalg.svd(links.of_users(basis), full_matrices=False)
    root = values[:rank].sqrt()
    return basis @ left.T[:, :rank] * root, right[:, :rank] * root
