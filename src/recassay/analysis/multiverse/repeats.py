"""What repeats of a cell say: whether the order drifts over windows of time, and which seeds move the values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations, product
from math import factorial

import numpy as np
import polars as pl

from recassay.core import columns as c
from recassay.core import ties
from recassay.core.types import FloatArray

WINDOW = "window"
"""The column of a window of time, a number from the earliest on; not a choice but a repeat, unless named as an axis."""

SEED_AXES = ("split_seed", "tuning_seed", "fit_seed", "seed")
"""Seeds in the order of the work: each acts on what those before it have made."""

PERMUTATIONS = 1999
RESAMPLES = 400


@dataclass(frozen=True, slots=True)
class Drift:
    """Whether the order of the algorithms drifts over windows of time."""

    windows: int
    """How many windows there are."""
    datasets: int
    """How many datasets have all of them."""
    p: float
    """Share of orders of the windows, drawn at random per dataset, in which near windows are as much alike."""
    neighbours: float
    """Mean distance of the ranks (root mean square over algorithms) between a window and the next."""
    ends: float
    """The same between the first and the last window."""
    smallest_p: float
    """The smallest p that these windows would have in any order: few algorithms often tie."""
    slopes: dict[str, float]
    """By algorithm, how many ranks it loses (above 0) or gains from the first window to the last, by least squares."""


@dataclass(frozen=True, slots=True)
class SeedShare:
    """How much one kind of seed moves the values of a cell."""

    seed: str
    """Which: `split_seed`, `tuning_seed`, `fit_seed`, or `seed`."""
    share: float
    """Of the variance that all seeds together cause."""
    interval: tuple[float, float]
    """The 95 % interval of the share."""
    deviation: float
    """Standard deviation that it causes, relative to the mean of the cell."""
    swing: float
    """The largest difference between two values that differ in seeds alone, relative to their mean; of all seeds."""


def drift_test(ranks: FloatArray, algorithms: Sequence[str], rng: np.random.Generator) -> Drift | None:
    """Whether windows near in time rank alike (ranks: algorithms x datasets x windows; NaN: missing).

    The statistic is Mantel's: the sum over datasets and pairs of windows of their distance in time times the squared
    distance of their ranks. If time did not matter, the windows of a dataset would be exchangeable; so their order is
    permuted, within each dataset: in every way where there are few, else at random. An order and its reverse are one.
    Needs three windows and a dataset that has all of them.
    """
    known = np.isfinite(ranks).all(axis=(0, 2))
    table = ranks[:, known]
    k, n, w = table.shape
    if w < 3 or not n:
        return None
    squares = ((table[:, :, :, None] - table[:, :, None, :]) ** 2).mean(axis=0)
    squares = squares[
        np.lexsort(squares.reshape(n, -1).T.round(9)[::-1])
    ]  # names of datasets have no part in what is drawn
    time = np.abs(np.subtract.outer(np.arange(w), np.arange(w)))
    observed = float((squares * time).sum())
    if factorial(w) ** n <= PERMUTATIONS:
        orders = np.array(list(product(permutations(range(w)), repeat=n)))
    else:
        orders = rng.permuted(np.tile(np.arange(w), (PERMUTATIONS, n, 1)), axis=2)
        orders[0] = np.arange(w)  # as observed
    drawn = np.zeros(len(orders))
    for d in range(n):
        order = orders[:, d]
        drawn += (squares[d][order[:, :, None], order[:, None, :]] * time).sum(axis=(1, 2))
    place = np.arange(w) - (w - 1) / 2
    slopes = (table.mean(axis=1) @ place) / (place**2).sum() * (w - 1)
    return Drift(
        windows=w,
        datasets=n,
        p=float((drawn >= observed - 1e-9).mean()),
        neighbours=float(np.sqrt(squares[:, np.arange(w - 1), np.arange(1, w)]).mean()),
        ends=float(np.sqrt(squares[:, 0, -1]).mean()),
        smallest_p=float((drawn >= drawn.max() - 1e-9).mean()),
        slopes={name: float(slopes[a]) for a, name in enumerate(algorithms[:k])},
    )


def window_ranks(frame: pl.DataFrame, keys: Sequence[str], directions: dict[str, bool], label: str) -> tuple[
    FloatArray, tuple[str, ...]
]:  # fmt: skip
    """Ranks by algorithm, dataset and window, averaged over the universes (`keys`); NaN where any is missing."""
    frame = frame.filter(pl.col(WINDOW) != "(none)").with_columns(pl.col(WINDOW).cast(pl.Float64, strict=False))
    names = tuple(sorted(frame.get_column(c.ALGORITHM).unique().to_list()))
    sign = pl.when(pl.col(label).replace_strict(directions, return_dtype=pl.Boolean)).then(-1.0).otherwise(1.0)
    wide = (
        frame.with_columns((pl.col(c.VALUE) * sign).alias(c.VALUE))
        .pivot(c.ALGORITHM, index=[*keys, label, c.DATASET, WINDOW], values=c.VALUE, aggregate_function="mean")
        .sort(WINDOW)
    )
    values = wide.select(names).to_numpy().astype(np.float64)
    rows = np.full(values.shape, np.nan)
    whole = np.isfinite(values).all(axis=1)
    if whole.any():
        rows[whole] = ties.ranks(values[whole], higher_is_better=False, axis=1)
    datasets, at = np.unique(wide.get_column(c.DATASET).to_numpy(), return_inverse=True)
    windows, when = np.unique(wide.get_column(WINDOW).to_numpy(), return_inverse=True)
    total, count = np.zeros((len(datasets), len(windows), len(names))), np.zeros((len(datasets), len(windows), 1))
    np.add.at(total, (at, when), rows)
    np.add.at(count, (at, when), 1.0)
    mean = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return np.moveaxis(mean, 2, 0), names


def seed_shares(frame: pl.DataFrame, keys: Sequence[str], rng: np.random.Generator) -> tuple[SeedShare, ...]:
    """The variance that seeds cause, divided among them (a nested analysis of variance of relative values).

    `frame` has one row per cell and seed; `keys` are the columns besides seeds that tell cells apart. The component of
    the last seed is the variance within all others; that of one before it is the variance between the means that it
    makes, less what the later seeds leave in those means. Negative estimates count as 0. The intervals are
    the wider ones of a bootstrap over cells, and of draws that know how alike a seed moves the cells of a dataset.
    """
    seeds = [name for name in SEED_AXES if name in frame.columns and frame.get_column(name).n_unique() > 1]
    if not seeds:
        return ()
    cell = [*keys, c.ALGORITHM, c.DATASET]
    frame = frame.with_columns(pl.col(c.VALUE) / pl.col(c.VALUE).mean().over(cell))
    frame = frame.filter(pl.col(c.VALUE).is_finite())
    table = frame.select(cell).unique(maintain_order=True)
    below = frame.select(*cell, *seeds, c.VALUE)
    for i in reversed(range(len(seeds))):
        level = below  # in the end: the means that the first seed makes
        groups = level.group_by([*cell, *seeds[:i]], maintain_order=True).agg(
            pl.col(c.VALUE).mean(), pl.col(c.VALUE).var().alias("variance"), pl.len().alias("size")
        )
        within = groups.drop_nulls("variance").group_by(cell, maintain_order=True)
        part = within.agg(pl.col("variance").mean().alias(f"v{i}"), (1 / (1 / pl.col("size")).mean()).alias(f"n{i}"))
        table = table.join(part, on=cell, how="left", nulls_equal=True)
        below = groups.select(*cell, *seeds[:i], c.VALUE)
    v, n = (table.select([f"{name}{i}" for i in range(len(seeds))]).to_numpy().astype(np.float64) for name in "vn")
    rows = np.flatnonzero(np.isfinite(v).all(axis=1))
    if not len(rows):
        return ()
    v, n = v[rows], n[rows]

    def parts(mean: FloatArray) -> FloatArray:
        later = np.concatenate([mean[..., 1:] / n.mean(axis=0)[1:], np.zeros((*mean.shape[:-1], 1))], axis=-1)
        return np.maximum(mean - later, 0.0)

    variances = parts(v.mean(axis=0))
    share = variances / max(variances.sum(), 1e-300)
    # Cells are resampled. What the first seed does may be common to the cells of a dataset (one split moves all
    # algorithms), so that they count as fewer: its variance is drawn with the degrees of freedom that are left.
    together = level.group_by(c.DATASET, seeds[0], maintain_order=True).agg(pl.col(c.VALUE).mean())
    by_dataset = together.group_by(c.DATASET, maintain_order=True).agg(pl.col(c.VALUE).var())
    common = by_dataset.get_column(c.VALUE).mean() or 0.0
    datasets = together.get_column(c.DATASET).n_unique()
    cells = len(v) / datasets
    alike = np.clip((cells * float(common) / max(float(v[:, 0].mean()), 1e-300) - 1) / max(cells - 1, 1), 0.0, 1.0)  # type: ignore[arg-type]
    degrees = len(v) * float(n[:, 0].mean() - 1) / (1 + (cells - 1) * alike**2)
    resampled = v[rng.integers(0, len(v), (RESAMPLES, len(v)))].mean(axis=1)
    counted = resampled.copy()
    counted[:, 0] = v[:, 0].mean() * degrees / rng.chisquare(degrees, RESAMPLES)
    drawn = parts(np.stack([resampled, counted]))
    shares = drawn / np.maximum(drawn.sum(axis=2, keepdims=True), 1e-300)
    limits = np.quantile(shares, [0.025, 0.975], axis=1)
    low, high = limits[0].min(axis=0), limits[1].max(axis=0)
    extent = frame.group_by(cell).agg(pl.col(c.VALUE).max() - pl.col(c.VALUE).min()).get_column(c.VALUE).max()
    return tuple(
        SeedShare(
            seed=name,
            share=float(share[i]),
            interval=(float(low[i]), float(high[i])),
            deviation=float(np.sqrt(variances[i])),
            swing=float(extent),  # type: ignore[arg-type]
        )
        for i, name in enumerate(seeds)
    )
