"""Small tables that several tests share."""

from __future__ import annotations

import numpy as np
import polars as pl

import recassay
from recassay.core.tables.matrix import Matrix
from recassay.data.published.printed import printed_numbers

# Demšar 2006, Table 6: AUC of four variants of C4.5 on 14 datasets. On "voting" the last two print as 0.975 but have
# ranks 2 and 3 there, so the last is written a little lower here.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.975, 0.9749],
        [0.957, 0.978, 0.946, 0.970],
    ]
).T
DEMSAR_NAMES = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")


def matrix(values: object, *, higher_is_better: bool = True, metric: str = "ndcg@10", **more: object) -> Matrix:
    """A Matrix with made-up names: algorithms a00, a01, ..., datasets d00, d01, ..."""
    array = np.asarray(values, dtype=np.float64)
    return Matrix(
        values=array,
        algorithms=tuple(f"a{i:02d}" for i in range(array.shape[0])),
        datasets=tuple(f"d{i:02d}" for i in range(array.shape[1])),
        metric=metric,
        higher_is_better=higher_is_better,
        **more,
    )


def by_content(values: np.ndarray) -> list[int]:
    """Datasets by their sorted values, of equal ones those of the lower row first, and rows by their sorted values.

    That is the order in which chance is dealt out, where no two rows or columns have the same values.
    """
    rows = sorted(sorted(row) for row in values.tolist())
    place = [rows.index(sorted(row)) for row in values.tolist()]
    return sorted(range(values.shape[1]), key=lambda d: sorted(zip(values[:, d].tolist(), place, strict=True)))


def in_content_order(values: np.ndarray) -> np.ndarray:
    """The table with its rows and columns in that order: then chance is dealt out by position."""
    rows = sorted(range(len(values)), key=lambda row: sorted(values[row].tolist()))
    return np.ascontiguousarray(values[np.ix_(rows, by_content(values))])


def dealt_by_content(values: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """What was drawn (replicates x datasets), given to the datasets in that order."""
    dealt = np.empty_like(drawn)
    dealt[:, by_content(values)] = drawn
    return dealt


def demsar() -> Matrix:
    return Matrix(DEMSAR, DEMSAR_NAMES, tuple(f"d{i:02d}" for i in range(14)), "auc", True)


def opposed() -> np.ndarray:
    """Five algorithms on 30 datasets: a01 beats a00 on 22 of them by much, yet a00 has the better mean rank.

    Where a01 wins, a00 comes second; where it loses it is last, by little.
    """
    level = np.random.default_rng(0).random(30)
    values = level - np.array([0.3, 0.0, 0.6, 0.61, 0.62])[:, None]
    values[:, 22:] = level[22:] + np.array([0.02, 0.0, 0.010, 0.009, 0.008])[:, None]
    return values


def printed_table(paper: str, table: str) -> dict[tuple[str, str], str]:
    """One table of a paper: by row and column, the printed text."""
    return {
        (number.row, number.column): number.printed
        for number in printed_numbers()
        if (number.paper, number.table) == (paper, table)
    }


def random_results() -> recassay.Results:
    """Four algorithms without a difference on six datasets."""
    values = np.random.default_rng(3).beta(2, 5, (4, 6))
    rows = [(f"a{i}", f"d{j}", "ndcg@10", float(values[i, j])) for i in range(4) for j in range(6)]
    frame = pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value"], orient="row")
    return recassay.load_results(frame)


def named_table(rows: dict[str, list[int]], metric: str = "ndcg@10") -> pl.DataFrame:
    """A results table from values in thousandths, by algorithm; datasets are d0, d1, ..."""
    return pl.DataFrame(
        [
            {"algorithm": name, "dataset": f"d{d}", "metric": metric, "value": value / 1000}
            for name, values in rows.items()
            for d, value in enumerate(values)
        ]
    )


MIDDLE = named_table({
    "EASE": [301, 412, 223, 355, 198, 287, 441, 264, 330, 376],
    "SLIM": [309, 405, 219, 361, 195, 294, 436, 260, 334, 368],
    "MyModel": [262, 371, 188, 309, 171, 250, 388, 231, 279, 330],
    "ALS": [258, 375, 183, 314, 166, 255, 381, 226, 285, 322],
    "MostPop": [150, 210, 101, 177, 92, 140, 215, 127, 161, 190],
})  # fmt: skip
"""Ten datasets on which the third of five algorithms lies clearly behind two and before one, and level with one."""
