"""The scale of a logistic fit: abilities of the respondents with mean 0 and deviation 1."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from recassay.analysis.logistic_irt.result import LogisticResult
from recassay.core.tables.responses import LogisticItems


def standardised(result: LogisticResult) -> LogisticResult:
    """The same fit with abilities of mean 0 and variance 1 over its respondents (their errors counted).

    With m and s the mean and deviation: ability (theta - m) / s, discrimination s a, difficulty (b - m) / s. Every
    probability and true score stays what it was. Strong priors on slopes stretch the scale; this takes it back.
    """
    estimate, error = result.abilities.estimate, result.abilities.standard_error
    origin = float(estimate.mean())
    finite = error[np.isfinite(error)]
    spread = float(np.sqrt(estimate.var() + (finite**2).mean() if len(finite) else estimate.var()))
    if not spread > 0:
        return result
    items = result.items
    factor, shift = np.array([spread, 1 / spread, 1.0]), np.array([0.0, origin / spread, 0.0])
    return replace(
        result,
        items=LogisticItems(
            items.names, items.slope * spread, items.intercept + items.slope * origin, items.guessing
        ),
        item_errors=result.item_errors * factor,
        item_intervals=result.item_intervals * factor[:, None] - shift[:, None],
        abilities=replace(result.abilities, estimate=(estimate - origin) / spread, standard_error=error / spread),
        ability_intervals=(result.ability_intervals - origin) / spread,
    )  # fmt: skip
