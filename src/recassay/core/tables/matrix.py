"""One metric of a results table as a complete matrix: algorithms x datasets."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from recassay.core.errors import InputError, NotApplicableError
from recassay.core.system.display import Displayed
from recassay.core.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class MissingCells:
    """Which cells a matrix lacked and what was done about them."""

    policy: str = "error"
    """What was to be done about them."""
    cells: tuple[tuple[str, str], ...] = ()
    """The missing cells, each as algorithm and dataset."""
    dropped: tuple[str, ...] = ()
    """The algorithms or datasets that were dropped for them."""


@dataclass(frozen=True, slots=True, eq=False)
class Matrix:
    """One metric, complete and finite: `values[a, d]` of algorithm `a` on dataset `d`, names in sorted order.

    `replicates[a, d, :]` holds the repeated measurements (seeds or folds) behind each value, padded with NaN;
    they are `paired` when position r means the same fold for every algorithm of a dataset. `standard_errors[a, d]` is
    that of a value whose table stated its deviation; 0 where none was stated or the repeats themselves are known.
    """

    values: FloatArray
    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]
    metric: str
    higher_is_better: bool
    replicates: FloatArray | None = None
    paired: bool = False
    missing: MissingCells = field(default_factory=MissingCells)
    standard_errors: FloatArray | None = None
    users: bool = False
    """Whether the scores of single users are known beside the values."""

    @property
    def head(self) -> tuple[str, bool, tuple[str, ...], tuple[str, ...]]:
        """What a `MatrixResult` begins with: metric, direction, algorithms and datasets."""
        return self.metric, self.higher_is_better, self.algorithms, self.datasets

    @property
    def upward(self) -> FloatArray:
        """The values, turned where lower is better: higher is always better."""
        return self.values if self.higher_is_better else -self.values

    def part(self, rows: IntArray, columns: IntArray) -> Matrix:
        """Some algorithms and datasets (positions), in this order."""
        cells = np.ix_(rows, columns)
        return replace(
            self,
            values=np.ascontiguousarray(self.values[cells]),
            algorithms=tuple(self.algorithms[a] for a in rows),
            datasets=tuple(self.datasets[d] for d in columns),
            replicates=None if self.replicates is None else self.replicates[cells],
            standard_errors=None if self.standard_errors is None else self.standard_errors[cells],
        )

    @property
    def repeated(self) -> bool:
        """Whether something is known of how the values vary when they are measured again."""
        return self.replicates is not None or self.standard_errors is not None

    def __post_init__(self) -> None:
        if self.values.shape != (len(self.algorithms), len(self.datasets)):
            raise ValueError(f"values {self.values.shape} do not fit the names")
        if not np.isfinite(self.values).all():
            raise ValueError("a Matrix holds finite values only")
        if not self.datasets:
            raise InputError(f"no dataset is left for {self.metric}", fix="a comparison needs at least one")
        if len(self.algorithms) < 2:
            raise InputError(
                f"only one algorithm has values for {self.metric}"
                if self.algorithms
                else f"no algorithm is left for {self.metric}",
                fix="a comparison needs at least two algorithms",
            )


@dataclass(frozen=True, slots=True, eq=False)
class MatrixResult(Displayed):
    """What was found on one metric of a table of algorithms x datasets."""

    metric: str
    higher_is_better: bool
    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]


def single_dataset(metric: str) -> NotApplicableError:
    """The one reason why what draws on the spread over datasets is not done on a single one."""
    return NotApplicableError(
        f"only one dataset has values for {metric}, and this needs at least two datasets",
        fix="for one dataset, recassay users tests over its users",
    )
