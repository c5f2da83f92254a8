"""The verb `results`: every number of a study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from recassay.api.arguments import checked
from recassay.api.inputs import PathLike
from recassay.core import columns as c
from recassay.core.errors import InputError, NotApplicableError
from recassay.core.tables.labels import find_label
from recassay.store.store import Store


@checked
def results(folder: PathLike, metrics: Sequence[str] | None = None, *, per_user: bool = False) -> pl.DataFrame:
    """Every number of a study as a table: one row for each cell and metric, or for each user of each cell.

    The first has the columns algorithm, dataset, metric, value, seed and, with cross-validation, fold: what
    `recassay.load_results` and every analysis read. A failed cell has rows without a value. With `per_user` the value
    is that of one user, and the metrics are those that have one.

    Args:
        folder: the folder of a study.
        metrics: labels; by default all.
        per_user: whether the table goes down to users.
    """
    with Store.open(Path(folder)) as store:
        table = store.results()
        wanted = None if metrics is None else [find_label(label, table.metrics) for label in metrics]
        if not per_user:
            return table.frame if wanted is None else table.frame.filter(pl.col(c.METRIC).is_in(wanted))
        frames = []
        for cell in store.cells():
            if cell.status != "done" or "classifier" in cell.spec:
                continue
            scores = store.per_user(cell.id)
            kept = [n for n in scores.columns if n != c.USER and (wanted is None or n in wanted)]
            if kept:
                long = scores.select(pl.col(c.USER).cast(pl.String), *kept).unpivot(
                    index=c.USER, on=kept, variable_name=c.METRIC, value_name=c.VALUE
                )
                frames.append(
                    long.select(
                        pl.lit(cell.algorithm).alias(c.ALGORITHM),
                        pl.lit(cell.dataset).alias(c.DATASET),
                        c.METRIC,
                        c.USER,
                        pl.col(c.VALUE).cast(pl.Float64),
                        pl.lit(cell.seed, dtype=pl.Int64).alias(c.SEED),
                        pl.lit(cell.fold, dtype=pl.Int64).alias(c.FOLD),
                    )
                )
    if not frames:
        if wanted is not None:
            raise NotApplicableError(f"{', '.join(wanted)}: no value for each user", where=str(folder))
        raise InputError("the study keeps no scores of users", where=str(folder), fix="run a study of recommenders")
    whole = pl.concat(frames)
    return whole.drop(c.FOLD) if whole.get_column(c.FOLD).null_count() == whole.height else whole
