"""Shevchenko et al., From Variability to Stability, KDD 2024: from the published results and characteristics."""

from __future__ import annotations

from collections import Counter

from recassay.analysis.associations import correlate_characteristics
from recassay.api.associations import associations
from recassay.api.clusters import clusters
from recassay.api.compare import compare
from recassay.api.correlations import correlations
from recassay.api.rank import rank
from recassay.api.reproduction.result import Numbers
from recassay.api.select import select
from recassay.api.stress import stress
from recassay.core.tables.results import Results
from recassay.data.catalog.entries import all_datasets
from recassay.data.published.tables import published_characteristics, published_results

NAME, METRIC = "published:kdd24", "ndcg@10"
EIGHT = ("dm_auc", "dm_lbo", "mean_rank", "mean", "geometric_mean", "harmonic_mean", "copeland", "minimax")
DRAWS = 300
"""Draws of the stress test; the paper has 100."""


def numbers() -> Numbers:
    """Every number that follows from the two published tables, by table, row and column."""
    results = published_results(NAME)
    ranked = _ranks(results) | _correlations(results) | _bayes(results) | _stress(results)
    return _domains() | ranked | _associations(results) | _select(results) | _clusters(results)


def _domains() -> Numbers:
    counts = Counter(entry.domain for entry in all_datasets() if "kdd24" in entry.papers)
    return {("Table 1", domain, "datasets"): float(count) for domain, count in counts.items()}


def _ranks(results: Results) -> Numbers:
    """Dolan-Moré areas on the authors' grid of 0.1; all else has no setting."""
    answer = rank(results, METRIC, methods=EIGHT, beta_step=0.1, replicates=100)
    printed: Numbers = {}
    for method, ranking in answer.rankings.items():
        for a, name in enumerate(answer.algorithms):
            printed["Table 2", name, method] = float(ranking.scores[a])
            if method == "mean_rank":
                for place in ("Figure 4", "authors' file, CD"):
                    printed[place, name, method] = float(ranking.scores[a])
            if method == "dm_auc":
                printed["authors' file, Dolan-Moré", name, method] = float(ranking.scores[a])
    return printed


def _correlations(results: Results) -> Numbers:
    rho = correlations(results).to_dict()["spearman"]
    plain = {label: label.partition("@")[0] for label in rho}
    return {("Figure 2", plain[a], plain[b]): rho[a][b] for a in rho for b in rho if rho[a][b] is not None}


def _bayes(results: Results) -> Numbers:
    printed: Numbers = {}
    for pair in compare(results, METRIC).bayesian:
        printed["authors' file, Bayes", pair.left, pair.right] = pair.p_left
        printed["authors' file, Bayes", pair.right, pair.left] = pair.p_right
    return printed


def _stress(results: Results) -> Numbers:
    answer = stress(results, METRIC, methods=EIGHT, draws=DRAWS)
    names = [rule.name for rule in answer.rules]
    printed: Numbers = {}
    for subset in answer.subsets:
        for i, name in enumerate(names):
            printed["Table 3", f"Spearman, {subset.size} datasets", name] = float(subset.numbers["full"][i, 0])
    for row in answer.signs:
        for i, name in enumerate(names):
            printed["Table 3", row.name, name] = row.signs[i]
    return printed


def _associations(results: Results) -> Numbers:
    """The mutual information of the paper follows from 20 classes of equal width, of which chance makes the most."""
    table = published_characteristics(NAME)
    answer = associations(results, METRIC, characteristics=table, permutations=20)
    classes = correlate_characteristics(results.matrix(METRIC), table, permutations=20, bins=20, spacing="width")
    printed: Numbers = {}
    for measure, source in (("pearson", answer), ("spearman", answer), ("mutual_information", classes)):
        for j, name in enumerate(source.characteristics):
            printed["Figure 7", name, measure] = float(source.values[measure][-1, j])
    return printed


def _select(results: Results) -> Numbers:
    answer = select(results, METRIC, k=6, splits=1, curve=False)
    printed: Numbers = {}
    for method, choice in answer.choices.items():
        if choice.simulated is None or choice.simulated_by_metric is None:
            continue
        printed["Table 4", method, METRIC] = choice.simulated.mean
        for metric in ("hitrate@10", "coverage@10"):
            printed["Table 4", method, metric] = choice.simulated_by_metric[metric].mean
    return printed


def _clusters(results: Results) -> Numbers:
    """Clusters are numbered as the paper numbers them, by a dataset of each."""
    answer = clusters(results, METRIC)
    numbered = {"amazon_cds": 1, "movielens_1m": 2, "ratebeer": 3, "food": 4, "foursquare": 5, "netflix": 6}
    places = {k: next((n for name, n in numbered.items() if name in answer.members(k + 1)), None)
              for k in range(len(answer.sizes))}  # fmt: skip
    printed: Numbers = {
        ("Appendix C", "outliers", "datasets"): float(answer.space.outlier.sum()),
        ("Appendix C", "clusters", "number"): float(len(answer.sizes)),
    }
    for k, number in places.items():
        for name in answer.members(k + 1):
            printed["Table 5", name, "cluster"] = None if number is None else float(number)
        for a, name in enumerate(answer.algorithms):
            if answer.mean_rank is None or answer.geometric_mean is None:
                continue
            printed["Figure 8", name, f"cluster {number}, mean rank"] = float(answer.mean_rank[a, k])
            printed["Figure 8", name, f"cluster {number}, geometric mean"] = float(answer.geometric_mean[a, k])
    return printed
