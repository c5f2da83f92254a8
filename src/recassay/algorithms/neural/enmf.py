"""ENMF: matrix factorisation on the whole data, without sampling."""

from __future__ import annotations

from typing import Any, ClassVar

from recassay.algorithms.kernels.device import torch
from recassay.algorithms.neural.algorithm import NeuralAlgorithm
from recassay.algorithms.neural.events import Events
from recassay.algorithms.neural.network import EmbeddingNetwork, learned, rows
from recassay.core.specs.search import real, whole


class ENMF(NeuralAlgorithm):
    """Efficient neural matrix factorisation.

    Scores y_ui = h . (p_u * q_i). Minimises, over all pairs, c_ui (r_ui - y_ui)^2 with c_ui = 1 where u has i and
    `negative_weight` where not, in a form whose cost does not grow with the number of pairs (equation 13):

        w sum_fg h_f h_g (sum_u p_uf p_ug) (sum_i q_if q_ig) + sum over events of (1 - w) y^2 - 2 y

    p_u is dropped out with probability `dropout` (the authors keep 0.7). By Adagrad at 0.05; RecBole, whose column in
    the Bi-ReIRT study is near the last, drops 0.7 and uses Adam at 0.001.
    """

    name: ClassVar[str] = "ENMF"
    folds_in: ClassVar[bool] = False
    source: ClassVar[str] = "Chen, Zhang, Zhang, Liu & Ma 2020, Efficient Neural Matrix Factorization, TOIS 38"

    embedding: int = whole(64, 320, default=256, step=64)
    negative_weight: float = real(0.01, 0.3, default=0.05, log=True)
    dropout: float = real(0.2, 0.8, default=0.5, least=0, most=0.99)
    rate: float = real(0.01, 0.2, default=0.05, log=True)
    optimiser: str = "Adagrad"
    epochs: int = 200
    batch: int = 1024

    def network(self, events: Events) -> WholeData:
        """The vectors of users and items, and h."""
        return WholeData(self, events)

    def numbers(self, n_users: int, n_items: int, n_interactions: int) -> tuple[int, int]:
        """A vector for each id; the vectors of a batch's events, thrice."""
        share = min(self.batch, n_users) * -(-4 * n_interactions // max(n_users, 1))
        return self.embedding * (n_users + n_items), 3 * self.embedding * min(share, n_interactions)


class WholeData(EmbeddingNetwork[ENMF]):
    """The network of `ENMF`; an epoch goes once through the users who have an item."""

    def __init__(self, algorithm: ENMF, events: Events) -> None:
        super().__init__(algorithm, events)
        self.among, self.optimiser = events.active, algorithm.optimiser
        self.users = learned(self.chance.normal(events.n_users, algorithm.embedding) * 0.01)
        self.items = learned(self.chance.normal(events.n_items, algorithm.embedding) * 0.01)
        self.scale = learned(torch.full((algorithm.embedding,), 0.01, device=events.device))

    def loss(self, batch: Any) -> Any:
        """The loss of a batch of users over all items, but for a constant."""
        users = self.chance.dropout(rows(self.users, batch), self.algorithm.dropout)
        return self.whole_loss(batch, users)

    def whole_loss(self, batch: Any, users: Any) -> Any:
        """The sum of c (r - y)^2 over the users of `batch`, with vectors `users`, and all items, less their events."""
        row, event = self.events.of(batch)
        weight = self.algorithm.negative_weight
        everything = (self.scale[:, None] * self.scale * (users.T @ users) * (self.items.T @ self.items)).sum()
        scores = (rows(users, row) * rows(self.items, self.events.item[event])) @ self.scale
        return weight * everything + ((1 - weight) * scores.square() - 2 * scores).sum()

    def embeddings(self) -> tuple[Any, Any]:
        """h is taken into the vectors of the users."""
        return self.users * self.scale, self.items
