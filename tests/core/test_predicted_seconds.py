"""Predicted seconds by hand: where nothing is known, where a cell took no time at all, and cell by cell."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from recassay.core.predicted_seconds import predict_seconds

NOTHING = np.full((2, 3), np.nan)


def test_what_nothing_is_known_of_is_expected_at_the_prior_with_its_variance_cut():
    np.testing.assert_allclose(predict_seconds(NOTHING), np.full((2, 3), np.exp(0.5)))
    expected = predict_seconds(NOTHING, classes=["slow", "quick"], expected={"slow": 2.0})
    np.testing.assert_allclose(expected, np.exp([[2.5] * 3, [0.5] * 3]))
    sizes = predict_seconds(NOTHING, np.array([1.0, 2.0, 6.0]))
    np.testing.assert_allclose(sizes, np.exp([[-1.5, -0.5, 3.5]] * 2))  # in proportion to the size
    probes = predict_seconds(NOTHING, probes=NOTHING)
    np.testing.assert_allclose(probes, np.exp([[0.5] * 3 + [0.5 + np.log(0.1)] * 3] * 2))
    relative = predict_seconds(NOTHING, relative=np.array([1.0, np.nan]))
    np.testing.assert_allclose(relative, [[0.8 * np.exp(1.5) + 0.2 * np.exp(0.5)] * 3, [np.exp(0.5)] * 3])


def test_a_cell_that_took_no_time_counts_as_a_millisecond():
    seconds = np.array([[0.0, np.nan], [0.0, 0.0]])
    found = predict_seconds(seconds)
    assert found[0, 0] == 0
    least = np.array([[0.001, np.nan], [0.001, 0.001]])
    assert found[0, 1] == pytest.approx(predict_seconds(least)[0, 1])


def by_covariances(seconds, sizes=None, classes=None, expected=None, *, probes=None, ratio=0.1, relative=None):
    """The model of the docstring as one normal distribution of all cells and probes, conditioned on those that ran."""
    m, n = seconds.shape
    table = seconds if probes is None else np.hstack([seconds, probes])
    row, column = (axis.ravel() for axis in np.indices(table.shape))
    probe, column = (column >= n) * 1.0, column % n
    size = (np.zeros(n) if sizes is None else sizes - sizes.mean())[column]
    kind = np.array(classes or ["all"] * m)[row]
    same = {name: values[:, None] == values for name, values in (("row", row), ("column", column), ("kind", kind))}
    own, slopes, cheap = same["row"], np.outer(size, size), np.outer(probe, probe)
    mean = size + np.log(ratio) * probe + [(expected or {}).get(name, 0.0) for name in kind]
    level = np.full(m, np.nan) if relative is None else relative
    compared = np.isfinite(level[row])
    alike = np.where(compared, size + np.log(ratio) * probe + level[row], mean)
    ways = [(alike, 0.7, 0.8), (mean, 1.5, 0.2)] if compared.any() else [(mean, 1.5, 1.0)]
    run = np.isfinite(table.ravel())
    known = np.log(table.ravel()[run])
    total, weights = np.zeros(table.size), 0.0
    for (middle, of_algorithm, chance), of_dataset, of_rest in product(ways, (0.25, 0.5, 1.0), (0.2, 0.4, 0.8)):
        spread = of_dataset if sizes is not None else 3 * of_dataset
        levels = np.where(compared, of_algorithm, 1.5)
        prior = 100 + 0.09 * slopes + (2.25 if classes else 1e-12) * same["kind"] + own * np.outer(levels, levels)
        prior = prior + 0.09 * own * slopes + spread**2 * same["column"] + cheap * (0.49 + 0.09 * own)
        noisy = prior[np.ix_(run, run)] + of_rest**2 * np.eye(run.sum())
        gain = np.linalg.solve(noisy, prior[run]).T
        variance = of_rest**2 + np.diag(prior - gain @ prior[run])
        weight = chance * multivariate_normal.pdf(known, middle[run], noisy)
        total += weight * np.exp(middle + gain @ (known - middle[run]) + np.minimum(variance, 1.0) / 2)
        weights += weight
    return np.where(run.reshape(table.shape), table, (total / weights).reshape(table.shape))


RAN = np.array([[1.0, 3.0, np.nan, 40.0], [np.nan, 20.0, np.nan, np.nan], [0.5, np.nan, 2.0, np.nan]])
LOOKS = np.array([[0.2, np.nan, 1.0, np.nan], [np.nan] * 4, [np.nan, 0.1, np.nan, 0.9]])
SIZES = np.array([1.0, 2.0, 2.5, 4.5])


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"log_size": SIZES},
        {"log_size": SIZES, "classes": ["slow", "slow", "quick"], "expected": {"slow": 1.5}},
        {"probes": LOOKS, "ratio": 0.3},
        {"log_size": SIZES, "probes": LOOKS, "relative": np.array([0.5, 2.0, np.nan])},
        {"classes": ["slow", "quick", "quick"], "expected": {"quick": -1.0}, "relative": np.array([0.0, 2.5, 1.0])},
    ],
    ids=["bare", "sizes", "classes", "probes", "all", "as elsewhere"],
)
def test_cells_are_expected_as_the_model_says(more):
    given = dict(more)
    sizes = given.pop("log_size", None)
    by_hand = by_covariances(RAN, sizes, **given)
    np.testing.assert_allclose(predict_seconds(RAN, **more), by_hand, rtol=1e-6)
