"""GRU4Rec: a recurrent network over the items of a session."""

from __future__ import annotations

from typing import Any, ClassVar

from recassay.algorithms.kernels.device import settled_device, torch
from recassay.algorithms.neural.network import learned, rows
from recassay.algorithms.neural.sequences import Ordered, SequenceAlgorithm, SequenceNetwork, Sequences
from recassay.core.specs.search import choice, fixed, real, whole

LEFT_OUT = -1e9


class GRU4Rec(SequenceAlgorithm):
    """A GRU over the items of a history, with the losses and the negatives of its author.

    The vectors of the items are those by which they are scored ("constrained embedding"). Negatives of a place are the
    targets of the other histories of the batch at the same place, as in the author's parallel sessions, and
    `negatives` further items for each batch, drawn in proportion to events^`power`. `loss`: `cross-entropy`, where the
    logarithm of the chance to be drawn, times `correction`, is taken off each score; or `bpr-max` with the penalty
    `penalty`. The author's program differs: it moves the weights after every event, by Adagrad with momentum, where a
    step here learns from whole windows of `length` items, by Adam. It has a bias per item, takes off logarithms of
    numbers of events instead of chances, keeps negatives that are the target, and may bend scores (ELU) in BPR-max.
    """

    name: ClassVar[str] = "GRU4Rec"
    source: ClassVar[str] = (
        "Hidasi, Karatzoglou, Baltrunas & Tikk 2016, Session-based Recommendations with Recurrent Neural Networks, "
        "ICLR; Hidasi & Karatzoglou 2018, Recurrent Neural Networks with Top-k Gains, CIKM"
    )

    embedding: int = whole(64, 512, default=256, step=64)
    loss: str = choice(("cross-entropy", "bpr-max"), default="cross-entropy", among=("cross-entropy", "bpr-max"))
    dropout: float = real(0.0, 0.5, default=0.2, least=0, most=0.99)
    rate: float = real(3e-4, 5e-3, default=1e-3, log=True)
    power: float = real(0.0, 1.0, default=0.5)
    penalty: float = real(0.1, 2.0, default=1.0)
    negatives: int = fixed(2048, least=1)
    correction: float = fixed(1.0, least=0)
    epochs: int = 100
    batch: int = 128

    def network(self, events: Any) -> Recurrent:
        """Vectors and the recurrent layer."""
        return Recurrent(self, events)

    def numbers(self, n_users: int, n_items: int, n_interactions: int) -> tuple[int, int]:
        """Vectors and the layer; a batch in it, and its scores."""
        places = self.places(n_users, n_interactions)
        learned_in_all = (n_items + 1) * self.embedding + 6 * self.embedding * (self.embedding + 1)
        return learned_in_all, places * (12 * self.embedding + self._scores_of_a_place(n_users))

    def _scores_of_a_place(self, n_users: int) -> int:
        return 4 * (self.negatives + min(self.batch, n_users))

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """As of every network; a processor scores only places with an event after them: at most twice their mean in a
        batch, and four long windows."""
        whole = super().memory_bytes(n_users, n_items, n_interactions)
        if settled_device(self.device, self.name) != "cpu":
            return whole
        filled = 2 * min(self.batch, n_users) * n_interactions // max(n_users, 1) + 4 * self.length
        empty = max(0, self.places(n_users, n_interactions) - filled)
        return whole - 4 * empty * self._scores_of_a_place(n_users)


class Recurrent(SequenceNetwork[GRU4Rec]):
    """The network of `GRU4Rec`."""

    at_end = False

    def __init__(self, algorithm: GRU4Rec, events: Sequences) -> None:
        super().__init__(algorithm, events)
        size, bound = algorithm.embedding, algorithm.embedding**-0.5
        self.items = learned(self.chance.normal(events.n_items + 1, size) * (2 / (events.n_items + size)) ** 0.5)
        # One tensor for all weights of the layer, in the order in which cuDNN holds them.
        self.layer = learned((2 * self.chance.uniform(6 * size * (size + 1)) - 1) * bound)
        self.shares = events.shares(algorithm.power)
        chance = self.shares.diff(prepend=torch.zeros(1, device=events.device))
        popular = events.popularity / events.popularity.sum().clamp(min=1)
        self.logs = [part.clamp(min=1e-9).log() for part in (popular, chance)]

    def asked(self, order: Ordered, chosen: Any) -> Any:
        """Windows that are no longer than the longest of these histories."""
        longest = int(order.count[chosen].max()) if len(chosen) else 1
        return order.windows(chosen, max(1, min(longest, self.length)), at_end=False)

    def read(self, tokens: Any, dropout: float) -> Any:
        """The state of the layer after each item."""
        x = self.chance.dropout(rows(self.items, tokens), dropout)
        size, square = self.items.shape[1], 3 * self.items.shape[1] ** 2
        inner, outer = (self.layer[at : at + square].view(3 * size, size) for at in (0, square))
        biases = self.layer[2 * square :].view(2, 3 * size).unbind(0)
        begin = torch.zeros(1, len(tokens), size, device=x.device, dtype=x.dtype)
        states, _ = torch.gru(x, begin, (inner, outer, *biases), True, 1, 0.0, torch.is_grad_enabled(), False, True)
        return self.chance.dropout(states, dropout)

    def loss(self, batch: Any) -> Any:
        """The mean loss of the items that come next in a batch of windows."""
        algorithm, n_items = self.algorithm, self.events.n_items
        parts = self.next_items(batch)
        longest = int(parts[2].sum(1).max())
        tokens, targets, filled = (part[:, :longest] for part in parts)
        states, places = self.read(tokens, algorithm.dropout), targets.clamp(max=n_items - 1)
        drawn = self.chance.uniform(algorithm.negatives)
        others = torch.searchsorted(self.shares, drawn).clamp(max=n_items - 1)
        vectors = rows(self.items, places)
        # Windows x places x the windows of the batch: the targets of all at the same place.
        beside = torch.einsum("wps,vps->wpv", states, vectors)
        unfit = (places[:, :, None] == places.T) | ~filled.T
        right = (states * vectors).sum(2)
        if algorithm.loss == "cross-entropy":
            popular, chance = (algorithm.correction * log for log in self.logs)
            right, beside = right - popular[places], beside - popular[places].T
        beside = beside.masked_fill(unfit, LEFT_OUT)
        # Of the places that count: the items drawn, too.
        states, beside, right, target, weight = self.to_learn(filled, states, beside, right, places)
        wrong = states @ rows(self.items, others).T
        if algorithm.loss == "cross-entropy":
            wrong = wrong - chance[others]
        wrong = torch.cat([beside, wrong.masked_fill(target[:, None] == others, LEFT_OUT)], dim=1)
        if algorithm.loss == "cross-entropy":
            each = torch.logsumexp(torch.cat([right[:, None], wrong], dim=1), dim=1) - right
        else:
            share = torch.softmax(wrong, dim=1)
            gain = (share * torch.sigmoid(right[:, None] - wrong)).sum(1)
            kept = wrong.masked_fill(wrong == LEFT_OUT, 0.0)
            each = -(gain + 1e-24).log() + algorithm.penalty * (share * kept.square()).sum(1)
        return (each * weight).sum()
