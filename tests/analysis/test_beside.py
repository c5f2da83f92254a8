"""What stands beside a verdict: other metrics, other rules, seeds, and algorithms of which nothing can be said.

Each sentence has a table for which it must appear and one for which it must not.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

import recassay
from recassay.analysis.inference.significance import holm
from recassay.analysis.plan.fit import plan_study
from recassay.analysis.rank.fit import rank_algorithms
from recassay.analysis.users.fit import compare_users
from recassay.analysis.verdict.beside import seed_tests
from recassay.analysis.verdict.fit import judge
from recassay.api.publish.content import tell
from recassay.core.tables.results import Results
from recassay.core.tables.scores import UserScores
from recassay.reporting.headline import metrics_table, verdict_table
from recassay.reporting.page.forest import verdict_card
from recassay.reporting.words import verdict as told
from support.tables import matrix

LEVELS = {"EASE": 1.0, "LightGCN": 0.9, "ALS": 0.8, "Pop": 0.3}


def results(metrics, *, n=12, seed=0, seeds=1, noise=0.02):
    """By metric and algorithm a level; each dataset has one of its own, and every cell some noise."""
    rng = np.random.default_rng(seed)
    base = rng.uniform(0.1, 0.4, n)
    rows = [
        {"algorithm": name, "dataset": f"d{d:02}", "metric": metric, "seed": s,
         "value": base[d] * level * np.exp(noise * rng.standard_normal())}
        for metric, levels in metrics.items()
        for name, level in levels.items()
        for d in range(n)
        for s in range(seeds)
    ]  # fmt: skip
    frame = pl.DataFrame(rows)
    return Results.from_frame(frame if seeds > 1 else frame.drop("seed"))


TURNED = LEVELS | {"EASE": 0.9, "LightGCN": 1.0}
FLAT = dict.fromkeys(LEVELS, 0.5)


def judged(metrics, **more):
    return recassay.rank(results(metrics, **more), "ndcg@10", replicates=100).judgement


@pytest.mark.parametrize(
    ("metrics", "line"),
    [
        ({"recall@20": TURNED}, "By Recall@20 LightGCN is the clear winner."),
        ({"recall@20": LEVELS}, "The other accuracy metric agrees."),
        ({"recall@20": LEVELS, "mrr": LEVELS, "map@10": LEVELS}, "The other 3 accuracy metrics agree."),
        ({"recall@20": TURNED, "mrr": TURNED, "map@10": LEVELS},
         "By Recall@20 and MRR LightGCN is the clear winner; 1 other accuracy metric agrees."),
        ({"recall@20": FLAT}, "By Recall@20 there is no clear winner, and EASE could be best."),
        ({"coverage@10": TURNED, "seconds": TURNED, "rmse": TURNED}, None),
        ({}, None),
    ],
)  # fmt: skip
def test_whether_other_metrics_of_the_kind_agree(metrics, line):
    verdict = judged({"ndcg@10": LEVELS} | metrics)
    assert told.other_metrics(verdict) == line
    assert verdict.to_dict()["second_line"] == line
    assert (" by nDCG@10" in verdict.headline) == (line is not None), "the metric is named where there are several"
    assert verdict.sentences[0] == (line or verdict.sentences[0])
    assert ("agree" in verdict.sentences[0] or "Recall" in verdict.sentences[0]) == (line is not None)


def test_without_a_winner_other_metrics_name_who_could_be_best():
    verdict = judged({"ndcg@10": FLAT, "recall@20": TURNED})
    assert told.other_metrics(verdict) == "By Recall@20 LightGCN is the clear winner."
    pair = dict.fromkeys(("A", "B"), 1.0) | {"C": 0.5, "D": 0.4}
    trio = pair | {"C": 1.0}
    verdict = judged({"ndcg@10": pair, "recall@20": trio})
    assert verdict.grade == "shared_lead"
    assert set(verdict.metrics[0].could_be_best) == set("ABC")
    assert told.other_metrics(verdict).endswith("could be best.")
    few = judged({"ndcg@10": LEVELS, "recall@20": TURNED, "mrr": LEVELS}, n=4)
    assert told.other_metrics(few) == (
        "By Recall@20 LightGCN leads by mean rank; 1 other accuracy metric puts EASE first, too."
    )


def test_another_metric_is_judged_as_if_it_had_been_asked_for_alone():
    table = results({"ndcg@10": LEVELS, "recall@20": FLAT, "mrr": TURNED}, noise=0.2)
    for other in recassay.rank(table, "ndcg@10", replicates=100).judgement.metrics:
        alone = recassay.rank(table, other.metric, replicates=100).judgement
        assert (other.grade, other.leaders, other.could_be_best) == (alone.grade, alone.leaders, alone.could_be_best)
        assert recassay.compare(table, other.metric).judgement.headline == alone.headline


def test_a_metric_with_missing_cells_or_of_unknown_direction_is_not_judged():
    whole = results({"ndcg@10": LEVELS, "recall@20": LEVELS, "charm": LEVELS})
    holed = Results.from_frame(whole.frame.filter((pl.col("metric") != "recall@20") | (pl.col("dataset") != "d00")))
    verdict = recassay.rank(holed, "ndcg@10", metrics="all", replicates=100).judgement
    assert {each.metric: each.grade for each in verdict.metrics} == {"recall@20": None, "charm": None}
    assert told.other_metrics(verdict) == "Recall@20 could not be judged."
    reasons = {row[0]: row[3] for row in metrics_table(verdict).rows}
    assert "missing" in reasons["Recall@20"]
    assert "higher or lower" in reasons["Charm"]


def test_the_table_of_all_metrics_is_shown_where_it_is_asked_for():
    table = results({"ndcg@10": LEVELS, "recall@20": TURNED, "coverage@10": FLAT})
    ranked = recassay.rank(table, metrics="all", replicates=100)
    shown = tell(ranked).brief.table
    assert shown.header == ("metric", "grade", "leader", "could be best")
    assert [row[:3] for row in shown.rows][:2] == [
        ("nDCG@10", "Clear winner", "EASE"), ("Recall@20", "Clear winner", "LightGCN"),
    ]  # fmt: skip
    assert shown.rows[2][:2] == ("Coverage@10", "No difference seen")
    usual = recassay.rank(table, replicates=100)
    assert tell(usual).brief.table.header[0] == "algorithm"
    assert recassay.rank(table, metrics="recall@20", replicates=100).metric == "recall@20"
    page = str(verdict_card(usual.judgement))
    assert 'class="by-metric"' in page
    assert page.index("by-metric") < page.index("folds"), "above the fold"
    assert 'class="by-metric"' not in str(verdict_card(judged({"ndcg@10": LEVELS})))


def test_who_would_lead_by_most_other_rules_is_said_where_it_is_another():
    """a00 is first on 3 of 7 datasets by little, and second elsewhere; a01 is far ahead on the others."""
    agreed = rank_algorithms(matrix(np.array([[0.3], [0.2], [0.1]]) + np.linspace(0, 0.2, 9)), replicates=100)
    assert agreed.judgement.other_rules is None
    assert told.other_rules(agreed.judgement) is None
    turned = np.array([[0.20] * 7, [0.19] * 3 + [0.40] * 4, [0.195] * 3 + [0.1] * 4, [0.198] * 3 + [0.1] * 4])
    other = rank_algorithms(matrix(turned), replicates=100)
    assert other.judgement.leaders == ("a00",)
    assert other.judgement.other_rules.leader == "a01"
    counted = [r for r in other.counted() if r.rule.name != "mean_rank"]
    first = [r.rule.title for r in counted if r.ranks[1] == r.ranks.min()]
    assert other.judgement.other_rules.rules == tuple(first)
    assert other.judgement.other_rules.of == len(counted)
    line = f"By {len(first)} of {len(counted)} other rules a01 would lead."
    assert line in other.judgement.sentences
    assert line in told.first_lines(other.judgement)


def test_the_seeds_of_each_dataset_by_hand():
    rng = np.random.default_rng(5)
    repeats = rng.normal(0.3, 0.02, (3, 2, 5)) + np.array([0.03, 0.0, 0.0])[:, None, None]
    repeats[2, 1, 2:] = np.nan  # two seeds are too few
    table = matrix(np.nanmean(repeats, axis=2), replicates=repeats)
    tests = seed_tests(table)
    pairs = [(0, 1), (0, 2), (1, 2)]
    p = [stats.ttest_ind(repeats[a, 0], repeats[b, 0], equal_var=False).pvalue for a, b in pairs]
    for (a, b), expected in zip(pairs, holm(np.array(p)), strict=True):
        assert tests.p[a, b, 0] == tests.p[b, a, 0] == pytest.approx(expected)
    alone = stats.ttest_ind(repeats[0, 1], repeats[1, 1], equal_var=False).pvalue
    assert tests.p[0, 1, 1] == pytest.approx(alone)
    assert np.isnan(tests.p[0, 2, 1])
    pair = tests.between("a01", "a00")
    assert pair.losses == tuple(name for name, at in zip(("d00", "d01"), tests.p[0, 1], strict=True) if at < 0.05)
    assert (pair.wins, pair.tested) == ((), 2)
    assert seed_tests(matrix(table.values, replicates=repeats, paired=True)) is None, "folds share their data"
    assert seed_tests(matrix(table.values)) is None
    lower = seed_tests(matrix(table.values, replicates=repeats, higher_is_better=False)).between("a01", "a00")
    assert (lower.wins, lower.losses) == (pair.losses, ())
    still = matrix(np.array([[0.3], [0.2], [0.2]]), replicates=np.array([[[0.3] * 3], [[0.2] * 3], [[0.2] * 3]]))
    sure = seed_tests(still)
    assert sure.p[:, :, 0][np.triu_indices(3, 1)].tolist() == [0.0, 0.0, 1.0], "no seed noise at all"
    assert sure.ahead_of_all("d00") == "a00"


@pytest.mark.parametrize(("k", "seeds", "spread"), [(2, 3, 1.0), (2, 5, 1.0), (2, 5, 4.0), (4, 5, 1.0)])
def test_equal_algorithms_differ_beyond_seed_noise_on_one_dataset_in_twenty(k, seeds, spread):
    """The share of datasets with any false finding, over 4,000 datasets of equal algorithms."""
    rng = np.random.default_rng(k * seeds)
    n = 4000
    deviations = np.where(np.arange(k) == 0, spread, 1.0)[:, None, None]
    repeats = 0.3 + 0.01 * deviations * rng.standard_normal((k, n, seeds))
    tests = seed_tests(matrix(repeats.mean(axis=2), replicates=repeats))
    found = (tests.p[np.triu_indices(k, 1)] < 0.05).any(axis=0).mean()
    assert 0.03 <= found <= 0.07


def test_what_seeds_show_is_said_where_datasets_do_not_decide():
    near = {"MyModel": 1.05, "SASRec": 1.0, "BPR": 0.7}
    few = judged({"ndcg@10": near}, n=4, seeds=5, noise=0.01)
    line = told.over_seeds(few)
    assert line == (
        "On 4 of 4 datasets MyModel beats SASRec beyond seed noise (other seeds on these datasets, not other datasets)."
    )
    assert few.sentences[0] == line
    assert few.to_dict()["seeds"]["wins"] == ["d00", "d01", "d02", "d03"]
    alike = judged({"ndcg@10": {"MyModel": 1.0, "SASRec": 1.0}}, n=4, seeds=5, noise=0.05)
    assert told.over_seeds(alike).startswith("On none of the 4 datasets do ")
    assert told.over_seeds(judged({"ndcg@10": near}, n=12, seeds=5, noise=0.01)) is None, "the datasets decide"
    assert told.over_seeds(judged({"ndcg@10": near}, n=4)) is None, "one seed"
    folds = results({"ndcg@10": near}, n=4, seeds=5).frame.rename({"seed": "fold"})
    assert recassay.rank(Results.from_frame(folds), replicates=100).judgement.seeds is None


def test_an_effect_that_points_another_way_than_ranks_or_means_is_said_and_plan_has_the_same():
    """The second wins 7 of 12 datasets by little; the first wins 5 by much."""
    n = 12
    values = np.stack([np.linspace(0.2, 0.3, n), np.linspace(0.2, 0.3, n)])
    values[0, :7] *= 1.01
    values[1, 7:] *= 3.0
    table = matrix(values)
    verdict = judge(table)
    pair = verdict.pairs[0]
    assert (pair.a, pair.wins) == ("a00", 7)
    line = told.other_directions(verdict, pair)
    favoured = "a00" if pair.effect.estimate > 1 else "a01"
    assert line is not None
    assert line.startswith(f"The typical ratio per dataset favours {favoured}, ")
    assert line in verdict.sentences
    rows = [
        {"algorithm": name, "dataset": dataset, "metric": "ndcg@10", "value": values[a, d]}
        for a, name in enumerate(table.algorithms)
        for d, dataset in enumerate(table.datasets)
    ]
    plan = plan_study(Results.from_frame(pl.DataFrame(rows)), "ndcg@10")
    (planned,) = plan.pairs
    assert (planned.left, planned.gap) == (pair.a, pytest.approx(pair.effect.estimate - 1))
    assert line in list(tell(plan).sentences)
    clear = judge(matrix(np.array([[0.4], [0.2]]) + np.linspace(0, 0.1, n)))
    assert told.other_directions(clear, clear.pairs[0]) is None


def holed(gone):
    """Ten datasets on which A0 to A3 fall in this order; the cells in `gone` are missing."""
    rng = np.random.default_rng(0)
    rows = [
        {"algorithm": f"A{a}", "dataset": f"d{d}", "metric": "ndcg@10",
         "value": None if (a, d) in gone else 0.5 - 0.1 * a + 0.01 * rng.random()}
        for a in range(4) for d in range(10)
    ]  # fmt: skip
    return Results.from_frame(pl.DataFrame(rows))


def test_algorithms_whose_cells_were_filled_are_not_judged():
    gaps = holed({(1, d) for d in range(6)})
    verdict = recassay.rank(gaps, missing="worst", replicates=100).judgement
    assert (verdict.grade, verdict.not_judged, verdict.could_be_best) == ("clear_winner", ("A1",), ("A0",))
    assert verdict.headline == "A0 is the clear winner: it beats all 2 others; 1 with gaps is not judged."
    assert verdict.status_of("A0", "A1") == "undecided"
    assert verdict.pair("A0", "A1").p == 1.0
    shown = verdict_table(verdict)
    could = dict(zip(verdict.algorithms, (row[shown.header.index("could be best")] for row in shown.rows), strict=True))
    assert could == {"A0": "yes", "A1": "not judged", "A2": "no", "A3": "no"}
    assert verdict.to_dict()["not_judged"] == ["A1"]
    best = recassay.rank(holed({(0, 0)}), missing="worst", replicates=100).judgement
    assert (best.not_judged, "A0" in best.could_be_best) == ((), True), "who could be best even so is judged"
    whole = recassay.rank(holed(set()), missing="worst", replicates=100).judgement
    assert (whole.not_judged, "judged" in whole.headline) == ((), False)


def test_a_headline_says_that_algorithms_with_gaps_were_dropped():
    gaps = holed({(1, 3)})
    verdict = recassay.rank(gaps, missing="drop-algorithms", replicates=100).judgement
    assert verdict.headline == "A0 is the clear winner of the 3 algorithms without gaps: it beats all 2 others."
    assert "without gaps" not in recassay.rank(gaps, missing="drop-datasets", replicates=100).judgement.headline


@pytest.mark.parametrize("missing", ["worst", "drop-algorithms"])
def test_every_headline_of_a_table_with_gaps_has_at_most_twenty_words(missing):
    rng = np.random.default_rng(1)
    for k, n, gap, metrics in [(2, 8, 0.0, 1), (3, 8, 1.0, 2), (4, 12, 0.0, 2), (6, 12, 0.5, 2), (9, 5, 0.2, 1)]:
        rows = [
            {"algorithm": f"A{a}", "dataset": f"d{d}", "metric": metric,
             "value": None if a > 1 and rng.random() < 0.1 else np.exp(gap * (a == 0) + 0.3 * rng.standard_normal())}
            for metric in ("ndcg@10", "recall@10")[:metrics] for a in range(k) for d in range(n)
        ]  # fmt: skip
        verdict = recassay.rank(Results.from_frame(pl.DataFrame(rows)), "ndcg@10", missing=missing, replicates=100)
        assert len(verdict.judgement.headline.split()) <= 20


def test_an_interval_over_users_is_the_same_whoever_else_is_in_the_table():
    values = np.random.default_rng(0).random((4, 300))
    names = ("a", "b", "c", "d")
    whole, part = (
        compare_users([UserScores("films", names[:k], values[:k])], "ndcg@10", higher_is_better=True).datasets[0]
        for k in (4, 2)
    )
    ends = {name: (low, high) for name, low, high in zip(whole.algorithms, whole.low, whole.high, strict=True)}
    for name, low, high in zip(part.algorithms, part.low, part.high, strict=True):
        assert ends[name] == pytest.approx((low, high), abs=1e-12)
