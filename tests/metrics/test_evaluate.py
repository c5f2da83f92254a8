"""Evaluation as a whole: labels to metrics, who is evaluated, what is counted, what is refused."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from scipy.sparse import csr_array

from recassay.core import registry
from recassay.core.errors import InputError, UsageError
from recassay.core.tables.labels import LARGEST_CUTOFF
from recassay.core.types import Interactions, TopK
from recassay.metrics import accuracy, beyond, diversity, exposure
from recassay.metrics.context import EvaluationContext
from recassay.metrics.evaluate import evaluate
from recassay.metrics.make import convention, describe_metrics, make_metric
from recassay.metrics.protocol import MetricBase
from support import slow_metrics as slow

ALL = [
    kind
    for room in (accuracy, beyond, diversity, exposure)
    for kind in vars(room).values()
    if isinstance(kind, type) and issubclass(kind, MetricBase) and hasattr(kind, "name")
]


@pytest.fixture(scope="module", autouse=True)
def registered():
    """The metrics in the registry, whether or not the package is installed with its entry points."""
    for kind in ALL:
        if kind.name not in registry.metrics:
            registry.metrics.add(kind.name, kind)


def interactions(pairs, n_users=5, n_items=6):
    user, item = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    return Interactions(
        user.copy(),
        item.copy(),
        pl.Series([f"u{n}" for n in range(n_users)]),
        pl.Series([f"i{n}" for n in range(n_items)]),
    )


TRAIN = interactions([(0, 0), (1, 1), (2, 0), (3, 2), (4, 0)])
TEST = interactions([(0, 1), (0, 2), (2, 3), (3, 0)])
LISTS = TopK(
    users=np.array([2, 0, 1], dtype=np.int32),
    items=np.array([[3, 1], [4, 1], [0, 2]], dtype=np.int32),
    scores=np.zeros((3, 2), dtype=np.float32),
)


def test_users_without_a_list_score_zero_and_users_without_truth_are_counted():
    result = evaluate(LISTS, TEST, ["precision@2", "ndcg@2", "diversity@2", "coverage@2"], train=TRAIN)
    assert result.counts == {"users": 5, "evaluated": 3, "without_list": 1, "without_relevant": 1}
    assert result.per_user.get_column("user").to_list() == ["u0", "u2", "u3"]
    assert result.per_user.get_column("precision@2").to_list() == [0.5, 0.5, 0.0]
    assert result.per_user.get_column("diversity@2").to_list() == [1.0, 1.0, None]
    assert result.undefined() == {"precision@2": 0, "ndcg@2": 0, "diversity@2": 1}
    assert result.mean()["precision@2"] == pytest.approx(1 / 3)
    assert result.mean()["diversity@2"] == 1.0
    assert result.catalogue == {"coverage@2": pytest.approx(3 / 6)}
    assert list(result.mean()) == ["precision@2", "ndcg@2", "diversity@2", "coverage@2"]


def test_metrics_are_taken_by_label_or_as_they_are():
    made = evaluate(LISTS, TEST, [make_metric("precision@2"), "recall@2"], train=TRAIN)
    assert made.mean() == evaluate(LISTS, TEST, ["precision@2", "recall@2"], train=TRAIN).mean()


def test_ids_come_from_whichever_part_knows_them():
    for truth, train, names in (
        (TEST, TRAIN.csr(), ["u0", "u2", "u3"]), (TEST.csr(), TRAIN, ["u0", "u2", "u3"]),
        (TEST.csr(), TRAIN.csr(), [0, 2, 3]),
    ):  # fmt: skip
        assert evaluate(LISTS, truth, ["recall@2"], train=train).per_user["user"].to_list() == names


def test_frames_and_json_hold_the_means_and_the_conventions():
    result = evaluate(LISTS, TEST, ["map@2[by_k]", "gini@2"], train=TRAIN)
    assert result.to_frame().columns == ["metric", "value"]
    assert result.to_frame().get_column("metric").to_list() == ["map@2[by_k]", "gini@2"]
    plain = json.loads(json.dumps(result.to_dict()))
    assert plain["metrics"]["map@2[by_k]"] == pytest.approx(result.mean()["map@2[by_k]"])
    assert plain["conventions"]["map@2[by_k]"]["convention"] == "divided by k"
    assert plain["counts"]["evaluated"] == 3
    assert plain["undefined"] == {"map@2[by_k]": 0}


def test_a_metric_that_is_nowhere_defined_is_none_in_json():
    empty = TopK(LISTS.users, np.full_like(LISTS.items, -1), LISTS.scores)
    result = evaluate(empty, TEST, ["novelty@2", "entropy@2"], train=TRAIN)
    assert result.to_dict()["metrics"] == {"novelty@2": None, "entropy@2": None}


@settings(max_examples=30)
@given(case=slow.cases())
def test_equals_the_slow_definitions_over_evaluated_users(case):
    evaluated = [user for user, relevant in enumerate(case.truth) if relevant]
    if not evaluated:
        return
    lists = dict(zip(case.users, case.lists, strict=True))
    whole = slow.Case(
        case.n_items, case.width, evaluated, [lists.get(u, []) for u in evaluated], case.train, case.truth
    )
    names = [*slow.NEEDS_RELEVANT, *slow.OF_THE_LIST]
    result = evaluate(case.top(), case.matrix(case.truth), [*names, "coverage"], train=case.matrix(case.train))
    for name in names:
        variant = make_metric(name).variant
        fast = result.per_user.get_column(name).fill_null(np.nan).to_numpy()
        np.testing.assert_allclose(fast, slow.per_user(name, whole, case.width, variant), atol=1e-12)
    assert result.catalogue["coverage"] == pytest.approx(slow.coverage(whole, case.width, "catalogue"))
    assert result.per_user.get_column("user").to_list() == evaluated


def test_longer_lists_do_not_change_a_shorter_cutoff():
    rng = np.random.default_rng(0)
    items = np.array([rng.permutation(30)[:20] for _ in range(8)], dtype=np.int32)
    top = TopK(np.arange(8, dtype=np.int32), items, np.zeros(items.shape, np.float32))
    train = csr_array((rng.random((8, 30)) < 0.2).astype(np.float32))
    truth = csr_array((rng.random((8, 30)) < 0.2).astype(np.float32))
    labels = [f"{kind.name}@5" for kind in ALL]
    alone = evaluate(top.cut(5), truth, labels, train=train).mean()
    beside = evaluate(top, truth, [*labels, "ndcg@20", "auc"], train=train).mean()
    assert {label: beside[label] for label in labels} == pytest.approx(alone, nan_ok=True)


def test_a_metric_without_a_cut_off_reads_whole_lists_beside_others():
    items = np.array([[4, 5, 1, 2]], dtype=np.int32)
    top = TopK(np.array([0], np.int32), items, np.zeros(items.shape, np.float32))
    found = evaluate(top, TEST, ["recall@1", "recall", "mrr", "precision@2"], train=TRAIN).per_user
    assert found.row(0) == ("u0", 0.0, 1.0, 1 / 3, 0.0)
    assert evaluate(top, TEST, ["recall@3", "recall@1"], train=TRAIN).per_user.row(0) == ("u0", 0.5, 0.0)


def test_repeated_and_zero_entries_of_a_matrix_count_once_or_not_at_all():
    entries = np.array([1, 1, 0], dtype=np.float32), np.array([1, 1, 2]), np.array([0, 2, 3, 3, 3, 3])
    truth = csr_array(entries, shape=(5, 6))
    result = evaluate(LISTS, truth, ["recall@2"], train=TRAIN.csr())
    assert result.counts["evaluated"] == 1
    assert result.mean()["recall@2"] == 1.0
    assert truth.nnz == 3


@pytest.mark.parametrize(
    ("values", "items", "evaluated", "recall"),
    [
        ([1, 1, 1], [1, 1, 2], 1, 0.5),  # item 1 twice: two relevant items, of which the list of user 0 has one
        ([1, 0, 1], [1, 3, 2], 1, 0.5),
        ([0, 0, 0], [1, 2, 3], None, None),
    ],
)
def test_a_matrix_with_only_repeated_or_only_zero_entries_is_cleaned_too(values, items, evaluated, recall):
    rows = np.array([0, 3, 3, 3, 3, 3])
    truth = csr_array((np.array(values, dtype=np.float32), np.array(items), rows), shape=(5, 6))
    if evaluated is None:
        with pytest.raises(InputError, match="no user has a relevant item"):
            evaluate(LISTS, truth, ["recall@2"], train=TRAIN.csr())
        return
    result = evaluate(LISTS, truth, ["recall@2"], train=TRAIN.csr())
    assert result.counts["evaluated"] == evaluated
    assert result.mean()["recall@2"] == recall


def test_one_context_judges_the_same_lists_by_two_truths():
    context = EvaluationContext(TRAIN.csr())
    metric = make_metric("precision@2")
    first, second = (interactions([(0, item), (1, 0), (2, 3)]).csr() for item in (4, 5))
    assert metric.per_user(LISTS, first, context).tolist() == [0.5, 0.5, 0.5]
    assert metric.per_user(LISTS, second, context).tolist() == [0.5, 0.0, 0.5]


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("ndcg@10", "ndcg@10"),
        ("NDCG@10", "ndcg@10"),
        ("HR@5", "hitrate@5"),
        ("Hit-Ratio @ 5", "hitrate@5"),
        ("map@10[by_relevant]", "map@10[by_relevant]"),
        ("MAP@10[By-Relevant]", "map@10[by_relevant]"),
        ("map@10[by_min]", "map@10"),
        ("auc", "auc"),
        ("gini[over_n_minus_1]", "gini[over_n_minus_1]"),
    ],
)
def test_labels_are_read_as_people_write_them(label, expected):
    assert make_metric(label).label == expected
    assert make_metric(make_metric(label).label).label == expected


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("ndgc@10", "did you mean 'ndcg'"),
        ("ndcg@ten", "not a cut-off"),
        ("ndcg@0", "not a cut-off"),
        ("ndcg@", "not a cut-off"),
        ("map@10[by_luck]", "no variant"),
        ("@10", "not a metric label"),
    ],
)
def test_bad_labels_are_refused_with_a_hint(label, message):
    with pytest.raises(UsageError, match=message):
        make_metric(label)


def test_every_metric_is_described_with_formula_and_conventions():
    described = {entry["metric"]: entry for entry in describe_metrics()}
    assert {kind.name for kind in ALL} <= set(described)
    assert next(iter(described["map"]["variants"])) == "by_min"
    assert "min(k, R)" in described["map"]["formula"]
    assert convention(make_metric("map@3"))["convention"].startswith("divided by min(k, relevant)")


def test_a_convention_states_all_that_decides_a_number():
    assert convention(make_metric("map@3[by_k]")) == {
        "metric": "map", "k": 3, "scope": "user", "higher_is_better": True,
        "formula": "sum_{j<=k} precision(j) rel(j) / min(k, R)", "variant": "by_k", "convention": "divided by k",
        "source": "trec_eval map_cut_k; Shevchenko et al., KDD 2024, code for the default divisor",
    }  # fmt: skip
    gini = next(entry for entry in describe_metrics() if entry["metric"] == "gini")
    assert (gini["scope"], gini["higher_is_better"]) == ("catalogue", False)
    assert list(gini["variants"]) == ["over_n", "over_n_minus_1", "over_n_plus_1"]
    told = {entry["metric"]: entry for entry in describe_metrics()}
    assert make_metric(told["hitrate"]["aliases"][0]).name == "hitrate"
    assert told["mrr"]["summary"] == type(make_metric("mrr")).summary != ""


def test_a_metric_of_ones_own_that_builds_on_ours_keeps_what_it_says_of_itself():
    ours = type(make_metric("ndcg"))

    class Lost(ours):
        higher_is_better, aliases = False, ("lost gain",)

    class Renamed(ours):
        name = "gini"

    assert (Lost.higher_is_better, Lost.aliases, Lost.summary) == (False, ("lost gain",), ours.summary)
    assert Renamed.higher_is_better is False
    assert ours.higher_is_better is True


def test_the_largest_cut_off_and_a_variant_of_nothing():
    assert make_metric(f"ndcg@{LARGEST_CUTOFF}").k == LARGEST_CUTOFF
    for label in (f"ndcg@{LARGEST_CUTOFF + 1}", "ndcg@1.5", "ndcg@-1", "ndcg@١"):
        with pytest.raises(UsageError, match="not a cut-off"):
            make_metric(label)
    assert make_metric("map[]").variant == "by_min"
    with pytest.raises(UsageError, match="map has no variant ''"):
        type(make_metric("map"))(10, "")


def test_a_question_without_an_answer_is_refused():
    with pytest.raises(UsageError, match=r"ndcg@10 needs lists of 10 items and these have 2; .* or ask for ndcg@2"):
        evaluate(LISTS, TEST, ["ndcg@2", "ndcg@10"], train=TRAIN)
    with pytest.raises(UsageError, match="the metric hitrate@2 is asked for twice"):
        evaluate(LISTS, TEST, ["hr@2", "hitrate@2"], train=TRAIN)
    with pytest.raises(UsageError, match="no metric"):
        evaluate(LISTS, TEST, [], train=TRAIN)
    with pytest.raises(UsageError, match="same user and item tables"):
        evaluate(LISTS, csr_array((4, 6)), ["ndcg@2"], train=TRAIN)
    with pytest.raises(InputError, match="no user has a relevant item"):
        evaluate(LISTS, csr_array((5, 6), dtype=np.float32), ["ndcg@2"], train=TRAIN)


def test_ratings_of_training_events_change_no_value():
    ones = interactions([(0, 0), (0, 5), (1, 0), (1, 1), (2, 0), (2, 4), (3, 1), (4, 0)]).csr()
    rated = csr_array((np.arange(1.0, 1 + ones.nnz), ones.indices, ones.indptr), shape=ones.shape)
    wanted = [kind(2, variant) for kind in ALL if kind.__dict__.get("name") for variant in kind.variants]
    plain, weighted = (evaluate(LISTS, TEST, wanted, train=train) for train in (ones, rated))
    assert weighted.per_user.equals(plain.per_user)
    assert weighted.catalogue == pytest.approx(plain.catalogue, nan_ok=True)
