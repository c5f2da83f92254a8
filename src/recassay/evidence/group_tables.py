"""Tables of groups of users and of items: those that are given, those that a study keeps, and whether there are any.

What is known by group is computed in `evidence.groups`, which `analyze` does not load where there are none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from recassay.core import columns as c
from recassay.core.errors import NotApplicableError
from recassay.core.tables.results import Results

if TYPE_CHECKING:
    from recassay.metrics.weighted import Weighting

KEPT = "groups"
"""The folder of a study that holds the tables of groups its file names."""


KnownGroups: TypeAlias = "tuple[dict[str, GroupTables], dict[str, Weighting]]"
"""The groups of each dataset, and the weighting of each label."""


@dataclass(frozen=True, slots=True)
class GroupTables:
    """Tables of groups (`data.groups.read_groups`), of users and of items; None where none is given."""

    users: pl.DataFrame | None = None
    items: pl.DataFrame | None = None

    @classmethod
    def read(cls, users: Any, items: Any) -> GroupTables:
        """From files or frames."""
        if users is None and items is None:
            return cls()
        from recassay.data.groups import read_groups

        return cls(
            None if users is None else read_groups(users, c.USER), None if items is None else read_groups(items, c.ITEM)
        )

    def of(self, dataset: str, folder: Path | None) -> GroupTables:
        """Those of a dataset: what is given, else what the study in `folder` keeps."""
        kept: list[pl.DataFrame | None] = []
        for given, key in ((self.users, c.USER), (self.items, c.ITEM)):
            file = None if folder is None else kept_file(folder, dataset, key)
            if given is None and file is not None and file.is_file():
                from recassay.data.groups import read_groups

                given = read_groups(file, key)
            if given is not None and c.DATASET in given.columns:
                given = given.filter(pl.col(c.DATASET) == dataset).drop(c.DATASET)
            kept.append(given)
        return GroupTables(*kept)


def kept_file(folder: Path, dataset: str, key: str) -> Path:
    """Where a study keeps the groups of a dataset's users or items."""
    return folder / KEPT / f"{dataset}.{key}s.parquet"


def known_groups(metric: str, *, results: Results, folder: Path | None, tables: GroupTables) -> KnownGroups:
    """By dataset its groups, and by label the weightings of a metric; raises where there is neither."""
    named = {dataset: tables.of(dataset, folder) for dataset in results.datasets}
    qualified = [label for label in results.metrics if label.startswith(f"{metric}[")]
    weightings = _weightings(qualified) if qualified else {}
    if not weightings and all(files.users is None and files.items is None for files in named.values()):
        raise NotApplicableError(
            f"no groups are given and no weighted {metric} is known",
            fix="give `groups` of users or `item_groups`, or report a weighted metric such as ndcg@10[snips]",
        )
    return named, weightings


def _weightings(labels: Sequence[str]) -> dict[str, Weighting]:
    """How each of these labels weighs by exposure, where it does."""
    from recassay.metrics.weighted import Weighting

    read = {label: Weighting.of_label(label) for label in labels}
    return {label: weighting for label, weighting in read.items() if weighting is not None}
