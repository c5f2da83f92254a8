"""Weighted metrics: slow twins on a thousand lists, hand-worked values, what the weights say, and right on average."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from recassay.core.errors import InputError, UsageError
from recassay.core.tables.groups import WeightFacts
from recassay.core.tables.labels import facts_of, is_share
from recassay.core.types import Interactions, TopK
from recassay.metrics.context import EvaluationContext
from recassay.metrics.evaluate import evaluate
from recassay.metrics.make import make_metric
from recassay.metrics.weighted import Weighting, fitted_power, popularity_exponent
from support import slow_metrics as slow

NAMES = ("recall", "hitrate", "ndcg", "map")
VARIANTS = ("ips", "snips", "ips power fitted", "snips power 1 clip 1.5")


def random_case(rng: np.random.Generator, n_users: int = 25, n_items: int = 14, width: int = 6) -> slow.Case:
    popular = rng.random(n_items) * 0.7
    return slow.Case(
        n_items,
        width,
        [int(user) for user in rng.permutation(n_users)],
        [[int(i) for i in rng.permutation(n_items)[: rng.integers(0, width + 1)]] for _ in range(n_users)],
        [set(np.flatnonzero(rng.random(n_items) < popular).tolist()) for _ in range(n_users)],
        [set(np.flatnonzero(rng.random(n_items) < 0.3).tolist()) for _ in range(n_users)],
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_thousand_lists_equal_the_definition(name):
    rng = np.random.default_rng(3)
    lists = 0
    for number in range(40):
        case, variant, k = random_case(rng), VARIANTS[number % 4], int(rng.integers(1, 7))
        context = EvaluationContext(case.matrix(case.train))
        fast = make_metric(f"{name}@{k}[{variant}]").per_user(case.top(), case.matrix(case.truth), context)
        np.testing.assert_allclose(fast, slow.per_user(name, case, k, variant), rtol=1e-11, atol=1e-11)
        lists += len(case.lists)
    assert lists == 1000


TOP = TopK(np.array([0], np.int32), np.array([[3, 0, 5, 1, 4]], np.int32), np.zeros((1, 5), np.float32))
TRUTH = csr_array(np.array([[1, 0, 1, 0, 1, 0]], dtype=np.float32))
CHANCE = np.array([0.5, 1, 0.25, 1, 0.125, 1])
"""Relevant 0, 2 and 4 with the weights 2, 4 and 8, that is 3/7, 6/7 and 12/7; 0 and 4 are hit, in places 2 and 5."""


@pytest.mark.parametrize(
    ("label", "value"),
    [
        ("recall@5[ips]", (3 / 7 + 12 / 7) / 3),
        ("recall@2[snips]", (3 / 7) / 3),
        ("hitrate@5[ips]", 1 - (1 - 3 / 7) * (1 - 12 / 7)),
        ("map@5[ips]", (3 / 7 / 2 + 12 / 7 * (1 + 3 / 7) / 5) / 3),
        ("ndcg@2[ips]", (3 / 7 / np.log2(3)) / (1 + 1 / np.log2(3))),
    ],
)
def test_hand_worked(label, value):
    context = EvaluationContext(csr_array((1, 6), dtype=np.float32), CHANCE)
    assert make_metric(label).per_user(TOP, TRUTH, context) == pytest.approx([value])


@pytest.mark.parametrize("name", NAMES)
def test_with_equal_chances_it_is_the_plain_metric(name):
    case = random_case(np.random.default_rng(5))
    context = EvaluationContext(case.matrix(case.train), np.full(case.n_items, 0.2))
    plain = make_metric(f"{name}@4").per_user(case.top(), case.matrix(case.truth), context)
    for kind in ("ips", "snips"):
        weighted = make_metric(f"{name}@4[{kind}]").per_user(case.top(), case.matrix(case.truth), context)
        np.testing.assert_allclose(weighted, plain, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_ips_is_right_on_average_where_plain_is_not(name):
    """Many logs of uneven exposure against as many events of even exposure."""
    rng, n_users, n_items = np.random.default_rng(8), 400, 30
    likes = rng.random((n_users, n_items)) < 0.5
    chance = np.linspace(0.6, 0.05, n_items)
    score = likes + rng.normal(size=likes.shape) + 3 * chance
    top = TopK(np.arange(n_users, dtype=np.int32), np.argsort(-score, axis=1)[:, :5].astype(np.int32),
               np.zeros((n_users, 5), np.float32))  # fmt: skip
    even = float((likes @ chance).sum() / likes.sum())

    def mean(label, seen):
        values = []
        for _ in range(60):
            truth = csr_array((likes & (rng.random(likes.shape) < seen)).astype(np.float64))
            context = EvaluationContext(csr_array((n_users, n_items)), chance)
            values.append(np.nanmean(make_metric(label).per_user(top, truth, context)))
        return np.mean(values)

    truth, plain, ips = mean(f"{name}@5", even), mean(f"{name}@5", chance), mean(f"{name}@5[ips]", chance)
    assert abs(ips - truth) < 0.25 * abs(plain - truth)


def test_the_exponent_of_a_power_law_is_found():
    rng = np.random.default_rng(4)
    counts = np.floor(9.5 * (1 - rng.random(20_000)) ** (-1 / 1.5) + 0.5).astype(np.int64)  # P(c) ~ c^-2.5 from 10
    assert popularity_exponent(counts) == pytest.approx(2.5, abs=0.05)
    assert fitted_power(counts) == pytest.approx(1.75, abs=0.03)
    assert popularity_exponent(np.zeros(3, dtype=np.int64)) == 1.0


def test_clipping_holds_the_largest_weight():
    truth, counts = csr_array(np.ones((1, 6))), np.array([1, 1, 1, 1, 1, 1000])
    free, clipped = (
        Weighting.parse(text).weights(truth, counts, None) for text in ("ips power 1", "ips power 1 clip 1")
    )
    assert [free.mean(), clipped.mean()] == pytest.approx([1, 1])
    assert free.max() / free.min() == pytest.approx(1000)
    assert clipped.max() / clipped.min() == pytest.approx(1000 * free.mean() / free.max())


@pytest.mark.parametrize(
    ("written", "read"),
    [("ips", Weighting("ips")), ("SNIPS power fitted", Weighting("snips", None)),
     ("ips clip 9", Weighting("ips", clip=9)),
     ("snips power 1 clip 2.5", Weighting("snips", 1, 2.5)), ("by_k", None), ("ips power", None), (None, None)],
)  # fmt: skip
def test_a_label_says_the_weighting(written, read):
    assert Weighting.parse(written) == read
    if read is not None:
        assert make_metric(f"NDCG@10[{written}]").label == f"ndcg@10[{read}]"
        assert Weighting.parse(str(read)) == read


def test_a_limit_below_the_mean_and_an_unknown_weighting_are_refused():
    with pytest.raises(UsageError, match="1 or more"):
        make_metric("ndcg@10[ips clip 0.5]")
    with pytest.raises(UsageError, match="no variant"):
        make_metric("precision@10[ips]")


def test_a_weighted_share_is_no_share():
    assert is_share("ndcg@10")
    assert not is_share("ndcg@10[snips power 2]")
    assert facts_of("hitrate@10").hit_like
    assert not facts_of("hitrate@10[ips]").hit_like


def interactions(matrix: np.ndarray) -> Interactions:
    rows, columns = np.nonzero(matrix)
    tables = [
        pl.Series(name, [f"{name[0]}{i}" for i in range(n)])
        for name, n in zip(("user", "item"), matrix.shape, strict=True)
    ]
    return Interactions(rows.astype(np.int32), columns.astype(np.int32), *tables)


def test_an_evaluation_says_how_far_its_weights_may_be_trusted():
    rng = np.random.default_rng(6)
    train, test = (interactions(rng.random((300, 20)) < share) for share in (0.4, 0.2))
    top = TopK(np.arange(300, dtype=np.int32), np.argsort(rng.random((300, 20)), axis=1).astype(np.int32)[:, :5],
               np.zeros((300, 5), np.float32))  # fmt: skip
    result = evaluate(top, test, ["ndcg@5", "ndcg@5[ips]"], train=train, propensity=np.linspace(0.1, 1, 20))
    [(label, facts)] = result.weights.items()
    assert label == "ndcg@5[ips]"
    weights = 1 / np.linspace(0.1, 1, 20)[test.item]
    assert facts.events == len(test)
    assert facts.effective == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    assert facts.largest == pytest.approx(weights.max() / weights.mean())
    values = result.per_user["ndcg@5[ips]"]
    assert facts.standard_error == pytest.approx(values.std() / np.sqrt(values.len()))
    assert not facts.wild
    assert result.to_dict()["weights"][label]["wild"] is False
    wild = np.full(20, 1.0)
    wild[3] = 1e-5
    again = evaluate(top, test, ["ndcg@5[ips]"], train=train, propensity=wild)
    assert again.weights["ndcg@5[ips]"].wild
    assert WeightFacts(1000, 600.0, 80.0, 0.1).wild
    with pytest.raises(InputError, match="test events have no propensity, the first of user u"):
        evaluate(top, test, ["ndcg@5[ips]"], train=train, propensity=np.zeros(20))
