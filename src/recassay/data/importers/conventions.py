"""What other frameworks call their metrics, and how they compute them.

A convention is written `name: words`. Two rows of one metric can be compared where the names are the same; the names
are those of our own variants (`recassay list metrics`) where a framework computes what one of them does. What is
another quantity altogether gets another label: a count of hits is not a hit rate. What is only turned is turned back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from recassay.core import columns as c
from recassay.core.names import canonical
from recassay.core.tables.labels import normal_label
from recassay.data.tables.labels import has_cutoff, own_name, spelled

BINARY = "ideal_min: gains of 1, the ideal list has min(k, relevant) hits"
IDEAL_K = "ideal_k: gains of 1, the ideal list has k hits for every user"
LINEAR = "graded_linear: gains are the ratings, the ideal list holds the best rated"
EXPONENTIAL = "graded_exponential: gains are 2^(rating - threshold + 1) - 1, the ideal list holds the best rated"
LOG_RANK = "log2_rank: gains of 1, divided by log2 of the rank, so that the first two places count the same"
BY_MIN = "by_min: divided by min(k, relevant)"
BY_RELEVANT = "by_relevant: divided by the number of relevant items"
BY_K = "by_k: divided by k"
MEAN_PRECISION = "mean_precision: the mean of precision@1 to precision@k"
WHOLE_LIST = "whole_list: over the whole ranking, without a cut-off"
FIRST = "first: the first hit within the first k counts"
ANY = "any: one hit is enough"
SHARE = "catalogue: of all items of the catalogue"
COUNT = "count: the number of training interactions of an item"


@dataclass(frozen=True, slots=True)
class Known:
    """A metric of a framework: our name for it, its convention, and whether the value is 1 minus ours."""

    name: str
    convention: str = ""
    turned: bool = False


ACCURACY: Mapping[str, Known] = {
    "precision": Known("precision", BY_K),
    "recall": Known("recall", BY_RELEVANT),
    "hitrate": Known("hitrate", ANY),
    "mrr": Known("mrr", FIRST),
}
"""What nearly all compute alike."""


def accuracy(*, ndcg: str, map: str = "", **others: Known) -> dict[str, Known]:
    """The usual metrics of a framework by our names, with its nDCG and MAP, and what else it has."""
    table = {**ACCURACY, "ndcg": Known("ndcg", ndcg)}
    if map:
        table["map"] = Known("map", map)
    return table | others


def with_conventions(
    frame: pl.DataFrame,
    table: Mapping[str, Known],
    *,
    framework: str,
    version: str | None = None,
    k: int | None = None,
    dataset: str | None = None,
) -> pl.DataFrame:
    """The frame with our labels, the framework, and the convention of each metric it is known for.

    `table` is by our name of a metric, or by the framework's own where we have none, in the form of `names.canonical`;
    `k` is the cut-off of every metric that names none; `dataset` is that of all rows, where it is given. A metric that
    nobody knows keeps its own name.
    """
    labels, conventions, turned = {}, {}, []
    for text in frame.get_column(c.METRIC).unique().to_list():
        metric = spelled(text)
        label = metric.label if metric is not None and not metric.deviation else own_name(text)
        base, _, cutoff = label.partition("@")
        known = table.get(canonical(base), Known(base))
        if not cutoff and k is not None and has_cutoff(known.name):
            cutoff = str(k)
        labels[text] = normal_label(f"{known.name}@{cutoff}" if cutoff else known.name)
        conventions[text] = known.convention or None
        if known.turned:
            turned.append(text)
    value = pl.when(pl.col(c.METRIC).is_in(turned)).then(1 - pl.col(c.VALUE)).otherwise(pl.col(c.VALUE))
    return frame.with_columns(
        value.alias(c.VALUE),
        pl.col(c.METRIC).replace_strict(conventions, return_dtype=pl.String).alias(c.CONVENTION),
        pl.lit(framework).alias(c.FRAMEWORK),
        pl.lit(version, dtype=pl.String).alias(c.VERSION),
        *([] if dataset is None else [pl.lit(dataset).alias(c.DATASET)]),
    ).with_columns(pl.col(c.METRIC).replace(labels))
