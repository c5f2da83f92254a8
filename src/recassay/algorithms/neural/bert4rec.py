"""BERT4Rec: attention to both sides, and masked items as targets."""

from __future__ import annotations

from typing import Any, ClassVar

from recassay.algorithms.kernels.device import settled_device, torch
from recassay.algorithms.neural.attention import AttentionAlgorithm, AttentionNetwork
from recassay.algorithms.neural.next_item import softmax_loss, softmax_numbers
from recassay.algorithms.neural.sequences import Ordered, Sequences
from recassay.core.specs.search import fixed, real, whole


class BERT4Rec(AttentionAlgorithm):
    """Bidirectional attention to the newest `length` items of which some are masked.

    A share `masked` of the items of each window is hidden, and learned by cross-entropy over all items; in a share
    `only_last` of the windows the newest item alone is, as in the question that is asked later: what stands at a
    masked place after the history. The layers are normalised before (not after) attention.
    """

    name: ClassVar[str] = "BERT4Rec"
    source: ClassVar[str] = (
        "Sun, Liu, Wu, Pei, Lin, Ou & Jiang 2019, BERT4Rec: Sequential Recommendation with Bidirectional Encoder "
        "Representations from Transformer, CIKM"
    )

    embedding: int = whole(64, 256, default=128, step=64)
    masked: float = real(0.1, 0.6, default=0.2, above=0, most=0.99)
    heads: int = fixed(2, least=1)
    only_last: float = fixed(0.1, least=0, most=1)
    epochs: int = 400

    def network(self, events: Any) -> Masked:
        """Vectors and layers."""
        return Masked(self, events)

    def numbers(self, n_users: int, n_items: int, n_interactions: int) -> tuple[int, int]:
        """The vectors and layers; a batch in the layers and its scores, three times."""
        places = self.places(n_users, n_interactions)
        inside, held = self.layer_numbers(n_users, n_interactions)
        scores = softmax_numbers(places, n_items, settled_device(self.device, self.name))
        return inside + (n_items + 2) * self.embedding, held + scores


class Masked(AttentionNetwork[BERT4Rec]):
    """The network of `BERT4Rec`."""

    def __init__(self, algorithm: BERT4Rec, events: Sequences) -> None:
        super().__init__(algorithm, events)
        self.length += self.length == 1  # a place for the mask
        self.mask = events.n_items + 1
        self.make(events, events.n_items + 2, gated=False, causal=False)

    def asked(self, order: Ordered, chosen: Any) -> Any:
        """The newest items and a mask."""
        return torch.nn.functional.pad(order.windows(chosen, self.length - 1, at_end=True), (0, 1), value=self.mask)

    def loss(self, batch: Any) -> Any:
        """Mean cross-entropy of the masked items."""
        tokens, n_items = self.prefixes.windows(batch, self.length, at_end=True), self.events.n_items
        alone = self.chance.uniform(len(batch), 1) < self.algorithm.only_last
        newest = torch.arange(self.length, device=tokens.device) == self.length - 1
        some = self.chance.uniform(*tokens.shape) < self.algorithm.masked
        masked = torch.where(alone, newest, some) & (tokens < n_items)
        known = self.read(tokens.masked_fill(masked, self.mask), self.algorithm.dropout)
        known, targets, weight = self.to_learn(masked, known, tokens.clamp(max=n_items - 1))
        return softmax_loss(known, self.items[:n_items], targets, weight)
