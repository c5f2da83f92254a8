"""What a model is to the training loop: weights, passes over the data with a loss each, and scores."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

from recassay.algorithms.kernels.device_lists import Score
from recassay.algorithms.kernels.torch_when_used import torch
from recassay.algorithms.neural.chance import Chance
from recassay.algorithms.neural.events import Events


class Weights:
    """Something that is learned: its attributes that are tensors with gradients, and those of `Weights` within it."""

    def parameters(self) -> Iterator[Any]:
        """Every learned tensor, in the order of the attributes."""
        for value in vars(self).values():
            yield from _learned(value)

    def frozen(self) -> Self:
        """A copy whose learned tensors are copied and learn no more; everything else is shared."""
        made = copy.copy(self)
        for name, value in vars(self).items():
            setattr(made, name, _frozen(value))
        return made


class Dense(Weights):
    """A fully connected layer, x W' + b; W as Xavier (normal), b zero or normal with the deviation `bias_deviation`."""

    def __init__(self, n_in: int, n_out: int, chance: Chance, *, bias_deviation: float = 0.0) -> None:
        self.weight = learned(chance.normal(n_out, n_in) * (2 / (n_in + n_out)) ** 0.5)
        self.bias = learned(chance.normal(n_out) * bias_deviation)

    def __call__(self, x: Any) -> Any:
        """The layer's answer to the rows of `x`."""
        return torch.nn.functional.linear(x, self.weight, self.bias)


@dataclass(frozen=True, slots=True)
class Pass:
    """One way through the data: batches of `among`, whose `loss` moves the parameters of `weights`."""

    loss: Callable[[Any], Any]
    among: Any
    weights: str = "all"


class Network(Weights, ABC):
    """A model of the events of one training set."""

    optimiser: str = "Adam"
    """A class of `torch.optim`."""
    half_precision: bool = False
    """Whether the loss may be computed with bfloat16 products on a GPU (weights and sums stay float32)."""
    recordable: bool = False
    """Whether a step on a GPU may be recorded once and replayed: every loss makes the same operations on tensors of the
    same places and shapes, asks the host for nothing, and does not read `progress`."""

    def __init__(self, events: Events) -> None:
        self.events, self.chance = events, events.chance
        self.progress = 0.0
        """Epochs done so far, with fractions; the training loop moves it on."""

    @abstractmethod
    def passes(self) -> Sequence[Pass]:
        """What the epoch that begins now consists of."""

    def groups(self) -> dict[str, tuple[list[Any], float]]:
        """By the names that passes use, parameters with an optimiser of their own, and their share of the rate."""
        return {"all": (list(self.parameters()), 1.0)}

    @abstractmethod
    def scorer(self) -> Score:
        """The scores as they are now; training on does not change them."""


def learned(values: Any) -> Any:
    """`values` as a tensor that training changes."""
    return values.detach().clone().requires_grad_(True)


def _learned(value: Any) -> Iterator[Any]:
    if isinstance(value, Weights):
        yield from value.parameters()
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _learned(part)
    elif isinstance(value, torch.Tensor) and value.requires_grad and value.is_leaf:
        yield value


def _frozen(value: Any) -> Any:
    if isinstance(value, Weights):
        return value.frozen()
    if isinstance(value, list | tuple):
        return type(value)(_frozen(part) for part in value)
    if isinstance(value, torch.Tensor) and value.requires_grad:
        return value.detach().clone()
    return value
