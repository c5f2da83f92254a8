"""Tails and quantiles against scipy.stats."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from recassay.analysis.inference import distributions as d

X = np.array([-30.0, -3.0, -0.5, 0.0, 0.7, 2.0, 9.0, 30.0])
P = np.array([1e-12, 0.001, 0.025, 0.5, 0.8, 0.975, 0.9999])


def test_normal():
    assert_allclose(d.normal_cdf(X), stats.norm.cdf(X), rtol=1e-12)
    assert_allclose(d.normal_sf(X), stats.norm.sf(X), rtol=1e-12)
    assert_allclose(d.normal_pdf(X), stats.norm.pdf(X), rtol=1e-12)
    assert_allclose(d.normal_quantile(P), stats.norm.ppf(P), rtol=1e-12)


@pytest.mark.parametrize("degrees", [1, 2, 4, 29, 500])
def test_student_chi_square_f_and_beta(degrees):
    above = np.abs(X)
    assert_allclose(d.t_sf(X, degrees), stats.t.sf(X, degrees), rtol=1e-9)
    assert_allclose(d.t_quantile(P[1:], degrees), stats.t.ppf(P[1:], degrees), rtol=1e-8, atol=1e-12)
    assert_allclose(d.chi_square_sf(above, degrees), stats.chi2.sf(above, degrees), rtol=1e-9)
    assert_allclose(d.f_sf(above, degrees, 7), stats.f.sf(above, degrees, 7), rtol=1e-9)
    assert_allclose(d.beta_sf(P, degrees, 2.5), stats.beta.sf(P, degrees, 2.5), rtol=1e-9)


def test_range_of_normals_is_the_studentised_range():
    for k in (2, 3, 11, 60):
        for q in (0.5, 3.0, 6.0):
            assert_allclose(d.range_sf(q, k), stats.studentized_range.sf(q, k, np.inf), rtol=1e-9, atol=1e-13)
        assert d.range_quantile(0.95, k) == pytest.approx(stats.studentized_range.ppf(0.95, k, np.inf), rel=1e-9)


def test_the_upper_points_that_demsar_prints():
    """Table 5 of Demsar (2006): the upper 5 % points divided by sqrt(2), for 2 to 10 algorithms."""
    printed = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
    found = [d.range_quantile(0.95, k) / np.sqrt(2) for k in range(2, 11)]
    assert_allclose(found, printed, atol=1.1e-3)
