"""Verbs on the datasets of a benchmark: what they are like, which few are enough, and advice for a new one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from recassay.analysis.select.fit import other_metrics, select_datasets
from recassay.analysis.select.result import SelectResult
from recassay.api.arguments import checked
from recassay.api.inputs import CharacteristicsLike, ResultsLike
from recassay.api.tables import known_characteristics, read_matrix
from recassay.core.choices import BENCHMARK, Advanced, MissingPolicy, Range


@checked
def select(
    results: ResultsLike = BENCHMARK,
    metric: str | None = None,
    *,
    k: int = 6,
    characteristics: CharacteristicsLike | None = None,
    methods: str | Sequence[str] = "all",
    aggregation: str | None = None,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    simulations: Annotated[int, Range(None, 100_000), Advanced] = 500,
    splits: Annotated[int, Advanced] = 10,
    curve: Annotated[bool, Advanced] = True,
    seed: Annotated[int, Advanced] = 0,
    wide: bool = False,
    transpose: bool = False,
) -> SelectResult:
    """Which k datasets keep the ranking of all of them, chosen in five ways, with held-out numbers (KDD'24, Table 4).

    For the folder of a study the characteristics are its own; for a table they come from `characteristics` (a path or a
    frame), and without them the ways that need none are left.

    Args:
        results: a results table (file or frame), several of them, the folder of a study, or loaded results; by default
            `published:board`.
        metric: label such as `ndcg@10`; by default `ndcg@10` or `accuracy` where present, else the only metric.
        k: how many datasets to choose.
        characteristics: characteristics of the datasets (file or frame); a study knows its own.
        methods: ways to choose: `random`, `kmeans`, `d_optimal`, `a_optimal`, `preserving`, or `all`.
        aggregation: whose ranking is to be kept; by default the mean rank.
        missing: how to treat missing cells: refuse them, drop their datasets or algorithms, or take the worst value.
        higher_is_better: direction of a metric that RecAssay does not know.
        simulations: draws of each way that has chance in it.
        splits: divisions of the algorithms into halves for the held-out numbers.
        curve: also for every number of datasets.
        seed: the same seed gives the same numbers.
        wide: the rows of the table are algorithms and its columns datasets, where the table does not say it.
        transpose: the rows of the table are datasets and its columns algorithms.
    """
    table, matrix = read_matrix(
        results, metric, missing=missing, higher_is_better=higher_is_better, wide=wide, transpose=transpose
    )
    known = known_characteristics(results, table, characteristics)
    return select_datasets(
        matrix, k, characteristics=known, others=other_metrics(table, matrix), methods=methods, rule=aggregation,
        simulations=simulations, splits=splits, curve=curve, seed=seed,
    )  # fmt: skip
