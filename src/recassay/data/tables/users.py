"""Results of single users as results of cells: the mean over users, with their deviation and number."""

from __future__ import annotations

import polars as pl

from recassay.core import columns as c


def mean_over_users(frame: pl.DataFrame) -> pl.DataFrame:
    """One row for each cell from one for each user: the mean, the deviation over users, and their number.

    The deviation over the square root of the number of users is the standard error of the mean, which is how the
    deviation and the runs of a row are used everywhere. Rows without a user are means already and stay as they are.
    """
    if c.USER not in frame.columns:
        return frame
    single = frame.filter(pl.col(c.USER).is_not_null())
    keys = [name for name in frame.columns if name not in (c.USER, c.VALUE, c.DEVIATION, c.RUNS)]
    value = pl.col(c.VALUE).drop_nans()
    means = single.group_by(keys, maintain_order=True).agg(
        value.mean().alias(c.VALUE), value.std().alias(c.DEVIATION), value.count().cast(pl.Int64).alias(c.RUNS)
    )
    rest = frame.filter(pl.col(c.USER).is_null()).drop(c.USER)
    return pl.concat([means, rest], how="diagonal_relaxed") if rest.height else means
