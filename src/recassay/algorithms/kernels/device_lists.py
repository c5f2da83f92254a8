"""Lists from scores that torch computes: on a GPU they are masked and cut there, and only the top k comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from recassay.algorithms.kernels.device import reproducible, torch
from recassay.algorithms.kernels.scoring import ScoreRecommender
from recassay.core.errors import InputError
from recassay.core.ranking import tie_order
from recassay.core.types import Float32Array, IdArray, Recommender, TopK

USERS_AT_ONCE = 1024
"""Users that a GPU scores together."""

SCORE_BYTES = 512 << 20
"""What the scores of one block may take on a GPU; a catalogue of more than 131,072 items gets smaller blocks."""

Score = Callable[[Any], Any]
"""From users (an int64 tensor) to their scores of all items (a float32 tensor, users x items)."""


def torch_recommender(score: Score, *, n_items: int, rng: np.random.Generator, device: str) -> Recommender:
    """Lists by `score`, whose tensors live on `device`; equal scores stand in the order of `ScoreRecommender`."""
    if device != "cpu":
        return DeviceRecommender(score, n_items=n_items, rng=rng, device=device)

    def on_host(users: IdArray) -> Float32Array:
        with reproducible(), torch.no_grad():
            answer: Float32Array = score(torch.from_numpy(users.astype(np.int64))).numpy()
        return answer

    return ScoreRecommender(on_host, n_items=n_items, rng=rng)


def gpu_scoring_bytes(n_items: int) -> int:
    """The GPU memory of `recommend` beside the model: scores, their sort keys twice, and masks."""
    return 6 * 4 * _block_rows(n_items) * max(n_items, 1)


class TieKeys:
    """A fixed order of the items among which scores are equal, and the best items of rows of scores by it."""

    def __init__(self, place: IdArray, device: str) -> None:
        self._key = (1 << 31) - torch.from_numpy(place.astype(np.int64)).to(device)

    def top(self, scores: Any, k: int) -> tuple[IdArray, Float32Array]:
        """(items, scores) of the k best of every row on the host; -1 for an item whose score is -inf.

        A score and the item's place make one whole number, in the order of both: there are no ties left that an
        implementation of top-k could break in its own way.
        """
        bits = (scores + 0.0).contiguous().view(torch.int32)
        ordered = (bits ^ ((bits >> 31) & 0x7FFFFFFF)).long() << 32
        place = torch.topk(ordered + self._key, k, dim=1).indices
        best = scores.gather(1, place)
        items = torch.where(best == -torch.inf, -1, place).to(torch.int32)
        return items.cpu().numpy(), best.cpu().numpy()


class DeviceRecommender:
    """See `torch_recommender`. Blocks have a fixed number of users, so that products round alike in any batch."""

    def __init__(self, score: Score, *, n_items: int, rng: np.random.Generator, device: str) -> None:
        self._score, self._n_items, self._device = score, n_items, device
        self._ties = TieKeys(tie_order(n_items, rng), device)

    def recommend(self, users: IdArray, k: int, *, exclude: csr_array | None) -> TopK:
        """The k best items for each of `users`; see `Recommender`."""
        top = TopK.empty(users, k)
        rows, width = _block_rows(self._n_items), min(k, self._n_items)
        with reproducible(), torch.no_grad():
            for start in range(0, len(users), rows):
                part = slice(start, start + rows)
                block = users[part]
                filled = np.concatenate([block, np.repeat(block[-1:], rows - len(block))]).astype(np.int64)
                best = self._top(filled, len(block), width, None if exclude is None else exclude[block])
                top.items[part, :width], top.scores[part, :width] = best
        return top

    def _top(self, users: Any, kept: int, k: int, exclude: csr_array | None) -> tuple[IdArray, Float32Array]:
        scores = self._score(torch.from_numpy(users).to(self._device))[:kept].float()
        if bool(torch.isnan(scores).any()):
            raise InputError("a score is not a number", fix="use a smaller rate")
        if exclude is not None:
            row = torch.from_numpy(np.repeat(np.arange(kept), np.diff(exclude.indptr))).to(self._device)
            item = torch.from_numpy(exclude.indices.astype(np.int64)).to(self._device)
            scores[row, item] = -torch.inf
        return self._ties.top(scores, k)


def _block_rows(n_items: int) -> int:
    return max(1, min(USERS_AT_ONCE, SCORE_BYTES // max(4 * n_items, 1)))
