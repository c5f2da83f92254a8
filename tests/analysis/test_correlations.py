"""How far metrics agree: Spearman's correlations over the algorithms of each dataset, averaged."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

import recassay
from recassay.analysis.correlations import ANALYSIS, correlate_metrics
from recassay.core.errors import NotApplicableError
from recassay.core.tables.results import Results

METRICS = ("hitrate@10", "ndcg@10", "rmse")


def table(values: np.ndarray) -> Results:
    """Metrics x algorithms x datasets; NaN where a metric has no row."""
    rows = [
        (f"a{a}", f"d{d}", metric, float(values[m, a, d]))
        for m, metric in enumerate(METRICS[: len(values)])
        for a in range(values.shape[1])
        for d in range(values.shape[2])
        if np.isfinite(values[m, a, d])
    ]
    return Results.from_frame(pl.DataFrame(rows, schema=["algorithm", "dataset", "metric", "value"], orient="row"))


def test_correlations_are_the_means_of_scipys_over_the_datasets_that_allow_one():
    """d0 is complete, d1 lacks values, on d2 a metric is constant, and d3 has but two algorithms with both values."""
    values = np.random.default_rng(1).random((3, 5, 4))
    values[2] = 1 - values[1] + 0.1 * values[2]
    values[0, 1:3, 1], values[1, 4, 1] = np.nan, np.nan
    values[1, :, 2] = 0.5
    values[0, 2:, 3] = np.nan
    found = correlate_metrics(table(values))
    assert found.metrics == METRICS
    for i, j in np.ndindex(3, 3):
        rho = []
        for d in range(4):
            x, y = values[i, :, d], values[j, :, d]
            both = np.isfinite(x) & np.isfinite(y)
            if both.sum() >= 3 and np.ptp(x[both]) and np.ptp(y[both]):
                rho.append(stats.spearmanr(x[both], y[both])[0])
        assert found.rho[i, j] == pytest.approx(np.mean(rho))
        assert found.count[i, j] == len(rho)
    assert found.count.tolist() == [[3, 1, 3], [1, 3, 3], [3, 3, 4]]
    assert found.rho[1, 2] < -0.5, "values enter as they are"
    assert found.to_frame().filter(metric="hitrate@10", other="rmse").row(0) == (
        "hitrate@10", "rmse", pytest.approx(found.rho[0, 2]), 3
    )  # fmt: skip
    assert found.to_dict()["spearman"]["rmse"]["hitrate@10"] == pytest.approx(found.rho[0, 2])


def test_a_correlation_that_no_dataset_allows_is_unknown_and_one_metric_has_none():
    flat = np.ones((2, 4, 2))
    flat[0] = np.arange(8.0).reshape(4, 2)
    found = correlate_metrics(table(flat))
    assert np.isnan(found.rho[0, 1])
    assert found.to_dict()["spearman"]["hitrate@10"]["ndcg@10"] is None
    assert (found.rho[0, 0], found.count[0, 1]) == (1.0, 0)
    with pytest.raises(NotApplicableError, match="the table has one metric; correlations need at least two"):
        correlate_metrics(table(flat[:1]))
    assert recassay.correlations(table(flat)).metrics == METRICS[:2]
    assert ANALYSIS.name == "correlations"
