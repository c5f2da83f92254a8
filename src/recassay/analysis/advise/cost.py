"""What training will cost on a new dataset, from what it cost on those of a benchmark."""

from __future__ import annotations

import numpy as np
import polars as pl

from recassay.analysis.advise.result import Cost
from recassay.analysis.inference.distributions import t_quantile
from recassay.core import columns as c
from recassay.core.tables.characteristics import CharacteristicsTable
from recassay.core.tables.results import Results

MEASURE, SIZE = "seconds_fit", "Nr"
FEWEST = 5


def expected_cost(
    results: Results, table: CharacteristicsTable, size: float, *, confidence: float = 0.9
) -> tuple[Cost, ...]:
    """Seconds to train each algorithm on `size` interactions: a line through log seconds over log interactions.

    The interval is that of a new observation (Student's t): it holds what one more dataset of that size took, on the
    machine of the benchmark. Algorithms with fewer than `FEWEST` timings have none; nor has a table without timings.
    """
    if MEASURE not in results.metrics or SIZE not in table.names or not size > 0:
        return ()
    sizes = dict(zip(table.datasets, table.values[:, table.names.index(SIZE)].tolist(), strict=True))
    rows = (
        results.frame.filter(pl.col(c.METRIC) == MEASURE, pl.col(c.VALUE) > 0)
        .group_by(c.ALGORITHM, c.DATASET)
        .agg(pl.col(c.VALUE).mean())
        .with_columns(pl.col(c.DATASET).replace_strict(sizes, default=None, return_dtype=pl.Float64).alias(SIZE))
        .filter(pl.col(SIZE) > 0)
    )
    found = []
    for name in results.algorithms:
        own = rows.filter(pl.col(c.ALGORITHM) == name)
        x, y = (np.log(own.get_column(column).to_numpy()) for column in (SIZE, c.VALUE))
        if len(x) < FEWEST or np.ptp(x) == 0:
            continue
        middle, spread = x.mean(), ((x - x.mean()) ** 2).sum()
        slope = ((x - middle) * (y - y.mean())).sum() / spread
        intercept = y.mean() - slope * middle
        residual = np.sqrt(((y - intercept - slope * x) ** 2).sum() / (len(x) - 2))
        place = np.log(size)
        width = t_quantile(0.5 + confidence / 2, len(x) - 2) * residual
        width *= np.sqrt(1 + 1 / len(x) + (place - middle) ** 2 / spread)
        at = intercept + slope * place
        found.append(Cost(name, float(np.exp(at)), float(np.exp(at - width)), float(np.exp(at + width)), len(x)))
    return tuple(found)
