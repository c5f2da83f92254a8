"""Recommended lists as a table: by the ids of the user's own file."""

from __future__ import annotations

import numpy as np
import polars as pl

from recassay.core import columns as c
from recassay.core.types import Interactions, TopK


def list_rows(top: TopK, train: Interactions) -> pl.DataFrame:
    """One row per place: user and item by the ids of the user's own file, rank from 1, score."""
    row, place = np.nonzero(top.items >= 0)
    return pl.DataFrame(
        {
            c.USER: train.users.gather(top.users[row]),
            c.RANK: pl.Series((place + 1).astype(np.int32)),
            c.ITEM: train.items.gather(top.items[row, place]),
            c.SCORE: pl.Series(top.scores[row, place]),
        }
    )
