"""Every metric and every variant against the slow definitions, hand-worked values, and invariances."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from recassay.core.errors import UsageError
from recassay.core.metric_facts import OWN_FACTS
from recassay.core.tables.labels import known_direction
from recassay.core.types import TopK
from recassay.metrics import accuracy, beyond, diversity, exposure, groups
from recassay.metrics.common_users import common_users
from recassay.metrics.context import EvaluationContext, membership
from recassay.metrics.make import make_metric
from recassay.metrics.protocol import CatalogueMetric, MetricBase, UserMetric
from support import slow_metrics as slow

ROOMS = (accuracy, beyond, diversity, exposure, groups)
KINDS = {
    kind.name: kind
    for room in ROOMS
    for kind in vars(room).values()
    if isinstance(kind, type) and issubclass(kind, MetricBase) and hasattr(kind, "name")
}
USER_KINDS = [(name, v) for name, kind in KINDS.items() if kind.scope == "user" for v in kind.variants]
CATALOGUE_KINDS = [(name, v) for name, kind in KINDS.items() if kind.scope == "catalogue" for v in kind.variants]


def test_every_metric_has_a_slow_twin_and_a_label():
    slow_names = {*slow.NEEDS_RELEVANT, *slow.OF_THE_LIST, *slow.OF_THE_CATALOGUE}
    assert set(KINDS) == slow_names
    assert set(KINDS) <= set(OWN_FACTS)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_a_metric_says_what_it_is(name):
    kind = KINDS[name]
    metric = kind(10)
    assert isinstance(metric, UserMetric if kind.scope == "user" else CatalogueMetric)
    assert "\n" not in kind.formula
    assert kind.source
    assert all(kind.variants.values())
    assert kind.higher_is_better is known_direction(name)
    assert metric.label == f"{name}@10"
    labels = [kind(10, variant).label for variant in kind.variants]
    assert len(set(labels)) == len(labels)
    assert kind(None).label == name


@pytest.mark.slow
@pytest.mark.parametrize(("name", "variant"), USER_KINDS)
@settings(max_examples=40)
@given(case=slow.cases(), data=st.data())
def test_per_user_equals_the_definition(name, variant, case, data):
    k = data.draw(st.one_of(st.none(), st.integers(1, case.width)))
    context = EvaluationContext(case.matrix(case.train))
    fast = KINDS[name](k, variant).per_user(case.top(), case.matrix(case.truth), context)
    np.testing.assert_allclose(fast, slow.per_user(name, case, k or case.width, variant), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("name", "variant"), CATALOGUE_KINDS)
@settings(max_examples=40)
@given(case=slow.cases(), data=st.data())
def test_catalogue_equals_the_definition(name, variant, case, data):
    k = data.draw(st.one_of(st.none(), st.integers(1, case.width)))
    context = EvaluationContext(case.matrix(case.train))
    fast = KINDS[name](k, variant).catalogue(case.top(), case.matrix(case.truth), context)
    np.testing.assert_allclose(
        fast, slow.OF_THE_CATALOGUE[name](case, k or case.width, variant), rtol=1e-12, atol=1e-12
    )


@settings(max_examples=30)
@given(case=slow.cases(), seed=st.integers(0, 1000))
def test_the_order_of_users_changes_nothing(case, seed):
    top, truth = case.top(), case.matrix(case.truth)
    order = np.random.default_rng(seed).permutation(len(top.users))
    shuffled = TopK(top.users[order], top.items[order], top.scores[order])
    for kind in KINDS.values():
        context = EvaluationContext(case.matrix(case.train))
        metric = kind(case.width)
        if kind.scope == "user":
            np.testing.assert_array_equal(
                metric.per_user(top, truth, context)[order], metric.per_user(shuffled, truth, context)
            )
        else:
            np.testing.assert_allclose(
                metric.catalogue(top, truth, context), metric.catalogue(shuffled, truth, context), rtol=1e-12
            )


@settings(max_examples=40)
@given(case=slow.cases())
def test_bounded_metrics_stay_within_their_bounds(case):
    top, truth = case.top(), case.matrix(case.truth)
    context = EvaluationContext(case.matrix(case.train))
    for name, variant in USER_KINDS:
        if variant in OWN_FACTS[name].unbounded:
            continue
        if name in {"novelty", "popularity", "aclt", "efd"} or (name, variant) == ("calibration", "kl"):
            assert OWN_FACTS[name].bounds is None
            continue
        values = KINDS[name](None, variant).per_user(top, truth, context)
        defined = values[~np.isnan(values)]
        assert ((defined >= -1e-12) & (defined <= 1 + 1e-12)).all(), (name, variant)


HAND = TopK(np.array([0], np.int32), np.array([[3, 0, 5, 1, 4]], np.int32), np.zeros((1, 5), np.float32))
HAND_TRUTH = csr_array(np.array([[1, 0, 1, 0, 1, 0, 0, 0]], dtype=np.float32))


@pytest.mark.parametrize(
    ("name", "variant", "k", "value"),
    [
        ("precision", "by_k", 5, 2 / 5),
        ("precision", "by_min", 5, 2 / 3),
        ("recall", "by_relevant", 5, 2 / 3),
        ("recall", "by_min", 2, 1 / 2),
        ("f1", "by_k", 5, 2 * (2 / 5) * (2 / 3) / (2 / 5 + 2 / 3)),
        ("hitrate", "any", 1, 0.0),
        ("hitrate", "any", 2, 1.0),
        ("mrr", "first", 5, 1 / 2),
        ("rprecision", "by_relevant", 5, 1 / 3),
        ("map", "by_min", 5, (1 / 2 + 2 / 5) / 3),
        ("map", "by_relevant", 2, (1 / 2) / 3),
        ("map", "by_min", 2, (1 / 2) / 2),
        ("map", "by_k", 5, (1 / 2 + 2 / 5) / 5),
        ("map", "by_hits", 5, (1 / 2 + 2 / 5) / 2),
        ("ndcg", "ideal_min", 5, (1 / math.log2(3) + 1 / math.log2(6)) / (1 + 1 / math.log2(3) + 1 / 2)),
        ("ndcg", "ideal_k", 2, (1 / math.log2(3)) / (1 + 1 / math.log2(3))),
    ],
)
def test_hand_worked_accuracy(name, variant, k, value):
    """List 3 0 5 1 4, relevant 0 2 4: hits in places 2 and 5, R = 3."""
    context = EvaluationContext(csr_array((1, 8), dtype=np.float32))
    assert KINDS[name](k, variant).per_user(HAND, HAND_TRUTH, context) == pytest.approx([value], abs=1e-12)


def test_hand_worked_auc():
    """Relevant 0, 2, 4 of 8; the list leaves 2, 6, 7: below 0 are 4, below 4 are 2, below 2 half of 2."""
    context = EvaluationContext(csr_array((1, 8), dtype=np.float32))
    assert KINDS["auc"]().per_user(HAND, HAND_TRUTH, context) == pytest.approx([(4 + 2 + 1) / 15])


def test_hand_worked_diversity_and_novelty():
    """Items 0 and 1 share one of their two users each; item 2 has no user."""
    train = csr_array(np.array([[1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0]], dtype=np.float32))
    top = TopK(np.array([0, 1], np.int32), np.array([[0, 1, 2], [2, -1, -1]], np.int32), np.zeros((2, 3), np.float32))
    context, truth = EvaluationContext(train), csr_array((4, 3), dtype=np.float32)
    np.testing.assert_allclose(KINDS["diversity"]().per_user(top, truth, context), [1 - 0.5 / 3, np.nan])
    expected = [(2 * math.log2(3 / 2) + math.log2(3)) / 3, math.log2(3)]
    np.testing.assert_allclose(KINDS["novelty"]().per_user(top, truth, context), expected)


SIX_USERS = slow.Case(
    n_items=6,
    width=3,
    users=[0, 1, 3, 4, 5],
    lists=[[2, 5, 3], [5, 1, 4], [0, 4], [], [1, 0, 3]],
    train=[{0, 1}, {0, 2}, {0, 1, 2}, set(), {0, 3}, {4}],
    truth=[{2, 3}, {0, 4}, set(), {4}, {1}, set()],
)
"""Five users have trained; items 0 to 5 have 4, 2, 2, 1, 1 and 0 users. The first three are 80 % of all events: items 3
to 5 are the tail, item 0 is the head. Item 0 is known to user 1 and yet among the relevant ones."""


@pytest.mark.parametrize(
    ("name", "variant", "k", "values"),
    [
        ("auc", "unseen", 3, [3 / 4, 1 / 3, 4 / 5, 1 / 2, np.nan]),
        ("auc", "all", 3, [7 / 8, (2 + 1) / 8, 4 / 5, 1 / 2, np.nan]),
        ("novelty", "bits", 3, [(np.log2(5 / 2) + 2 * np.log2(5)) / 3, (np.log2(5 / 2) + 2 * np.log2(5)) / 3,
                                (np.log2(5 / 4) + np.log2(5)) / 2, np.nan,
                                (np.log2(5 / 2) + np.log2(5 / 4) + np.log2(5)) / 3]),
        ("novelty", "normalised", 1, [np.log(5 / 2) / np.log(5), 1, np.log(5 / 4) / np.log(5), np.nan,
                                      np.log(5 / 2) / np.log(5)]),
        ("popularity", "count", 3, [1, 1, 5 / 2, np.nan, 7 / 3]),
        ("popularity", "share", 2, [1 / 5, 1 / 5, 1 / 2, np.nan, 3 / 5]),
        ("longtail", "beyond_80", 3, [2 / 3, 2 / 3, 1 / 2, np.nan, 1 / 3]),
        # The second most popular new item has one user for users 0 and 1, and two for user 3.
        ("serendipity", "by_k", 2, [0, 0, 1 / 2, 0, np.nan]),
        ("serendipity", "by_unexpected", 2, [0, 0, 1, 0, np.nan]),
        # The profile of user 0 is half head and half middle, the list one third middle and two thirds tail.
        ("calibration", "js", 3, [
            (0.5 * np.log2(0.5 / 0.25) + 0.5 * np.log2(0.5 / (5 / 12))
             + 1 / 3 * np.log2(1 / 3 / (5 / 12)) + 2 / 3 * np.log2(2 / 3 / (1 / 3))) / 2,
            (0.5 * np.log2(0.5 / 0.25) + 0.5 * np.log2(0.5 / (5 / 12))
             + 1 / 3 * np.log2(1 / 3 / (5 / 12)) + 2 / 3 * np.log2(2 / 3 / (1 / 3))) / 2,
            np.nan, np.nan,
            (np.log2(1 / (2 / 3)) + 2 * (1 / 3) * np.log2(1 / 3 / (1 / 6)) + 1 / 3 * np.log2(1 / 3 / (2 / 3))) / 2,
        ]),
        ("calibration", "kl", 1, [
            0.5 * np.log(0.5 / 0.005) + 0.5 * np.log(0.5 / 0.995), 0.5 * np.log(1 / 0.01) + 0.5 * np.log(1 / 0.01),
            np.nan, np.nan, np.log(1 / 0.01),
        ]),
    ],
)  # fmt: skip
def test_hand_worked_values_of_six_users(name, variant, k, values):
    context = EvaluationContext(SIX_USERS.matrix(SIX_USERS.train))
    found = KINDS[name](k, variant).per_user(SIX_USERS.top(), SIX_USERS.matrix(SIX_USERS.truth), context)
    np.testing.assert_allclose(found, values, atol=1e-12)
    np.testing.assert_allclose(slow.per_user(name, SIX_USERS, k, variant), values, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "variant", "k", "value"),
    [
        # Of the first three places item 0 has 2, 1 has 2, 2 has 1, 3 has 2, 4 has 2 and 5 has 2.
        ("coverage", "catalogue", 1, 4 / 6),
        ("coverage", "train", 1, 3 / 5),
        ("gini", "over_n", 3, (-5 * 1 + 2 * (-3 - 1 + 1 + 3 + 5)) / (6 * 11)),
        ("gini", "over_n_minus_1", 3, (-5 * 1 + 2 * (-3 - 1 + 1 + 3 + 5)) / (5 * 11)),
        ("gini", "over_n_plus_1", 3, (-5 * 1 + 2 * (-3 - 1 + 1 + 3 + 5)) / (7 * 11)),
        ("entropy", "bits", 1, 2.0),
        ("entropy", "nats", 1, 2 * math.log(2)),
        ("entropy", "normalised", 1, 2 / math.log2(6)),
    ],
)
def test_hand_worked_values_of_the_catalogue(name, variant, k, value):
    context = EvaluationContext(SIX_USERS.matrix(SIX_USERS.train))
    found = KINDS[name](k, variant).catalogue(SIX_USERS.top(), SIX_USERS.matrix(SIX_USERS.truth), context)
    assert found == pytest.approx(value, abs=1e-12)


def test_equally_popular_items_stand_in_the_order_of_the_table():
    dense = np.random.default_rng(1).random((6, 60)) < 0.3
    order = EvaluationContext(csr_array(dense.astype(np.float32))).by_popularity
    assert order.tolist() == sorted(range(60), key=lambda item: (-dense[:, item].sum(), item))


def test_metrics_where_nothing_is_known():
    """One user in training, a catalogue of one item, no lists, or no training data at all."""
    top = TopK(np.array([0], np.int32), np.array([[0]], np.int32), np.zeros((1, 1), np.float32))
    nobody, one = EvaluationContext(csr_array((2, 1), dtype=np.float32)), EvaluationContext(csr_array([[1.0], [0.0]]))
    truth = csr_array([[1.0], [0.0]])
    for variant, value in (("bits", 0.0), ("normalised", np.nan)):
        np.testing.assert_equal(KINDS["novelty"](1, variant).per_user(top, truth, one), [value])
        np.testing.assert_equal(KINDS["novelty"](1, variant).per_user(top, truth, nobody), [np.nan])
    np.testing.assert_equal(KINDS["popularity"](1, "share").per_user(top, truth, nobody), [0.0])
    for name, variant, value in (
        ("entropy", "bits", 0.0), ("entropy", "nats", 0.0), ("entropy", "normalised", np.nan),
        ("gini", "over_n", 0.0), ("gini", "over_n_minus_1", np.nan), ("gini", "over_n_plus_1", 0.0),
        ("coverage", "catalogue", 1.0), ("coverage", "train", np.nan),
    ):  # fmt: skip
        np.testing.assert_equal(KINDS[name](1, variant).catalogue(top, truth, nobody), value)
        empty = TopK.empty(top.users, 1)
        expected = {"coverage": 0.0 if variant == "catalogue" else np.nan}.get(name, np.nan)
        np.testing.assert_equal(KINDS[name](1, variant).catalogue(empty, truth, nobody), expected)


@settings(max_examples=40)
@given(case=slow.cases(), seed=st.integers(0, 100))
def test_common_users_are_counted(case, seed):
    columns = EvaluationContext(case.matrix(case.train)).columns
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, case.n_items, (2, 20))
    dense = columns.toarray()
    expected = (dense.T @ dense)[first, second]
    np.testing.assert_array_equal(common_users(columns, first, second), expected)


def test_diversity_in_pieces_is_the_same(monkeypatch):
    rng = np.random.default_rng(5)
    train = csr_array((rng.random((90, 40)) < 0.2).astype(np.float32))
    items = np.array([rng.permutation(40)[:6] for _ in range(90)], dtype=np.int32)
    top = TopK(np.arange(90, dtype=np.int32), items, np.zeros((90, 6), np.float32))
    whole = KINDS["diversity"]().per_user(top, train, EvaluationContext(train))
    monkeypatch.setattr(diversity, "PAIRS_AT_ONCE", 40)
    pieces = KINDS["diversity"]().per_user(top, train, EvaluationContext(train))
    np.testing.assert_allclose(pieces, whole, rtol=1e-13)


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), rows=st.integers(1, 40))
def test_membership_is_a_look_up(seed, rows):
    rng = np.random.default_rng(seed)
    dense = rng.random((rows, 9)) < 0.3
    users = rng.integers(0, rows, 30).astype(np.int32)
    items = rng.integers(-1, 9, (30, 4)).astype(np.int32)
    expected = dense[users[:, None], items] & (items >= 0)
    np.testing.assert_array_equal(membership(csr_array(dense.astype(np.float32)), users, items), expected)


def test_many_users_are_looked_up_in_blocks(monkeypatch):
    monkeypatch.setattr("recassay.metrics.context._TABLE_BYTES", 1)  # sixteen users at a time
    rng = np.random.default_rng(2)
    dense, users = rng.random((50, 9)) < 0.4, rng.permutation(50)[:37].astype(np.int32)
    items = rng.integers(-1, 9, (37, 4)).astype(np.int32)
    expected = dense[users[:, None], items] & (items >= 0)
    np.testing.assert_array_equal(membership(csr_array(dense.astype(np.float32)), users, items), expected)


def test_hits_are_looked_up_once_for_all_metrics(monkeypatch):
    calls = []
    real = membership
    monkeypatch.setattr(
        "recassay.metrics.context.membership", lambda *given: calls.append(1) or real(*given), raising=True
    )
    context = EvaluationContext(csr_array((1, 8), dtype=np.float32))
    for name in ("ndcg", "map", "recall", "mrr"):
        KINDS[name](5).per_user(HAND, HAND_TRUTH, context)
    assert len(calls) == 1
    other = TopK(HAND.users, HAND.items[:, ::-1].copy(), HAND.scores)
    assert KINDS["mrr"]().per_user(other, HAND_TRUTH, context)[0] == 1.0
    assert len(calls) == 2


@pytest.mark.parametrize("k", [0, -3])
def test_a_cutoff_below_one_is_refused(k):
    with pytest.raises(UsageError, match="at least 1"):
        KINDS["ndcg"](k)


def test_an_unknown_variant_is_refused_with_the_known_ones():
    with pytest.raises(UsageError, match="by_min"):
        KINDS["precision"](10, "by_mim")


def test_the_k_of_a_formula_is_the_cut_off_also_where_lists_are_shorter():
    lists = SimpleNamespace(k=5)
    assert [make_metric(label).depth(lists) for label in ("precision@10", "precision@3", "precision")] == [10, 3, 5]
