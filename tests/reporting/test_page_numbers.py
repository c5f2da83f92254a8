"""Every number that the page computes in the browser is the one that Python computes."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from recassay.analysis.aggregation.rules import RULES
from recassay.analysis.inference.significance import dataset_ranks
from recassay.analysis.profiles import fit_profiles
from recassay.analysis.rank.fit import rank_algorithms
from recassay.analysis.verdict.fit import judge
from recassay.core.tables.matrix import Matrix
from recassay.core.tables.results import Results
from support.browser import ALGORITHMS, DATASETS, METRICS, needs_browser

pytestmark = needs_browser


def choose(metric: str, rule: str, algorithms, datasets) -> dict:
    names, places = sorted(ALGORITHMS), sorted(DATASETS)
    return {
        "metric": METRICS.index(metric),
        "rule": list(RULES).index(rule),
        "algorithms": sorted(names.index(ALGORITHMS[a]) for a in algorithms),
        "datasets": sorted(places.index(DATASETS[d]) for d in datasets),
    }


def python_matrix(table: Results, choice: dict):
    algorithms = [sorted(ALGORITHMS)[a] for a in choice["algorithms"]]
    datasets = [sorted(DATASETS)[d] for d in choice["datasets"]]
    rows = table.frame.filter(pl.col("algorithm").is_in(algorithms) & pl.col("dataset").is_in(datasets))
    return Results(rows).matrix(METRICS[choice["metric"]], missing="drop-datasets")


CHOICES = [
    ("ndcg@10", range(6), range(15)),
    ("ndcg@10", (0, 2, 5), (1, 4, 5, 9)),
    ("ndcg@10", range(6), range(12)),
    ("hitrate@10", range(6), range(15)),
    ("hitrate@10", (0, 1, 2, 3), range(9)),
    ("novelty@10", range(6), range(15)),
    ("novelty@10", (1, 3, 4), range(15)),
    ("seconds_fit", range(6), range(15)),
    ("seconds_fit", (5, 1), (0, 1)),
]


@pytest.mark.parametrize(("metric", "algorithms", "datasets"), CHOICES)
def test_every_aggregation_equals_python(page, page_results, metric, algorithms, datasets):
    for rule in RULES:
        choice = choose(metric, rule, algorithms, datasets)
        answer = page.evaluate("(choice) => RecAssay.compute(RecAssay.data, choice)", choice)
        matrix = python_matrix(page_results, choice)
        ranked = rank_algorithms(matrix, methods=[rule], replicates=100)
        assert [sorted(DATASETS)[d] for d in answer["datasets"]] == list(matrix.datasets)
        np.testing.assert_allclose(answer["scores"], ranked.rankings[rule].scores, rtol=1e-12, atol=1e-12)
        assert answer["ranks"] == ranked.rankings[rule].ranks.tolist()


@pytest.mark.parametrize(("metric", "algorithms", "datasets"), CHOICES)
def test_mean_ranks_and_profiles_equal_python(page, page_results, metric, algorithms, datasets):
    choice = choose(metric, "mean_rank", algorithms, datasets)
    answer = page.evaluate("(choice) => RecAssay.compute(RecAssay.data, choice)", choice)
    matrix = python_matrix(page_results, choice)
    verdict = judge(matrix)
    assert tuple(matrix.algorithms[a] for a in answer["order"]) == verdict.algorithms
    np.testing.assert_allclose([answer["meanRanks"][a] for a in answer["order"]], verdict.mean_rank, rtol=1e-12)
    profiles = fit_profiles(matrix)
    np.testing.assert_allclose(answer["shares"], profiles.auc, rtol=1e-12)
    corners = profiles.to_dict()["profiles"]
    for a, name in enumerate(matrix.algorithms):
        np.testing.assert_allclose(answer["profiles"][a], corners[name], rtol=1e-12)


@pytest.mark.parametrize("policy", ["drop-datasets", "drop-algorithms", "worst"])
def test_gaps_are_met_as_python_meets_them(page, page_results, policy):
    choice = choose("novelty@10", "mean", range(6), range(15))
    answer = page.evaluate(
        "([choice, missing]) => RecAssay.compute({...RecAssay.data, missing}, choice)", [choice, policy]
    )
    matrix = page_results.matrix("novelty@10", missing=policy)
    assert [sorted(ALGORITHMS)[a] for a in answer["algorithms"]] == list(matrix.algorithms)
    assert len(answer["holes"]) == len(matrix.missing.cells) == 3
    assert sorted(answer["dropped"]) == sorted(matrix.missing.dropped)
    np.testing.assert_allclose(answer["scores"], matrix.values.mean(axis=1), rtol=1e-12)


def test_negative_values_have_ranks_and_no_ratios(page):
    negated = """rule => {
      const data = structuredClone(RecAssay.data);
      data.metrics[0].values = data.metrics[0].values.map((row) => row.map((value) => -value));
      const all = (names) => names.map((_, i) => i);
      return RecAssay.compute(data, {metric: 0, rule, algorithms: all(data.algorithms), datasets: all(data.datasets)});
    }"""
    refused = page.evaluate(negated, list(RULES).index("dm_auc"))
    assert refused["problem"] == "DM AUC needs values of at least 0, and ndcg@10 has negative ones."
    ranked = page.evaluate(negated, list(RULES).index("mean_rank"))
    assert "profiles" not in ranked
    assert min(ranked["ranks"]) == 1


@pytest.mark.parametrize("scale", [1.0, 100.0])
@pytest.mark.parametrize("up", [True, False])
def test_ties_up_to_rounding_are_those_of_python(page, up, scale):
    """Values that are equal in truth and in no bit pattern, and small ones beside large ones."""
    values = np.array(
        [
            [0.1 + 0.2, 0.7, 0.25, 1e-6, 0.3, 0.2],
            [0.3, 0.1 * 7, 0.75 / 3, 2e-6, 0.2, 0.1],
            [0.2, 0.6999, 0.25 * (1 + 1e-10), 1e4, 0.15 + 0.15, 0.25],
            [0.15 + 0.15, 0.5, 0.1, 1e4 * (1 + 1e-12), 0.25, 0.25],
        ]
    )
    values *= scale
    matrix = Matrix(values, ("a", "b", "c", "d"), tuple("uvwxyz"), "ndcg@10", up)
    answer = page.evaluate(
        """([values, up, betaMax]) => {
          const contest = RecAssay.rules.contest(values, up);
          return {
            ranks: contest.ranks,
            scores: Object.fromEntries(
              Object.entries(RecAssay.rules.SCORES).map(([name, score]) => [name, score(contest, betaMax)])),
            profiles: RecAssay.rules.profiles(values, up, betaMax),
          };
        }""",
        [values.tolist(), up, 3.0],
    )
    assert answer["ranks"] == dataset_ranks(matrix).tolist()
    for name, found in rank_algorithms(matrix, replicates=100).rankings.items():
        np.testing.assert_allclose(answer["scores"][name], found.scores, rtol=1e-12)
        higher = RULES[name].higher_is_better(up)
        assert page.evaluate("([s, up]) => RecAssay.rules.scoreRanks(s, up)", [answer["scores"][name], higher]) == (
            found.ranks.tolist()
        )
    corners = fit_profiles(matrix).to_dict()["profiles"]
    for a, name in enumerate(matrix.algorithms):
        np.testing.assert_allclose(answer["profiles"][a], corners[name], rtol=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_groups_letters_bars_and_p_are_those_of_python(page, page_results, metric):
    choice = choose(metric, "mean_rank", range(6), range(15))
    shown = page.evaluate("(choice) => RecAssay.compute(RecAssay.data, choice)", choice)["verdict"]
    matrix = page_results.matrix(metric, missing="drop-datasets")
    verdict = judge(matrix)
    place = [verdict.algorithms.index(name) for name in matrix.algorithms]
    assert shown["groups"] == [verdict.groups[p] for p in place]
    assert shown["could"] == [name in verdict.could_be_best for name in matrix.algorithms]
    assert [tuple(matrix.algorithms[a] for a in bar) for bar in shown["bars"]] == list(verdict.runs)
    first = verdict.algorithms[0]
    for name, p in zip(matrix.algorithms, shown["p"], strict=True):
        assert p == (None if name == first else pytest.approx(verdict.pair(first, name).p))
    fewer = choose(metric, "mean_rank", range(6), range(14))
    assert page.evaluate("(choice) => RecAssay.compute(RecAssay.data, choice)", fewer)["verdict"] is None
