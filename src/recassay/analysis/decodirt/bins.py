"""The table of datasets and its equal bins (Cardoso et al., Table 4 and Figures 7, 8, 10 and 14 to 16)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from recassay.analysis.decodirt.traits import DatasetTraits
from recassay.core import columns as c
from recassay.core.tabular import by_name
from recassay.core.types import FloatArray, IntArray

BINS = 6
FEWEST = 2
"""Datasets in a bin, at least: with fewer than twelve there are fewer than six bins."""

PARAMETERS = ("difficulty", "discrimination", "guessing")
STATISTICS = tuple(form.format(name) for name in PARAMETERS for form in ("mean_{}", "median_{}", "{}_deviation"))
"""The statistics of the items of a dataset: those of its table, and those that are correlated with its properties."""


@dataclass(frozen=True, slots=True, eq=False)
class Bin:
    """Datasets that follow each other in some order, and means over them."""

    number: int
    """Its number, from 1 on."""
    datasets: tuple[str, ...]
    low: float
    """The least value of the property in it."""
    high: float
    """The largest."""
    parameters: dict[str, float]
    """The means of the item parameters."""
    probability: dict[str, float]
    """The mean probability of a right answer of each rated classifier; it has none where it answered no dataset."""


def equal_bins(values: FloatArray, most: int = BINS, *, descending: bool = False) -> list[IntArray]:
    """Positions of the finite values, sorted and cut into bins of equal size (the first ones larger by one).

    There are `most` bins, fewer where a bin would hold fewer than `FEWEST` datasets. Equal values share a bin: a cut
    between two of them moves to the nearer end of their run, and falls away at the ends of the row or on another cut.
    """
    known = np.flatnonzero(np.isfinite(values))
    if len(known) == 0:
        return []
    order = known[np.argsort(-values[known] if descending else values[known], kind="stable")]
    steps = np.flatnonzero(np.diff(values[order]) != 0) + 1
    edges = np.array([0, *steps, len(order)])
    cuts = np.cumsum([len(part) for part in np.array_split(order, max(1, min(most, len(order) // FEWEST)))])[:-1]
    moved = edges[np.abs(cuts[:, None] - edges[None, :]).argmin(axis=1)] if len(cuts) else cuts
    inner = np.unique(moved[(moved > 0) & (moved < len(order))])
    return list(np.split(order, inner))


def make_bins(
    traits: Sequence[DatasetTraits],
    values: FloatArray,
    players: Sequence[str],
    most: int = BINS,
    *,
    descending: bool = False,
) -> Iterator[Bin]:
    """Bins of the datasets by `values`, each with means of the item parameters and probabilities of right answers."""
    statistics = [dataset.statistics() for dataset in traits]
    for number, at in enumerate(equal_bins(values, most, descending=descending), start=1):
        means = {name: _mean([statistics[i][f"mean_{name}"] for i in at]) for name in PARAMETERS}
        means["negative_share"] = _mean([statistics[i]["negative_share"] for i in at])
        chances = [by_name(traits[i].probabilities(negative=True), traits[i].respondents) for i in at]
        rated = dict.fromkeys(name for chance in chances for name in players if name in chance)
        yield Bin(
            number=number,
            datasets=tuple(traits[i].dataset for i in at),
            low=float(values[at].min()),
            high=float(values[at].max()),
            parameters=means,
            probability={name: _mean([chance[name] for chance in chances if name in chance]) for name in rated},
        )


def _mean(values: Sequence[float]) -> float:
    known = [value for value in values if np.isfinite(value)]
    return float(np.mean(known)) if known else float("nan")


def dataset_table(traits: Sequence[DatasetTraits], bins: Sequence[Bin]) -> pl.DataFrame:
    """One row per dataset, hardest first; datasets without a difficulty (nothing varies) come last and have no bin."""
    place = {name: group.number for group in bins for name in group.datasets}
    rows = []
    for dataset in traits:
        statistics = dataset.statistics()
        rows.append(
            {
                c.DATASET: dataset.dataset,
                "bin": place.get(dataset.dataset),
                "instances": len(dataset.kept),
                "constant_instances": int(dataset.fit.constant.sum()),
                "respondents": len(dataset.respondents),
                **{name: statistics[name] for name in STATISTICS},
                "negative_share": statistics["negative_share"] if dataset.varied else float("nan"),
                "clearly_negative_share": statistics["clearly_negative_share"],
                "converged": dataset.fit.converged,
                "cycles": dataset.fit.cycles,
            }
        )
    frame = pl.DataFrame(rows, schema_overrides={"bin": pl.Int64}).fill_nan(None)
    return frame.sort("mean_difficulty", c.DATASET, descending=[True, False], nulls_last=True)
