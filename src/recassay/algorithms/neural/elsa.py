"""ELSA: a linear autoencoder of low rank, for catalogues whose items x items matrix is too large."""

from __future__ import annotations

from typing import Any, ClassVar

from recassay.algorithms.kernels.device import torch
from recassay.algorithms.neural.algorithm import NeuralAlgorithm
from recassay.algorithms.neural.events import Events
from recassay.algorithms.neural.network import ProfileNetwork, unit_length, xavier
from recassay.core.specs.search import real, whole


class ELSA(NeuralAlgorithm):
    """Scalable linear shallow autoencoder: scores x_u (A A' - I), each row of A (items x `rank`) of length 1.

    Minimises the squared distance between the profile and relu(x_u (A A' - I)), both brought to unit length, by Nadam
    (section 3; the diagonal of A A' - I is zero, as that of EASE's weights). Memory grows with items x `rank`.
    """

    name: ClassVar[str] = "ELSA"
    source: ClassVar[str] = "Vančura, Alves, Kasalický & Kordík 2022, Scalable Linear Shallow Autoencoder, RecSys"

    rank: int = whole(64, 1024, default=256, log=True)
    rate: float = real(1e-3, 1.0, default=0.1, log=True)
    epochs: int = 30
    batch: int = 1024

    def network(self, events: Events) -> LowRank:
        """The matrix A."""
        return LowRank(self, events)

    def numbers(self, n_users: int, n_items: int, n_interactions: int) -> tuple[int, int]:
        """Items x rank; the profiles of a batch and what is computed from them."""
        return self.rank * n_items, 6 * min(self.batch, n_users) * n_items


class LowRank(ProfileNetwork[ELSA]):
    """The network of `ELSA`."""

    optimiser = "NAdam"

    def __init__(self, algorithm: ELSA, events: Events) -> None:
        super().__init__(algorithm, events)
        self.factors = xavier(events.n_items, algorithm.rank, self.chance)

    def loss(self, users: Any) -> Any:
        """Squared distance of unit vectors, mean over users."""
        profiles = self.events.profiles(users)
        answer = torch.relu(self.answer(users, profiles)).float()
        return (unit_length(answer) - unit_length(profiles)).square().sum(1).mean()

    def answer(self, users: Any, profiles: Any) -> Any:
        """x (A A' - I)."""
        factors = unit_length(self.factors)
        return (profiles @ factors) @ factors.T - profiles
