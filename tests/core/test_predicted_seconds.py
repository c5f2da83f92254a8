"""Predicted seconds by hand: where nothing is known, and where a cell took no time at all."""

from __future__ import annotations

import numpy as np
import pytest

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
