"""SASRec and eSASRec: attention to the items before, and the next item as the target of every place."""

from __future__ import annotations

from typing import Any, ClassVar

from recassay.algorithms.kernels.device import settled_device
from recassay.algorithms.neural.attention import AttentionAlgorithm, AttentionNetwork
from recassay.algorithms.neural.next_item import (
    LOSSES,
    SCORES_AT_ONCE,
    binary_loss,
    gbce_loss,
    sampled_loss,
    softmax_loss,
    softmax_numbers,
)
from recassay.algorithms.neural.sequences import Sequences
from recassay.core.specs.search import choice, fixed, real, whole


class SASRec(AttentionAlgorithm):
    """Self-attentive sequential recommendation.

    A window of the newest `length` items goes through `layers` layers of attention, in which a place sees those before
    it; the score of an item is the product of its vector and what is known at the last place. Training cuts longer
    histories into such windows. Every place learns the item after it, by `loss`: `softmax` over all items; `sampled`
    over the target and `negatives` items drawn evenly for each batch; `gbce`, binary cross-entropy with `negatives`
    such items and the positive calibrated by `calibration` (gSASRec); or `bce` as published in 2018, one item that the
    user lacks for each place. With `bce` SASRec loses a quarter of its nDCG on ml-1m: do not use it as the baseline of
    a comparison. The layers normalise before attention, with GELU and dense layers of `inner` x `embedding` units (the
    paper: ReLU, `inner` = 1). `blocks = "ligr"` are the gated layers of eSASRec.
    """

    name: ClassVar[str] = "SASRec"
    source: ClassVar[str] = (
        "Kang & McAuley 2018, Self-Attentive Sequential Recommendation, ICDM; loss: Klenitskiy & Vasilev 2023, Turning "
        "Dross Into Gold Loss, RecSys; Petrov & Macdonald 2023, gSASRec, RecSys"
    )

    heads: int = choice((1, 2, 4), default=1, least=1)
    loss: str = fixed("softmax", among=LOSSES)
    negatives: int = fixed(256, least=1)
    calibration: float = fixed(0.75, least=0, most=1)
    blocks: str = fixed("plain", among=("plain", "ligr"))
    epochs: int = 200

    def network(self, events: Any) -> Attentive:
        """Vectors and layers."""
        return Attentive(self, events)

    def numbers(self, n_users: int, n_items: int, n_interactions: int) -> tuple[int, int]:
        """The vectors and layers; a batch in the layers and its scores, three times."""
        places = self.places(n_users, n_interactions)
        inside, held = self.layer_numbers(n_users, n_interactions)
        drawn = 1 if self.loss == "bce" else min(self.negatives, n_items)
        scores = min(3 * places * drawn, 4 * SCORES_AT_ONCE)
        if self.loss == "softmax":
            scores = softmax_numbers(places, n_items, settled_device(self.device, self.name))
        return inside + (n_items + 1) * self.embedding, held + scores


class ESASRec(SASRec):
    """SASRec with LiGR layers and sampled softmax (eSASRec): gates, SwiGLU and four times as wide dense layers."""

    name: ClassVar[str] = "eSASRec"
    source: ClassVar[str] = (
        "Tikhonovich, Zelinskiy, Petrov, Spirina, Semenov, Savchenko & Kuliev 2025, eSASRec: Enhancing "
        "Transformer-based Recommendations in a Modular Fashion, RecSys"
    )

    layers: int = whole(1, 3, default=1, least=1)
    dropout: float = real(0.1, 0.5, default=0.2, least=0, most=0.99)
    loss: str = fixed("sampled", among=LOSSES)
    blocks: str = fixed("ligr", among=("plain", "ligr"))


class Attentive(AttentionNetwork[SASRec]):
    """The network of `SASRec`."""

    def __init__(self, algorithm: SASRec, events: Sequences) -> None:
        super().__init__(algorithm, events)
        self.make(events, events.n_items + 1, gated=algorithm.blocks == "ligr", causal=True)

    def loss(self, batch: Any) -> Any:
        """The mean loss of the items that come next in a batch of windows."""
        algorithm, n_items = self.algorithm, self.events.n_items
        tokens, targets, filled = self.next_items(batch)
        known, items = self.read(tokens, algorithm.dropout), self.items[:n_items]
        targets = targets.clamp(max=n_items - 1)
        if algorithm.loss == "bce":
            others = self.events.negatives(self.owner[batch], tokens.shape[1])
            known, targets, others, weight = self.to_learn(filled, known, targets, others)
            return binary_loss(known, items, targets, weight, others)
        known, targets, weight = self.to_learn(filled, known, targets)
        if algorithm.loss == "softmax":
            return softmax_loss(known, items, targets, weight)
        others = self.events.some_items(algorithm.negatives)
        if algorithm.loss == "sampled":
            return sampled_loss(known, items, targets, weight, others)
        return gbce_loss(known, items, targets, weight, others, algorithm.calibration)
