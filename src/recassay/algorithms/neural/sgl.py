"""SGL: LightGCN with a second task, to know a node again after links were dropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from recassay.algorithms.neural.events import Events
from recassay.algorithms.neural.lightgcn import GraphAlgorithm, GraphNetwork, contrast
from recassay.algorithms.neural.links import balanced
from recassay.algorithms.neural.network import Pass
from recassay.core.specs.search import real, whole


class SGL(GraphAlgorithm):
    """Self-supervised graph learning, with edge dropout (SGL-ED).

    Every epoch draws two graphs, each without a share `drop` of the links and balanced again. Minimises LightGCN's loss
    plus `contrast` times the InfoNCE loss, at `temperature`, between the vectors of the batch's users (and items) in
    both graphs, set against all users (items) (equations 10 to 12).
    """

    name: ClassVar[str] = "SGL"
    source: ClassVar[str] = "Wu, Wang, Feng, He, Chen, Lian & Xie 2021, Self-supervised Graph Learning, SIGIR"
    graphs: ClassVar[int] = 3

    embedding: int = whole(32, 256, default=128, step=32)
    layers: int = whole(1, 4, default=3)
    contrast: float = real(5e-3, 1.0, default=0.1, log=True)
    temperature: float = real(0.1, 1.0, default=0.6, log=True)
    drop: float = real(0.0, 0.5, default=0.2, least=0, most=0.99)
    reg: float = real(1e-5, 1e-3, default=1e-4, log=True)
    rate: float = real(1e-4, 1e-2, default=3e-3, log=True)
    batch: int = 2048

    def network(self, events: Events) -> TwoViews:
        """Layer 0, the links and their two views."""
        return TwoViews(self, events)

    def numbers(self, n_users: int, n_items: int, n_interactions: int) -> tuple[int, int]:
        """As LightGCN on three graphs, and the similarities of a batch."""
        learned, step = super().numbers(n_users, n_items, n_interactions)
        return learned, 3 * step + 3 * min(self.batch, n_interactions) * (n_users + n_items)


class TwoViews(GraphNetwork[SGL]):
    """The network of `SGL`."""

    recordable = True

    def __init__(self, algorithm: SGL, events: Events) -> None:
        super().__init__(algorithm, events)
        self.views = tuple(self.links.weighted(balanced(events)) for _ in range(2))

    def passes(self) -> Sequence[Pass]:
        """All events once, on two new views of the graph."""
        for view in self.views:
            kept = self.chance.uniform(len(self.events)) >= self.algorithm.drop
            view.put(balanced(self.events, kept))
        return super().passes()

    def loss(self, batch: Any) -> Any:
        """Ranking, contrast and penalty of a batch."""
        user, item, other = self.drawn(batch)
        first, second = map(self.smoothed, self.views)
        temperature = self.algorithm.temperature
        contrasted = contrast(first[0], second[0], user, temperature) + contrast(first[1], second[1], item, temperature)
        ranked = self.pair_loss(user, item, other, *self.embeddings())
        return ranked + self.algorithm.contrast * contrasted
