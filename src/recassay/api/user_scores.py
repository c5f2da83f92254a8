"""Per-user scores of a study, summed up by cell."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def user_scores(folder: Path) -> Callable[[str], pl.DataFrame]:
    """A way to ask for a metric's spread over users: algorithm, dataset, n and deviation of every finished cell.

    A metric that has no value of its own for each user (coverage, ...) gives an empty frame.
    """
    import polars as pl

    from recassay.core import columns as c
    from recassay.store.store import Store, scores_file

    def spread(metric: str) -> pl.DataFrame:
        rows = []
        with Store.open(folder) as store:
            cells = [cell for cell in store.cells() if cell.status == "done"]
        for cell in cells:
            file = scores_file(folder, cell.id)
            if not file.is_file() or metric not in pl.read_parquet_schema(file):
                continue
            scores = pl.read_parquet(file, columns=[metric], glob=False).to_series().drop_nulls()
            rows.append((cell.algorithm, cell.dataset, len(scores), scores.std()))
        schema = {c.ALGORITHM: pl.String, c.DATASET: pl.String, "n": pl.Int64, "deviation": pl.Float64}
        return pl.DataFrame(rows, schema=schema, orient="row").drop_nulls("deviation")

    return spread
