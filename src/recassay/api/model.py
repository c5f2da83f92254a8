"""The verb `model`: one hierarchical model of all scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from recassay.analysis.model.fit import fit_model
from recassay.analysis.model.result import ModelResult
from recassay.api.arguments import checked
from recassay.api.inputs import ResultsLike
from recassay.api.tables import read_metric, user_scores
from recassay.core.choices import Advanced, Level, Margin


@checked
def model(
    results: ResultsLike,
    metric: str | None = None,
    *,
    within: Margin = 0.02,
    families: str | Mapping[str, str] | None = None,
    higher_is_better: bool | None = None,
    confidence: Level = 0.95,
    seed: Annotated[int, Advanced] = 0,
    wide: bool = False,
    transpose: bool = False,
) -> ModelResult:
    """Which algorithm is best for datasets like these, how surely, and what more would tell: a hierarchical model.

    Missing cells need not be dropped: they are predicted. Of a study, the noise of seeds, folds and users is known.

    Args:
        results: a results table (file or frame), several of them, the folder of a study, or loaded results.
        metric: label such as `ndcg@10`; by default `ndcg@10` or `accuracy` where present, else the only metric.
        within: relative difference below which two algorithms are called practically equal.
        families: datasets that belong together count as related: `auto` (by the start of their names), or a mapping
            from dataset to family.
        higher_is_better: direction of a metric that RecAssay does not know.
        confidence: level of the intervals.
        seed: the same seed gives the same numbers.
        wide: the rows of the table are algorithms and its columns datasets, where the table does not say it.
        transpose: the rows of the table are datasets and its columns algorithms.
    """
    table, label = read_metric(results, metric, wide=wide, transpose=transpose)
    return fit_model(
        table, label, higher_is_better=higher_is_better, users=user_scores(results), families=families, within=within,
        confidence=confidence, seed=seed,
    )  # fmt: skip
