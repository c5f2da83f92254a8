"""What a model is to the training loop: weights, passes over the data with a loss each, and scores.

Two kinds: networks on whole profiles, a row of ones and zeros per user; and networks that end in embeddings.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any, Generic, Self, TypeVar

from scipy.sparse import csr_array

from recassay.algorithms.kernels.device import torch
from recassay.algorithms.kernels.device_code import runs_triton
from recassay.algorithms.kernels.device_lists import Score
from recassay.algorithms.kernels.device_products import Profiles
from recassay.algorithms.neural.chance import Chance
from recassay.algorithms.neural.events import Events

Algorithm = TypeVar("Algorithm")

MOST_SUMMED = 1 << 24
"""Numbers of a table up to which its slopes are summed as whole numbers, which go through the whole table."""


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


class Network(Weights, ABC, Generic[Algorithm]):
    """A model of the events of one training set, with the parameters of its algorithm."""

    optimiser: str = "Adam"
    """A class of `torch.optim`."""
    decay: float = 0.0
    """Weight of half the squares of everything that is learned: the optimiser adds its slope, the loss lacks it."""
    half_precision: bool = False
    """Whether the loss may be computed with bfloat16 products on a GPU (weights and sums stay float32)."""
    recordable: bool = False
    """Whether a step on a GPU may be recorded once and replayed: every loss makes the same operations on tensors of the
    same places and shapes, asks the host for nothing, and does not read `epoch`."""

    def __init__(self, algorithm: Algorithm, events: Events) -> None:
        self.algorithm, self.events, self.chance = algorithm, events, events.chance
        self.among = events.pairs
        """What an epoch goes through: the events whose user lacks an item, or others, or users."""
        self.epoch = 0
        """Epochs done so far; the training loop moves it on."""

    def passes(self) -> Sequence[Pass]:
        """What the epoch that begins now consists of."""
        return (Pass(self.loss, self.among),)

    @abstractmethod
    def loss(self, batch: Any) -> Any:
        """The loss of a batch of `among`."""

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


class ProfileNetwork(Network[Algorithm]):
    """A network from profiles to scores; an epoch goes once through the users who have an item."""

    half_precision = True
    personal = False
    """Whether a user has weights of its own, so that nobody else can be scored."""

    def __init__(self, algorithm: Algorithm, events: Events) -> None:
        super().__init__(algorithm, events)
        self.among = events.active

    @abstractmethod
    def answer(self, users: Any, profiles: Any) -> Any:
        """The scores of all items, as a fitted model gives them."""

    def scorer(self) -> Score:
        """Scores by a frozen copy."""
        model = self.frozen()
        if self.personal:
            return lambda users: model.answer(users, model.events.profiles(users))
        return ProfileScore(model)


@dataclass(frozen=True, slots=True)
class ProfileScore:
    """The scores of a frozen network: of the users of training, or of the rows of other profiles."""

    model: ProfileNetwork[Any]

    def __call__(self, users: Any) -> Any:
        """The scores of users of training."""
        return self.model.answer(users, self.model.events.profiles(users))

    def of(self, rows: csr_array) -> Score:
        """The scores of these rows (rows x items, ones)."""
        profiles = Profiles(rows, self.model.events.device)
        return lambda asked: self.model.answer(asked, profiles.dense(asked))


def unit_length(vectors: Any) -> Any:
    """Rows divided by their Euclidean length; empty ones stay zero."""
    return torch.nn.functional.normalize(vectors, dim=1)


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


class EmbeddingNetwork(Network[Algorithm]):
    """A network whose answer is one vector for every user and item; an epoch goes once through the events."""

    @abstractmethod
    def embeddings(self) -> tuple[Any, Any]:
        """The vectors of all users and of all items by which a fitted model scores."""

    def scorer(self) -> Score:
        """Inner products of the embeddings as they are now."""
        users, items = (vectors.detach().clone() for vectors in self.embeddings())
        return lambda asked: users[asked] @ items.T


def rows(vectors: Any, chosen: Any) -> Any:
    """`vectors[chosen]`, with a gradient that is summed in a fixed order on every device."""
    if vectors.requires_grad and vectors.numel() <= MOST_SUMMED and runs_triton(vectors.device):
        return _rows().apply(vectors, chosen)
    return torch.nn.functional.embedding(chosen, vectors)


def summed_rows(place: Any, values: Any, n: int) -> Any:
    """n rows: row r is the sum of the rows of `values` whose `place` is r; in a fixed order on every device."""
    if runs_triton(values.device):
        from recassay.algorithms.kernels.row_gradients import summed_rows as summed

        return summed(place, values, n)
    return torch.ops.aten.embedding_dense_backward(values, place, n, -1, False)


@cache
def _rows() -> Any:
    """The differentiable choice of rows; the class is made when torch is there."""

    class Rows(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(context: Any, vectors: Any, chosen: Any) -> Any:
            context.chosen, context.shape = chosen, vectors.shape
            return torch.nn.functional.embedding(chosen, vectors.detach())

        @staticmethod
        def backward(context: Any, slope: Any) -> Any:
            n, size = context.shape
            return summed_rows(context.chosen.flatten(), slope.reshape(-1, size).float(), n), None

    return Rows


def xavier(n: int, size: int, chance: Chance) -> Any:
    """Learned vectors, even numbers in +- sqrt(6 / (n + size))."""
    return learned((2 * chance.uniform(n, size) - 1) * (6 / max(n + size, 1)) ** 0.5)


def ranking_loss(users: Any, better: Any, worse: Any) -> Any:
    """BPR: the mean of - ln sigmoid(u . i - u . j) over the rows."""
    return torch.nn.functional.softplus((users * (worse - better)).sum(1)).mean()


def half_squares(*vectors: Any) -> Any:
    """Half the sum of squares, per row."""
    return sum(v.square().sum() for v in vectors) / (2 * max(len(vectors[0]), 1))
