"""Names that are known as algorithms or as datasets: of the registry, the catalogue and the published tables."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import polars as pl

from recassay.core import columns as c
from recassay.core.names import canonical
from recassay.core.registry import algorithms, classifiers
from recassay.data.catalog.entries import CATALOG

_PUBLISHED = Path(__file__).parent / "published"


@cache
def _known() -> tuple[frozenset[str], frozenset[str]]:
    """Algorithms and datasets, in the form of `names.canonical`; a name that is both is neither."""
    tables = [pl.read_csv(path, infer_schema=False) for path in sorted(_PUBLISHED.glob("*_results.csv*"))]

    def named(column: str) -> set[str]:
        return {canonical(name) for table in tables for name in table.get_column(column).unique()}

    methods = {*map(canonical, (*algorithms.names(), *classifiers.names())), *named(c.ALGORITHM)}
    data = {canonical(name) for entry in CATALOG for name in (*entry.names, entry.title)} | named(c.DATASET)
    return frozenset(methods - data), frozenset(data - methods)


def count_known(names: Iterable[str]) -> tuple[int, int]:
    """How many of the different names are known as algorithms, and how many as datasets."""
    distinct = {canonical(name) for name in names}
    methods, data = _known()
    return len(distinct & methods), len(distinct & data)
