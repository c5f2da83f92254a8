"""RaCT: a variational autoencoder whose last training is led by a critic that has learned to predict nDCG."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar

from recassay.algorithms.kernels.device import torch
from recassay.algorithms.neural.events import Events
from recassay.algorithms.neural.multivae import MultiVAE, Variational
from recassay.algorithms.neural.network import Dense, Pass, unit_length
from recassay.core.specs.search import real, whole

CRITIC_SIZES = (3, 100, 100, 10, 1)
MEMORY = 0.99
"""How much of the running mean and variance of the critic's inputs a batch keeps."""


class RaCT(MultiVAE):
    """Ranking-critical training of `MultiVAE`, in three stages.

    For a user whose profile is split at random (by `dropout`) into the items that are shown and those held out, the
    critic (layers 100, 100, 10, a sigmoid) predicts the nDCG@`depth` of the actor's ranking of the held-out items from
    three numbers: how many items are shown, how many are held out, and the actor's likelihood (section 3.2).

    1. For `actor_epochs`, the actor is trained as MultiVAE.
    2. For `critic_epochs`, the critic alone learns, by squared error.
    3. From then on both: the actor follows the critic's gradient at `critic_share` times `rate`, the critic learns on.

    Training that ends before the third stage is an actor alone, as in the published Bi-ReIRT run.
    """

    name: ClassVar[str] = "RaCT"
    aliases: ClassVar[tuple[str, ...]] = ()
    source: ClassVar[str] = "Lobel, Li, Gao & Carin 2020, RaCT: Toward Amortized Ranking-Critical Training, ICLR"

    latent: int = whole(32, 256, default=128, step=32)
    anneal_cap: float = real(0.0, 1.0, default=0.2)
    dropout: float = real(0.0, 0.7, default=0.5, least=0, most=0.99)
    rate: float = real(1e-5, 1e-2, default=1e-3, log=True)
    critic_share: float = real(1e-3, 1.0, default=0.1, log=True)
    actor_epochs: int = 60
    critic_epochs: int = 10
    depth: int = 100
    batch: int = 500

    def network(self, events: Events) -> CriticalVariational:
        """Actor and critic."""
        return CriticalVariational(self, events)


class CriticalVariational(Variational):
    """The network of `RaCT`."""

    algorithm: RaCT

    def __init__(self, algorithm: RaCT, events: Events) -> None:
        super().__init__(algorithm, events)
        self.recordable = False
        self.critic = [Dense(before, after, self.chance) for before, after in pairwise(CRITIC_SIZES)]
        self.mean = torch.zeros(CRITIC_SIZES[0], device=events.device)
        self.variance = torch.ones(CRITIC_SIZES[0], device=events.device)

    def passes(self) -> Sequence[Pass]:
        """What the stage of training asks for."""
        self.anneal()
        users, epoch = self.among, self.epoch
        if epoch < self.algorithm.actor_epochs:
            return (Pass(self.loss, users, "actor"),)
        critic = Pass(self.critic_loss, users, "critic")
        if epoch < self.algorithm.actor_epochs + self.algorithm.critic_epochs:
            return (critic,)
        return Pass(self.led_loss, users, "led actor"), critic

    def groups(self) -> dict[str, tuple[list[Any], float]]:
        """The actor under its own loss, the actor under the critic, and the critic."""
        actor = [p for part in (self.encoder, self.decoder) for layer in part for p in layer.parameters()]
        critic = [p for layer in self.critic for p in layer.parameters()]
        return {"actor": (actor, 1.0), "led actor": (actor, self.algorithm.critic_share), "critic": (critic, 1.0)}

    def critic_loss(self, users: Any) -> Any:
        """The squared error of the critic."""
        with torch.no_grad():
            features, scores, shown, held_out = self._played(users)
            reached = ndcg(scores, shown, held_out, self.algorithm.depth)
        return (self._judged(features) - reached).square().mean()

    def led_loss(self, users: Any) -> Any:
        """Minus the nDCG that the critic expects of the actor."""
        return -self._judged(self._played(users)[0]).mean()

    def _played(self, users: Any) -> tuple[Any, Any, Any, Any]:
        """(the critic's inputs, scores, shown items, held-out items) of a batch."""
        profiles = self.events.profiles(users)
        inputs = self.chance.dropout(unit_length(profiles), self.algorithm.dropout)
        shown, held_out = (inputs > 0).float(), profiles * (inputs == 0)
        scores, likelihood = self.scored(profiles, inputs)[:2]
        return torch.stack([shown.sum(1), held_out.sum(1), likelihood], dim=1), scores, shown, held_out

    def _judged(self, features: Any) -> Any:
        with torch.no_grad():
            for running, batch in (
                (self.mean, features.mean(0)),
                (self.variance, (features - self.mean).square().mean(0)),
            ):
                running.mul_(MEMORY).add_(batch.detach().float(), alpha=1 - MEMORY)
        x = (features - self.mean) * torch.rsqrt(self.variance + 1e-3)
        for layer in self.critic[:-1]:
            x = torch.relu(layer(x))
        return torch.sigmoid(self.critic[-1](x).float())[:, 0]


def ndcg(scores: Any, shown: Any, held_out: Any, depth: int) -> Any:
    """Per row, the nDCG of the held-out items in the first `depth` places, the shown ones left out."""
    depth = min(depth, scores.shape[1])
    first = torch.topk(scores.float().masked_fill(shown > 0, -torch.inf), depth, dim=1).indices
    discount = torch.log2(torch.arange(2.0, depth + 2, device=scores.device)).reciprocal()
    best = torch.nn.functional.pad(torch.tensor(discount.cpu().numpy().cumsum()), (1, 0)).to(scores.device)
    ideal = best[held_out.sum(1).long().clamp(max=depth)]
    return (held_out.gather(1, first) * discount).sum(1) / ideal.clamp(min=1e-9)
