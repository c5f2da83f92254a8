"""Verbs that ask how much of a benchmark's answer would survive a change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recassay.analysis.stress.fit import DRAWS, stress_rankings
from recassay.analysis.stress.result import StressResult
from recassay.api.tables import default_metric, load_results
from recassay.core.choices import MissingPolicy


def stress(
    results: Any,
    metric: str | None = None,
    *,
    methods: Sequence[str] | None = None,
    draws: int | None = None,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    beta_max: float = 3.0,
    seed: int = 0,
) -> StressResult:
    """Which conclusions survive fewer datasets, fewer or more algorithms and other settings (KDD'24, 4.2.3 and B).

    `draws` random subsets at each size (1000 by default), or all of them where they are no more. Needs at least five
    datasets and three algorithms. `.verdict()` says the answer in words.
    """
    table = load_results(results, metric=metric)
    matrix = table.matrix(metric or default_metric(table), missing=missing, higher_is_better=higher_is_better)
    return stress_rankings(
        matrix,
        methods=methods,
        draws=DRAWS if draws is None else draws,
        seed=seed,
        beta_max=beta_max,
    )
