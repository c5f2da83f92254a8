"""What is known of the datasets besides the results on them: one row per dataset, one number per trait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from recassay.core import columns as c
from recassay.core.errors import InputError
from recassay.core.names import canonical
from recassay.core.system.printable import printable
from recassay.core.tables.sources import Source
from recassay.core.types import FloatArray
from recassay.core.words import listing


@dataclass(frozen=True, slots=True, eq=False)
class CharacteristicsTable:
    """What datasets are like, in numbers."""

    values: FloatArray
    """Datasets x characteristics; NaN where one is undefined or not known."""
    datasets: tuple[str, ...]
    names: tuple[str, ...]
    """Names of the characteristics, in the order of the columns."""
    where: str = "the characteristics"
    """Where the table came from, for messages."""
    sources: tuple[Source, ...] = ()

    def __post_init__(self) -> None:
        if self.values.shape != (len(self.datasets), len(self.names)):
            raise ValueError(f"values {self.values.shape} do not fit the names")
        if np.isinf(self.values).any():
            raise ValueError("characteristics are finite, or NaN where unknown")

    def aligned(self, datasets: Sequence[str]) -> CharacteristicsTable:
        """The rows of these datasets in this order; names match up to case, space, hyphen, underscore and dot.

        A dataset without a row raises `InputError` with its name; rows of other datasets are left out.
        """
        exact = {printable(name): row for row, name in enumerate(self.datasets)}
        folded = Counter(map(canonical, exact))
        alike = {canonical(name): row for name, row in exact.items() if folded[canonical(name)] == 1}
        rows = {name: alike[canonical(name)] for name in datasets if canonical(name) in alike}
        rows |= {name: exact[name] for name in datasets if name in exact}
        absent = [name for name in datasets if name not in rows]
        if absent:
            known = "none" if len(absent) == len(datasets) else f"only {len(datasets) - len(absent)}"
            raise InputError(
                f"{known} of the {len(datasets)} datasets of the results have characteristics; missing: "
                f"{listing(absent)}; named there: {listing(self.datasets)}",
                where=self.where,
                fix="give one row per dataset, with the names of the results",
            )
        return replace(self, values=self.values[[rows[name] for name in datasets]], datasets=tuple(datasets))

    def usable(self) -> tuple[CharacteristicsTable, dict[str, str]]:
        """The characteristics that are known of every dataset and differ between them, and why others were left out."""
        unknown = np.isnan(self.values).max(axis=0)
        constant = (self.values == self.values[:1]).min(axis=0)
        dropped = {n: "not known of every dataset" for n, bad in zip(self.names, unknown, strict=True) if bad}
        dropped |= {n: "the same for every dataset" for n, bad in zip(self.names, constant, strict=True) if bad}
        kept = ~unknown & ~constant
        if not kept.any():
            raise InputError(
                "no characteristic is known of every dataset and differs between them",
                where=self.where,
                fix="give at least one column of numbers without gaps",
            )
        names = tuple(n for n, k in zip(self.names, kept, strict=True) if k)
        return replace(self, values=self.values[:, kept], names=names), dropped

    def to_frame(self) -> pl.DataFrame:
        """One row per dataset: its name, then the characteristics."""
        columns = {name: self.values[:, j] for j, name in enumerate(self.names)}
        return pl.DataFrame({c.DATASET: list(self.datasets), **columns})
