"""The verb `ratings`: Bradley-Terry ratings over datasets, whatever their order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from recassay.analysis.ratings.fit import WON, rate_battles, rate_by_pairs
from recassay.analysis.ratings.result import RatingsResult
from recassay.api.arguments import checked
from recassay.api.inputs import ResultsLike
from recassay.api.tables import default_metric, load_results
from recassay.core.choices import Advanced, Draws, Level, MissingPolicy
from recassay.core.errors import UsageError


@checked
def ratings(
    results: ResultsLike,
    metric: str | None = None,
    *,
    baseline: str | None = None,
    families: str | Mapping[str, str] | None = None,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    replicates: Annotated[Draws | None, Advanced] = None,
    confidence: Level = 0.95,
    seed: Annotated[int, Advanced] = 0,
    wide: bool = False,
    transpose: bool = False,
) -> RatingsResult:
    """Ratings on the Elo scale that do not depend on the order of the datasets, win rates, improvability and skill.

    A table of battles (model_a, model_b, winner; or winner, loser) is rated by its battles.

    Args:
        results: a results table (file or frame), several of them, the folder of a study, or loaded results.
        metric: label such as `ndcg@10`; by default `ndcg@10` or `accuracy` where present, else the only metric.
        baseline: algorithm that is rated 1000 and that the skill score compares with.
        families: datasets that belong together are drawn together: `auto` (by the start of their names), or a mapping
            from dataset to family.
        missing: how to treat missing cells: refuse them, drop their datasets or algorithms, or take the worst value.
        higher_is_better: direction of a metric that RecAssay does not know.
        replicates: number of bootstrap replicates; by default 10,000, fewer with more than 60 algorithms.
        confidence: level of the intervals.
        seed: the same seed gives the same numbers.
        wide: the rows of the table are algorithms and its columns datasets, where the table does not say it.
        transpose: the rows of the table are datasets and its columns algorithms.
    """
    table = load_results(results, metric=metric, wide=wide, transpose=transpose)
    if table.metrics != [WON] or table.users is None:
        matrix = table.matrix(metric or default_metric(table), missing=missing, higher_is_better=higher_is_better)
        return rate_by_pairs(
            matrix, baseline=baseline, families=families, replicates=replicates, confidence=confidence, seed=seed
        )
    if families is not None:
        raise UsageError("battles have no families of datasets", fix="leave `families` out")
    return rate_battles(table.users, baseline=baseline, replicates=replicates, confidence=confidence, seed=seed)
