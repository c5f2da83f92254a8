"""CDAE: a denoising autoencoder with a node of each user's own."""

from __future__ import annotations

from typing import Any, ClassVar

from recassay.algorithms.kernels.device import torch
from recassay.algorithms.neural.algorithm import NeuralAlgorithm
from recassay.algorithms.neural.events import Events
from recassay.algorithms.neural.network import Dense, ProfileNetwork, learned, rows
from recassay.core.specs.search import real, whole


class CDAE(NeuralAlgorithm):
    """Collaborative denoising autoencoder.

    h_u = sigmoid(W' x~_u + V_u + b), x~_u the profile with entries dropped (`corruption`) and the rest divided by
    1 - `corruption`; scores W2 h_u + b2 (equations 9 and 10). Minimises, per user, the logistic loss over the user's
    items and `negatives` times as many others, drawn again each time (section 3.4), plus `reg` / 2 times the squared
    weights; by Adagrad, as the paper does.
    """

    name: ClassVar[str] = "CDAE"
    folds_in: ClassVar[bool] = False
    source: ClassVar[str] = "Wu, DuBois, Zheng & Ester 2016, Collaborative Denoising Auto-Encoders, WSDM"

    latent: int = whole(32, 256, default=128, step=32)
    corruption: float = real(0.0, 0.8, default=0.2, least=0, most=0.99)
    reg: float = real(1e-5, 0.1, default=1e-4, log=True)
    rate: float = real(1e-3, 0.2, default=0.05, log=True)
    negatives: float = 5.0
    batch: int = 256

    def network(self, events: Events) -> UserDenoising:
        """Two layers and the vectors of the users."""
        return UserDenoising(self, events)

    def numbers(self, n_users: int, n_items: int, n_interactions: int) -> tuple[int, int]:
        """Two layers of items x latent, a vector for each user; the profiles of a batch and what comes of them."""
        return (2 * self.latent + 1) * n_items + self.latent * n_users, 7 * min(self.batch, n_users) * n_items


class UserDenoising(ProfileNetwork[CDAE]):
    """The network of `CDAE`."""

    optimiser = "Adagrad"
    personal = True

    def __init__(self, algorithm: CDAE, events: Events) -> None:
        super().__init__(algorithm, events)
        self.inner = Dense(events.n_items, algorithm.latent, self.chance)
        self.outer = Dense(algorithm.latent, events.n_items, self.chance)
        self.node = learned(self.chance.normal(events.n_users, algorithm.latent) * 0.01)

    def loss(self, users: Any) -> Any:
        """Logistic loss over items and drawn others, and the penalty."""
        profiles = self.events.profiles(users)
        share = self.algorithm.negatives * profiles.sum(1) / (self.events.n_items - profiles.sum(1)).clamp(min=1)
        counted = (profiles > 0) | (self.chance.uniform(*profiles.shape) < share[:, None])
        scores = self.answer(users, self.chance.dropout(profiles, self.algorithm.corruption)).float()
        losses = torch.nn.functional.softplus(torch.where(profiles > 0, -scores, scores)) * counted
        weights = (self.inner.weight, self.outer.weight, rows(self.node, users))
        penalty = sum(weight.square().sum() for weight in weights)
        return losses.sum(1).mean() + self.algorithm.reg / 2 * penalty

    def answer(self, users: Any, profiles: Any) -> Any:
        """Logits."""
        return self.outer(torch.sigmoid(self.inner(profiles) + rows(self.node, users)))
