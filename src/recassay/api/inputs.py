"""What the verbs accept: one name for each kind of argument that may come in several forms."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, Union

if TYPE_CHECKING:
    from recassay.core.tables.characteristics import CharacteristicsTable
    from recassay.core.tables.responses import Responses
    from recassay.core.tables.results import Results
    from recassay.core.types import Interactions


class FrameLike(Protocol):
    """A data frame of polars, pandas, pyarrow or another library that narwhals knows."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    @property
    def columns(self) -> Any:
        """The names of the columns."""


PathLike: TypeAlias = str | os.PathLike[str]
"""A path, as text or as a `Path`."""
TableLike: TypeAlias = PathLike | FrameLike
"""A table: a CSV, TSV or Parquet file, or a data frame."""
ResultsLike: TypeAlias = Union["Results", TableLike, Sequence[PathLike]]
"""Results of algorithms on datasets: a results table (file or frame), what another framework wrote, several of them to
be joined, the folder of a study, a name such as `published:kdd24`, or what `recassay.load_results` returned."""
CharacteristicsLike: TypeAlias = Union["CharacteristicsTable", TableLike]
"""Characteristics of datasets: a table with a row per dataset, the folder of a study, or what
`recassay.load_characteristics` returned."""
InteractionsLike: TypeAlias = Union["Interactions", TableLike, Any]
"""Interactions: the name of a stored dataset, `synthetic:PRESET`, a file, a frame, or a scipy sparse matrix."""
ResponsesLike: TypeAlias = Union["Responses", TableLike, Any]
"""Binary responses: a table (first column respondent, one 0/1 column per item), or an array."""
