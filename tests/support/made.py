"""Small things that several test files make."""

from __future__ import annotations

from types import SimpleNamespace as Made

import numpy as np

from recassay.core.histories import Histories
from recassay.core.interactions import Interactions
from recassay.core.seeds import derived_rng
from recassay.testing.examples import example_interactions


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def everyone(train: Interactions) -> np.ndarray:
    return np.arange(train.n_users, dtype=np.int32)


def histories(sequences: list[list[int]]) -> Histories:
    items = np.array([item for sequence in sequences for item in sequence], dtype=np.int32)
    return Histories(items, np.cumsum([0, *map(len, sequences)]).astype(np.int64))


def random_events(n_users: int = 12, n_items: int = 9, share: float = 0.4, seed: int = 3) -> Interactions:
    user, item = np.nonzero(derived_rng(seed, "events").random((n_users, n_items)) < share)
    return example_interactions(user, item, n_users=n_users, n_items=n_items)


def framed(*rows):
    """A frame that has these rows."""
    return Made(to_dicts=lambda: [dict(row) for row in rows])


def lines_of(text):
    return [" ".join(line.split()) for line in text.splitlines()]
