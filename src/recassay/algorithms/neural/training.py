"""The one training loop: epochs of passes of batches, on any device, the same numbers for the same seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recassay.algorithms.kernels.device import reproducible
from recassay.algorithms.kernels.device_lists import torch_recommender
from recassay.algorithms.kernels.torch_when_used import torch
from recassay.algorithms.neural.chance import Chance
from recassay.algorithms.neural.events import Events
from recassay.algorithms.neural.network import Network, Pass
from recassay.algorithms.neural.steps import Steps
from recassay.core.errors import RecAssayError
from recassay.core.types import IdArray, Interactions, Recommender, TopK


class TrainedRecommender:
    """A recommender that says after how many epochs it stands."""

    def __init__(self, lists: Recommender, iterations: int) -> None:
        self._lists, self.iterations = lists, iterations

    def recommend(self, users: IdArray, k: int, *, exclude: Any) -> TopK:
        """The k best items for each of `users`; see `Recommender`."""
        return self._lists.recommend(users, k, exclude=exclude)


class NeuralTraining:
    """A network under training; see `stages.Training`."""

    def __init__(
        self,
        make: Callable[[Events], Network],
        train: Interactions,
        *,
        batch: int,
        rate: float,
        device: str,
        rng: np.random.Generator,
    ) -> None:
        self._rng, self._batch, self._device = rng, batch, device
        with reproducible():
            self.events = Events(train.csr(), Chance(rng, device))
            self.network = make(self.events)
            self._steps = Steps(self.network, rate=rate, batch=batch, device=device)
        self._done = 0

    def advance(self, iterations: int) -> None:
        """So many further epochs; a loss that is no longer finite raises."""
        with reproducible(), self._steps.stream():
            for _ in range(iterations):
                self.network.progress = float(self._done)
                passes = self.network.passes()
                total = torch.zeros((), device=self._device)
                for number, one in enumerate(passes):
                    total += self._go_through(one, number / len(passes), 1 / len(passes))
                self._done += 1
                if not bool(torch.isfinite(total)):
                    raise RecAssayError(f"the loss is not finite after epoch {self._done}", fix="use a smaller rate")

    def _go_through(self, one: Pass, before: float, share: float) -> Any:
        """One pass: the sum of its losses."""
        batches = -(-len(one.among) // self._batch)
        total = torch.zeros((), device=self._device)
        for number, batch in enumerate(self.events.batches(one.among, self._batch) if batches else ()):
            self.network.progress = self._done + before + share * number / batches
            total += self._steps.take(one, batch)
        return total

    def model(self) -> TrainedRecommender:
        """The model as it is now; training on does not change it."""
        with reproducible(), torch.no_grad():
            score = self.network.scorer()
        lists = torch_recommender(score, n_items=self.events.n_items, rng=self._rng, device=self._device)
        return TrainedRecommender(lists, self._done)
