"""Verbs on the datasets of a benchmark: what they are like, which few are enough, and advice for a new one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recassay.analysis.select.fit import other_metrics, select_datasets
from recassay.analysis.select.result import SelectResult
from recassay.api.tables import asked
from recassay.core.choices import MissingPolicy


def select(
    results: Any,
    metric: str | None = None,
    *,
    k: int = 6,
    characteristics: Any = None,
    methods: str | Sequence[str] = "all",
    aggregation: str | None = None,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    simulations: int = 500,
    splits: int = 10,
    curve: bool = True,
    seed: int = 0,
) -> SelectResult:
    """Which k datasets keep the ranking of all of them, chosen in five ways, with held-out numbers (KDD'24, Table 4).

    For the folder of a study the characteristics are its own; for a table they come from `characteristics` (a path or a
    frame), and without them the ways that need none are left.
    """
    table, matrix, known = asked(results, metric, characteristics, missing, higher_is_better)
    return select_datasets(
        matrix,
        k,
        characteristics=known,
        others=other_metrics(table, matrix),
        methods=methods if isinstance(methods, str) else tuple(methods),
        rule=aggregation,
        simulations=simulations,
        splits=splits,
        curve=curve,
        seed=seed,
    )
