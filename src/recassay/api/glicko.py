"""The verb `glicko`: Glicko-2 over datasets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from recassay.analysis.glicko.fit import given_order, rate_algorithms
from recassay.analysis.glicko.result import GlickoResult
from recassay.api.arguments import checked
from recassay.api.inputs import ResultsLike
from recassay.api.tables import read_matrix
from recassay.core.choices import Advanced, MissingPolicy
from recassay.data.tables.characteristics import read_properties


@checked
def glicko(
    results: ResultsLike,
    metric: str | None = None,
    *,
    order: str | Sequence[str] = "given",
    properties: Any = None,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    tau: Annotated[float | None, Advanced] = None,
    tie: Annotated[float, Advanced] = 0.0,
    orders: Annotated[int | None, Advanced] = None,
    seed: Annotated[int, Advanced] = 0,
    wide: bool = False,
    transpose: bool = False,
) -> GlickoResult:
    """Glicko-2 ratings: every dataset is a rating period in which all algorithms play all, the better value wins.

    Args:
        results: a results table (file or frame), several of them, the folder of a study, or loaded results.
        metric: label such as `ndcg@10`; by default `ndcg@10` or `accuracy` where present, else the only metric.
        order: of the datasets: `given` (as in the table), `name`, `difficulty`, `discrimination`, `deviation`, a column
            of `properties`, or names.
        properties: file, frame with a column dataset, or mapping by dataset.
        missing: how to treat missing cells: refuse them, drop their datasets or algorithms, or take the worst value.
        higher_is_better: direction of a metric that RecAssay does not know.
        tau: Glicko-2's system constant: how fast volatilities may change.
        tie: largest difference that counts as a draw.
        orders: random orders of the datasets over which the ratings are spread.
        seed: the same seed gives the same numbers.
        wide: the rows of the table are algorithms and its columns datasets, where the table does not say it.
        transpose: the rows of the table are datasets and its columns algorithms.
    """
    if properties is not None and not isinstance(properties, Mapping):
        properties = read_properties(properties)
    table, matrix = read_matrix(
        results, metric, missing=missing, higher_is_better=higher_is_better, wide=wide, transpose=transpose
    )
    given = given_order(table, matrix)
    return rate_algorithms(
        matrix, given=given, order=order, properties=properties, tau=tau, tie=tie, orders=orders, seed=seed
    )
