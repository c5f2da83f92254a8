"""The verb `plan`: what more would have to be run to know more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from recassay.analysis.plan.fit import plan_study
from recassay.analysis.plan.result import PlanResult
from recassay.api.arguments import checked
from recassay.api.inputs import ResultsLike
from recassay.api.tables import read_metric, user_scores
from recassay.core.choices import Advanced, Alpha, Share


@checked
def plan(
    results: ResultsLike,
    metric: str | None = None,
    *,
    difference: Share | None = None,
    power: float = 0.8,
    alpha: Alpha = 0.05,
    families: str | Mapping[str, str] | None = None,
    looks: bool = False,
    higher_is_better: bool | None = None,
    seed: Annotated[int, Advanced] = 0,
    wide: bool = False,
    transpose: bool = False,
) -> PlanResult:
    """How many more datasets, seeds or users would show a difference, and how few datasets decide the winner.

    Args:
        results: a results table (file or frame), several of them, the folder of a study, or loaded results.
        metric: label such as `ndcg@10`; by default `ndcg@10` or `accuracy` where present, else the only metric.
        difference: relative difference to be shown, such as 0.02; by default what the model believes of each pair.
        power: probability with which it is to be shown.
        alpha: level of the tests.
        families: datasets that belong together count as related: `auto` (by the start of their names), or a mapping
            from dataset to family.
        looks: add a sequential test, which holds however often you look at a growing study; it needs more datasets.
        higher_is_better: direction of a metric that RecAssay does not know.
        seed: the same seed gives the same numbers.
        wide: the rows of the table are algorithms and its columns datasets, where the table does not say it.
        transpose: the rows of the table are datasets and its columns algorithms.
    """
    table, label = read_metric(results, metric, wide=wide, transpose=transpose)
    return plan_study(
        table, label, difference=difference, power=power, alpha=alpha, higher_is_better=higher_is_better,
        users=user_scores(results), families=families, looks=looks, seed=seed,
    )  # fmt: skip
