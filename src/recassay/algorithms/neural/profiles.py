"""What networks on whole profiles share: a user is a row of ones and zeros, and all items are scored at once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from recassay.algorithms.kernels.device_lists import Score
from recassay.algorithms.kernels.torch_when_used import torch
from recassay.algorithms.neural.chance import Chance
from recassay.algorithms.neural.network import Dense, Network, Pass


class ProfileNetwork(Network):
    """A network from profiles to scores; an epoch goes once through the users who have an item."""

    half_precision = True

    def passes(self) -> Sequence[Pass]:
        """All active users once."""
        return (Pass(self.loss, self.events.active),)

    @abstractmethod
    def loss(self, users: Any) -> Any:
        """The mean loss of a batch of users."""

    @abstractmethod
    def answer(self, users: Any, profiles: Any) -> Any:
        """The scores of all items, as a fitted model gives them."""

    def scorer(self) -> Score:
        """Scores by a frozen copy."""
        model = self.frozen()
        return lambda users: model.answer(users, model.events.profiles(users))


def unit_length(profiles: Any) -> Any:
    """Rows divided by their Euclidean length; empty ones stay zero."""
    return torch.nn.functional.normalize(profiles, dim=1)


def multinomial_loss(scores: Any, profiles: Any) -> Any:
    """Per user, minus the log likelihood of the items under softmax(scores): - sum_i x_i log pi_i."""
    return -(torch.log_softmax(scores.float(), dim=1) * profiles).sum(1)


def tower(sizes: Sequence[int], chance: Chance) -> list[Dense]:
    """Fully connected layers of these sizes, biases near zero as in the code of Liang et al."""
    return [Dense(a, b, chance, bias_deviation=0.001) for a, b in pairwise(sizes)]


def through(layers: Sequence[Dense], x: Any) -> Any:
    """`x` through the layers with tanh between them, not after the last."""
    for layer in layers[:-1]:
        x = torch.tanh(layer(x))
    return layers[-1](x)
