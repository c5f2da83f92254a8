"""Metrics of groups of items and users: slow twins on a thousand lists, hand-worked values, and the usual names."""

from __future__ import annotations

import numpy as np
import pytest

from recassay.core.tables.labels import normal_label
from recassay.metrics.context import EvaluationContext
from recassay.metrics.groups import disparity, exposure_by_user
from recassay.metrics.make import make_metric
from support import slow_metrics as slow

from .test_definitions import SIX_USERS
from .test_weighted import random_case

PER_USER = [("aclt", "beyond_80"), ("epc", "list"), ("epc", "relevant"), ("efd", "list"), ("efd", "relevant")]
OF_ALL = [("user_coverage", "any"), ("user_coverage", "full"), ("poprsp", "beyond_80"), ("popreo", "beyond_80")]


def cases():
    rng = np.random.default_rng(11)
    for _ in range(40):
        yield random_case(rng), int(rng.integers(1, 7))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "variant"), PER_USER)
def test_a_thousand_lists_equal_the_definition(name, variant):
    for case, k in cases():
        context = EvaluationContext(case.matrix(case.train))
        fast = make_metric(f"{name}@{k}[{variant}]").per_user(case.top(), case.matrix(case.truth), context)
        np.testing.assert_allclose(fast, slow.per_user(name, case, k, variant), rtol=1e-11, atol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "variant"), OF_ALL)
def test_all_lists_together_equal_the_definition(name, variant):
    for case, k in cases():
        context = EvaluationContext(case.matrix(case.train))
        fast = make_metric(f"{name}@{k}[{variant}]").catalogue(case.top(), case.matrix(case.truth), context)
        assert fast == pytest.approx(slow.OF_THE_CATALOGUE[name](case, k, variant), rel=1e-11, nan_ok=True)


@pytest.mark.parametrize(
    ("label", "value"),
    [
        ("user_coverage@3", 4 / 5),
        ("user_coverage@3[full]", 3 / 5),
        # Listed: 5 of the head (0, 1, 2), 6 of the tail (3, 4, 5); users lack 1 + 1 + 3 + 2 + 3 and 13 in training.
        ("poprsp@3", abs(5 / 10 - 6 / 13) / (5 / 10 + 6 / 13)),
        # Relevant: 2, 0 and 1 of the head, 3, 4 and 4 of the tail. Hits: 2 and 3 of user 0, 4 of users 1 and 3.
        ("popreo@3", abs(1 / 3 - 3 / 3) / (4 / 3)),
    ],
)
def test_hand_worked(label, value):
    context = EvaluationContext(SIX_USERS.matrix(SIX_USERS.train))
    metric = make_metric(label)
    found = metric.catalogue(SIX_USERS.top(), SIX_USERS.matrix(SIX_USERS.truth), context)
    assert found == pytest.approx(value)


@pytest.mark.parametrize(
    ("written", "label"),
    [("ARP@10", "popularity@10"), ("APLT@10", "longtail@10"), ("ACLT@10", "aclt@10"), ("PopREO@10", "popreo@10"),
     ("PopRSP@10", "poprsp@10"), ("EPC@10", "epc@10"), ("EFD@10", "efd@10"), ("User coverage@10", "user_coverage@10")],
)  # fmt: skip
def test_people_find_the_names_they_know(written, label):
    assert normal_label(written) == label
    assert make_metric(written).label == label


def test_exposure_of_given_groups():
    """Item 0 is half in each of two groups, item 1 in the second, item 2 in none."""
    groups = np.array([[0.5, 0.5], [0, 1], [0, 0], [0, 0], [0, 0], [0, 0]])
    top = SIX_USERS.top()
    shares = exposure_by_user(top, 2, groups)
    np.testing.assert_allclose(shares, [[0, 0], [0, 1 / 2], [1 / 4, 1 / 4], [np.nan, np.nan], [1 / 4, 3 / 4]])


def test_disparity_is_undefined_where_a_group_has_nothing():
    assert disparity(np.array([2.0, 1.0]), np.array([4.0, 4.0])) == pytest.approx((0.5 - 0.25) / 0.75)
    assert np.isnan(disparity(np.array([2.0, 0.0]), np.array([4.0, 0.0])))
    assert np.isnan(disparity(np.zeros(2), np.ones(2)))
