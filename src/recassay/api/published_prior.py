"""What the published tables say about the algorithms of a grid: the prior of an adaptive run."""

from __future__ import annotations

from functools import cache

import numpy as np

from recassay.analysis.adaptive.fit import (
    CellGrid,
    Prior,
    Table,
    as_evidence,
    dataset_features,
    prior_from,
    read_benchmark,
)
from recassay.core.names import canonical
from recassay.core.seeds import derived_rng
from recassay.core.tables.labels import split_label
from recassay.data.published.tables import PREFIX, published, published_characteristics, published_results

ACCURACY = ("ndcg", "recall", "precision", "map", "mrr", "hitrate")
"""Metrics that order algorithms much alike: where a table lacks one, its `FALLBACK` speaks for it."""

FALLBACK = "ndcg@10"

LEAST_DATASETS = 3

BETWEEN_BENCHMARKS = 0.25
"""The least variance of an algorithm's level between benchmarks; between the published tables it is 0.2 to 0.8."""


def published_prior(grid: CellGrid) -> Prior | None:
    """The prior from every published table that shares algorithms with the grid; None where none does.

    Datasets that the grid itself has are left out of the tables, so that no result is used twice.
    """
    own = frozenset(canonical(name) for name in grid.datasets)
    tables = [_evidence(name, grid.metric, own) for name, one in published().items() if one.results]
    known = [table for table in tables if table is not None]
    return prior_from(known, grid.algorithms, grid.classes, between=BETWEEN_BENCHMARKS)


@cache
def _evidence(name: str, metric: str, own: frozenset[str]) -> Table | None:
    results = published_results(PREFIX + name)
    label = metric if metric in results.metrics else FALLBACK
    if label not in results.metrics or split_label(metric)[0] not in (*ACCURACY, split_label(label)[0]):
        return None
    characteristics = published_characteristics(PREFIX + name) if published()[name].characteristics else None
    table = read_benchmark(results, label)
    others = [j for j, dataset in enumerate(table.grid.datasets) if canonical(dataset) not in own]
    if len(others) < LEAST_DATASETS:
        return None
    size = (
        None if characteristics is None else dataset_features(characteristics.aligned(table.grid.datasets))[others, 0]
    )
    rng = derived_rng(0, "published prior", name, label, str(len(others)))
    return as_evidence(
        PREFIX + name, table.grid.algorithms, np.ascontiguousarray(table.values[:, others]), table.seconds[:, others],
        size, rng,
    )  # fmt: skip
