"""Values that were published for an algorithm on a dataset, with their preparation, split and source."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from recassay.core import columns as c
from recassay.core.names import canonical, dataset_key
from recassay.core.tables.labels import facts_of, normal_label
from recassay.core.tables.printed import ExpectedValue
from recassay.data.published.tables import published, published_table

OTHERS = ("kdd24", "bi-reirt", "open")
"""Published tables that are asked beside the list of single values."""


@cache
def expected_values() -> tuple[ExpectedValue, ...]:
    """Every published value of accuracy that comes with RecAssay."""
    return (*single_values(), *_of_tables())


@cache
def single_values() -> tuple[ExpectedValue, ...]:
    """Those of the list: each has a preparation and a split that papers share."""
    return tuple(_listed())


def _listed() -> Iterator[ExpectedValue]:
    for row in published_table(published()["expected"].results).iter_rows(named=True):
        algorithm, _, variant = row[c.ALGORITHM].partition(", ")
        dataset, _, protocol = row[c.DATASET].partition(", ")
        preparation = "; ".join(filter(None, (variant, protocol)))
        yield ExpectedValue(dataset, algorithm, row[c.METRIC], float(row[c.VALUE]), preparation,
                            int(row["users"]) if row["users"] else None, row["source"])  # fmt: skip


def _of_tables() -> Iterator[ExpectedValue]:
    for name in OTHERS:
        table = published()[name]
        for row in published_table(table.results).iter_rows(named=True):
            known = facts_of(row[c.METRIC])
            if known is not None and known.kind == "accuracy" and row[c.VALUE]:
                label = normal_label(row[c.METRIC])
                yield ExpectedValue(
                    row[c.DATASET], row[c.ALGORITHM], label, float(row[c.VALUE]), table.protocol, None, table.paper
                )


def find_expected(dataset: str | None = None, algorithm: str | None = None) -> list[ExpectedValue]:
    """The published values of a dataset, of an algorithm, or of both."""
    asked = None if dataset is None else dataset_key(dataset)
    named = None if algorithm is None else canonical(algorithm)
    return [value for value in expected_values()
            if asked in (None, dataset_key(value.dataset)) and named in (None, canonical(value.algorithm))]  # fmt: skip
