"""NNCF: neural collaborative filtering that also looks at the neighbourhoods of user and item."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, ClassVar

from recassay.algorithms.kernels.device import torch
from recassay.algorithms.kernels.device_lists import Score
from recassay.algorithms.neural.algorithm import NeuralAlgorithm
from recassay.algorithms.neural.events import Events
from recassay.algorithms.neural.links import Links, balanced
from recassay.algorithms.neural.network import Dense, Network, learned, rows
from recassay.core.specs.search import fixed, real, whole

KERNEL = 5
"""Neighbours that one window of the convolution sees, and windows that one maximum is taken over."""

PAIRS_AT_ONCE = 1 << 20
"""Pairs of users and items that are scored together."""


class NNCF(NeuralAlgorithm):
    """Neighbourhood-based neural collaborative filtering.

    The neighbourhood of a user is `neighbours` items, that of an item as many users. With `neighbourhood = "nearest"`
    they are those reached most by three steps over the balanced links (so that those linked come first, then those
    linked to the same), best first; with `"random"`, drawn among those linked, as RecBole's default. Their vectors go
    through a convolution of `kernels` windows of 5 and a maximum over 5 windows; the result for both sides beside
    p_u * q_i goes through layers (128, 64, 32, 16) to one score (equations 3 to 8). Minimises the cross entropy of
    events against `negatives` others each.
    """

    name: ClassVar[str] = "NNCF"
    folds_in: ClassVar[bool] = False
    source: ClassVar[str] = (
        "Bai, Wen, Zhang & Zhao 2017, A Neural Collaborative Filtering Model with Neighborhood, CIKM"
    )
    graphs: ClassVar[int] = 2

    embedding: int = whole(32, 128, default=64, step=32)
    neighbours: int = whole(10, 50, default=20, step=5, least=2 * KERNEL - 1)
    dropout: float = real(0.0, 0.7, default=0.0, least=0, most=0.99)
    negatives: int = whole(1, 8, default=4)
    rate: float = real(1e-4, 1e-2, default=3e-4, log=True)
    neighbourhood: str = fixed("nearest", among=("nearest", "random"))
    neighbour_embedding: int = 32
    kernels: int = 128
    batch: int = 2048

    def network(self, events: Events) -> NeighbourhoodNetwork:
        """Vectors, convolutions and layers."""
        return NeighbourhoodNetwork(self, events)

    def numbers(self, n_users: int, n_items: int, n_interactions: int) -> tuple[int, int]:
        """Two vectors for each id; windows of a batch's ids and pairs, and what scoring a block of pairs takes."""
        ids = n_users + n_items
        wide = self.kernels * self.neighbours
        batch = min(self.batch, n_interactions) * (1 + self.negatives)
        windows = min(batch, ids) * (wide + KERNEL * self.neighbour_embedding * self.neighbours)
        scoring = PAIRS_AT_ONCE * 256 + ids * wide // KERNEL
        return ids * (self.embedding + self.neighbour_embedding), 4 * windows + batch * wide + scoring


class NeighbourhoodNetwork(Network[NNCF]):
    """The network of `NNCF`."""

    recordable = True

    def __init__(self, algorithm: NNCF, events: Events) -> None:
        super().__init__(algorithm, events)
        small, kernels = algorithm.neighbour_embedding, algorithm.kernels
        self.users = self._vectors(events.n_users, algorithm.embedding)
        self.items = self._vectors(events.n_items, algorithm.embedding)
        # One more vector, of zeros, for a neighbour that is missing.
        self.items_near, self.users_near = (
            self._vectors(events.n_items + 1, small),
            self._vectors(events.n_users + 1, small),
        )
        self.of_user, self.of_item = (Dense(KERNEL * small, kernels, self.chance) for _ in range(2))
        pooled = 2 * kernels * ((algorithm.neighbours - KERNEL + 1) // KERNEL)
        self.layers = [
            Dense(a, b, self.chance) for a, b in pairwise((algorithm.embedding + pooled, 128, 64, 32, 16, 1))
        ]
        self.near_users, self.near_items = neighbourhoods(events, algorithm.neighbours, algorithm.neighbourhood)

    def _vectors(self, n: int, size: int) -> Any:
        return learned(self.chance.normal(n, size) * 0.01)

    def loss(self, batch: Any) -> Any:
        """Cross entropy of a batch of events and their negatives, per pair."""
        user = self.events.user[batch]
        item = torch.cat([self.events.item[batch][:, None], self.events.negatives(user, self.algorithm.negatives)], 1)
        user_side = _sides(self._user_side, len(self.users), user)[:, None].expand(-1, item.shape[1], -1)
        item_side = _sides(self._item_side, len(self.items), item)
        product = rows(self.users, user)[:, None] * rows(self.items, item)
        x = torch.cat([product, self._dropped(user_side), self._dropped(item_side)], dim=2)
        for layer in self.layers[:-1]:
            x = self._dropped(torch.relu(layer(x)))
        scores = self.layers[-1](x)[:, :, 0]
        softplus = torch.nn.functional.softplus
        return torch.cat([softplus(-scores[:, :1]), softplus(scores[:, 1:])], dim=1).mean()

    def _dropped(self, x: Any) -> Any:
        return self.chance.dropout(x, self.algorithm.dropout)

    def _user_side(self, users: Any) -> Any:
        return _convolved(self.items_near, self.near_items[users], self.of_user)

    def _item_side(self, items: Any) -> Any:
        return _convolved(self.users_near, self.near_users[items], self.of_item)

    def scorer(self) -> Score:
        """Scores of all pairs; the first layer is taken apart, so that each side is computed once."""
        model = self.frozen()
        first, rest = model.layers[0], model.layers[1:]
        size = model.algorithm.embedding
        pooled = (first.weight.shape[1] - size) // 2
        of_product, of_user, of_item = first.weight.split((size, pooled, pooled), dim=1)
        everyone, everything = (torch.arange(n, device=self.events.device) for n in (len(self.users), len(self.items)))
        user_part = torch.cat([model._user_side(part) for part in everyone.split(8192)]) @ of_user.T + first.bias
        item_part = torch.cat([model._item_side(part) for part in everything.split(8192)]) @ of_item.T

        def score(users: Any) -> Any:
            answers = []
            for part in users.split(max(1, PAIRS_AT_ONCE // max(len(model.items), 1))):
                product = (model.users[part][:, None] * model.items) @ of_product.T
                x = torch.relu(product + user_part[part][:, None] + item_part)
                for layer in rest[:-1]:
                    x = torch.relu(layer(x))
                answers.append(rest[-1](x)[:, :, 0])
            return torch.cat(answers)

        return score


def _sides(side: Callable[[Any], Any], n: int, chosen: Any) -> Any:
    """`side` of the chosen ids: of all n ids once where that is less work."""
    if n <= chosen.numel():
        return rows(side(torch.arange(n, device=chosen.device)), chosen)
    return side(chosen.flatten()).unflatten(0, chosen.shape)


def _convolved(vectors: Any, near: Any, layer: Dense) -> Any:
    """Windows of neighbours through `layer`, the maximum of every five windows, rectified; near is ids x neighbours."""
    known = (near < len(vectors) - 1)[:, :, None]
    windows = (rows(vectors, near) * known).unfold(1, KERNEL, 1).flatten(2)
    whole = windows.shape[1] // KERNEL * KERNEL
    maxima = layer(windows[:, :whole]).unflatten(1, (-1, KERNEL)).amax(2)
    return torch.relu(maxima).flatten(1)


def neighbourhoods(events: Events, n: int, kind: str) -> tuple[Any, Any]:
    """(for every item n users, for every user n items); the number of users (items) stands for a missing one."""
    near_users = _nearest(events.transposed(), n) if kind == "nearest" else _linked(events.transposed(), n)
    return near_users, _nearest(events, n) if kind == "nearest" else _linked(events, n)


def _linked(events: Events, n: int) -> Any:
    """For every user, n of the user's items, drawn evenly."""
    place = events.chance.below(events.count.clamp(min=1)[:, None].expand(-1, n)) + events.first[:-1, None]
    return torch.where(events.count[:, None] > 0, events.item[place.clamp(max=max(len(events) - 1, 0))], events.n_items)


def _nearest(events: Events, n: int) -> Any:
    """For every user, the n items reached most by three steps over the balanced links, best first."""
    links, width = Links(events).weighted(balanced(events)), min(n, events.n_items)
    near = torch.full((events.n_users, n), events.n_items, device=events.device)
    for block in torch.arange(events.n_users, device=events.device).split(512):
        start = torch.zeros(events.n_users, len(block), device=events.device)
        start[block, torch.arange(len(block), device=events.device)] = 1
        reached = links.of_users(links.of_items(links.of_users(start))).T
        weight, item = torch.topk(reached, width, dim=1)
        near[block, :width] = torch.where(weight > 0, item, events.n_items)
    return near
