"""What algorithms on sequences have in common: histories on the device, what comes next, lists after any history."""

from __future__ import annotations

import copy
import math
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from recassay.algorithms.kernels.device import torch
from recassay.algorithms.kernels.device_lists import torch_recommender
from recassay.algorithms.neural.algorithm import NeuralAlgorithm
from recassay.algorithms.neural.chance import Chance
from recassay.algorithms.neural.events import Events
from recassay.algorithms.neural.network import Algorithm, Network, rows
from recassay.algorithms.neural.training import NeuralTraining, TrainedRecommender
from recassay.core.histories import Histories
from recassay.core.specs.search import fixed, whole
from recassay.core.types import IntArray, Interactions, Recommender, TopK


class Ordered:
    """Histories on a device; an item that stands for none is `n_items`."""

    def __init__(self, histories: Histories, n_items: int, device: str) -> None:
        self._items, self._ends, self.count = (
            torch.from_numpy(np.array(part, dtype=np.int64)).to(device)
            for part in (histories.items, histories.starts[1:], histories.lengths())
        )
        self._none, self._device = n_items, device

    def cut(self, which: Any, length: int) -> tuple[Any, Ordered]:
        """(of each prefix the history, the prefixes): the histories `which`, and what they were every `length` events
        before. The newest `length` items of all prefixes together are every event once, the oldest one left out."""
        cuts = (self.count[which] - 2).div(length, rounding_mode="floor") + 1
        history = which.repeat_interleave(cuts)
        later = torch.arange(len(history), device=self._device) - (cuts.cumsum(0) - cuts).repeat_interleave(cuts)
        made = copy.copy(self)
        made.count, made._ends = (part[history] - length * later for part in (self.count, self._ends))
        return history, made

    def windows(self, chosen: Any, length: int, *, at_end: bool) -> Any:
        """The newest `length` items of the `chosen` histories; shorter ones stand at the end, or at the beginning."""
        kept = self.count[chosen].clamp(max=length)[:, None]
        place = torch.arange(length, device=self._device) - (length - kept if at_end else 0)
        filled = (place >= 0) & (place < kept)
        event = (self._ends[chosen][:, None] - kept + place).clamp(min=0, max=max(len(self._items) - 1, 0))
        if not len(self._items):
            return torch.full(filled.shape, self._none, device=self._device)
        return torch.where(filled, self._items[event], self._none)


class Sequences(Events):
    """The events of training, as pairs and in the `order` of each user."""

    def __init__(self, train: Interactions, chance: Chance) -> None:
        super().__init__(train.csr(), chance)
        everyone = Histories.of(train, np.arange(train.n_users, dtype=np.int32))
        self.longest = int(everyone.lengths().max(initial=1))
        self.order = Ordered(everyone, self.n_items, self.device)
        # Of no history at all, the most popular items follow.
        self.popularity = self.item.bincount(minlength=self.n_items).float()


class SequenceNetwork(Network[Algorithm]):
    """A network that reads items in order; an epoch goes once through windows of `length` items that the histories of
    users with something to predict are cut into, so that each event is learned from once."""

    events: Sequences
    items: Any
    """Vectors of the items, by which they are read and scored, and of what stands for none."""
    at_end: ClassVar[bool] = True
    """Whether a history shorter than the window stands at its end."""

    def __init__(self, algorithm: Algorithm, events: Sequences) -> None:
        super().__init__(algorithm, events)
        self.length = min(getattr(algorithm, "length"), events.longest)  # noqa: B009
        teaching = torch.nonzero((events.order.count > 1) & (events.count < events.n_items)).flatten()
        self.owner, self.prefixes = events.order.cut(teaching, self.length)
        self.among = torch.arange(len(self.owner), device=events.device)
        self.room = room_for(self.prefixes.count.clamp(max=self.length).cpu().numpy(), getattr(algorithm, "batch"))  # noqa: B009

    @abstractmethod
    def read(self, tokens: Any, dropout: float) -> Any:
        """Windows x places x size: what is known at each place of windows of items."""

    def asked(self, order: Ordered, chosen: Any) -> Any:
        """The windows after which items are asked for."""
        return order.windows(chosen, self.length, at_end=self.at_end)

    def answer(self, order: Ordered, chosen: Any) -> Any:
        """The scores of all items after the `chosen` histories."""
        tokens = self.asked(order, chosen)
        known, count = self.read(tokens, 0.0), order.count[chosen]
        last = tokens.shape[1] - 1 if self.at_end else count.clamp(min=1, max=self.length) - 1
        newest = known.flatten(0, 1)[torch.arange(len(chosen), device=known.device) * tokens.shape[1] + last]
        scores = newest @ self.items[: self.events.n_items].T
        return torch.where((count > 0)[:, None], scores, self.events.popularity)

    def next_items(self, chosen: Any) -> tuple[Any, Any, Any]:
        """(items read, the item after each, whether there is one), windows x places."""
        window = self.prefixes.windows(chosen, self.length + 1, at_end=self.at_end)
        tokens, targets = window[:, :-1], window[:, 1:]
        none = self.events.n_items
        return tokens, targets, (tokens < none) & (targets < none)

    def to_learn(self, filled: Any, *of_places: Any) -> list[Any]:
        """What is at the places that count, and a weight of each that adds up to 1.

        A processor takes these alone. On a GPU all steps have one shape: the first `room` places, those that count
        before the others, which weigh nothing.
        """
        flat = [part.flatten(0, 1) for part in of_places]
        weight = (filled / filled.sum().clamp(min=1)).flatten()
        if self.events.device == "cpu":
            kept = torch.nonzero(filled.flatten()).flatten()
        else:
            kept = first_filled(filled.flatten(), self.room)
        return [*(rows(part, kept) if part.dim() > 1 else part[kept] for part in flat), weight[kept]]

    def scorer(self) -> Any:
        """Scores by a frozen copy, of the users of training."""
        return Scores(self.frozen(), self.events.order)


def room_for(filled: IntArray, batch: int) -> int:
    """How many places a batch of windows gets, of which each window fills some.

    n windows drawn by chance fill n mean +- sd sqrt(n); eight deviations more are room for practically every batch, and
    what is beyond them is not learned from in that step.
    """
    if not len(filled):
        return 1
    usual = batch * filled.mean() + 8 * filled.std() * batch**0.5
    return min(math.ceil(usual), batch * int(filled.max()))


def first_filled(filled: Any, room: int) -> Any:
    """`room` places in one shape for all batches: the filled ones in their order, then others."""
    return torch.argsort(filled.to(torch.uint8), descending=True, stable=True)[:room]


class Scores:
    """Scores of items after each of some histories."""

    def __init__(self, network: SequenceNetwork[Any], order: Ordered) -> None:
        self._network, self._order = network, order

    def __call__(self, chosen: Any) -> Any:
        """Histories x items."""
        return self._network.answer(self._order, chosen)

    def after(self, histories: Histories) -> Scores:
        """The same network after other histories."""
        events = self._network.events
        return Scores(self._network, Ordered(histories, events.n_items, events.device))


class SequenceRecommender(TrainedRecommender):
    """Lists by a network, for users of training and after any histories."""

    def __init__(self, scores: Scores, iterations: int, *, n_items: int, rng: np.random.Generator, device: str) -> None:
        self._scores, self._n_items, self._rng, self._device = scores, n_items, copy.deepcopy(rng), device
        super().__init__(self._lists_by(scores), iterations)

    def _lists_by(self, scores: Scores) -> Recommender:
        return torch_recommender(scores, n_items=self._n_items, rng=self._rng, device=self._device)

    def recommend_from(self, histories: Histories, k: int, *, exclude: csr_array | None) -> TopK:
        """The k best items after each history; see `FoldsIn`."""
        lists = self._lists_by(self._scores.after(histories))
        return lists.recommend(np.arange(len(histories), dtype=np.int32), k, exclude=exclude)


class SequenceTraining(NeuralTraining):
    """The training of a network that reads items in order."""

    def read(self, train: Interactions, chance: Chance) -> Sequences:
        """The events with their order."""
        return Sequences(train, chance)

    def model(self) -> SequenceRecommender:
        """The model of the averaged weights as they are now; training on does not change it."""
        scores, n_items = self.averaged(), self.events.n_items
        return SequenceRecommender(scores, self.done, n_items=n_items, rng=self.rng, device=self.device)


class SequenceAlgorithm(NeuralAlgorithm):
    """An algorithm that reads the newest `length` items of a history, and learns from all of them, cut into windows."""

    reads_order: ClassVar[bool] = True

    embedding: int = whole(32, 256, default=64, step=32)
    length: int = fixed(200, least=1)

    @abstractmethod
    def network(self, events: Any) -> SequenceNetwork[Any]:
        """A fresh network for the events."""

    def training(self, train: Interactions, rng: np.random.Generator) -> SequenceTraining:
        """A fresh network on its device, where the device has room for it."""
        device = self.device_for(train)
        return SequenceTraining(self.network, train, batch=self.batch, rate=self.rate, device=device, rng=rng)

    def places(self, n_users: int, n_interactions: int) -> int:
        """How many places a batch of windows has."""
        windows = n_users + max(n_interactions - n_users, 0) // self.length
        return min(self.batch, windows) * min(self.length, n_interactions)
