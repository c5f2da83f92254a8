"""Shevchenko et al., From Variability to Stability, KDD 2024: from the published results and characteristics."""

from __future__ import annotations

from collections import Counter

from recassay.analysis.associations import correlate_characteristics
from recassay.api.associations import associations
from recassay.api.clusters import clusters
from recassay.api.compare import compare
from recassay.api.correlations import correlations
from recassay.api.rank import rank
from recassay.api.reproduction.result import Numbers, in_column
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
    return in_column("Table 1", counts, "datasets", counts.values())


def _ranks(results: Results) -> Numbers:
    """Dolan-Moré areas on the authors' grid of 0.1; all else has no setting."""
    answer = rank(results, METRIC, methods=EIGHT, beta_step=0.1, replicates=100)
    printed: Numbers = {}
    again = {"mean_rank": ("Figure 4", "authors' file, CD"), "dm_auc": ("authors' file, Dolan-Moré",)}
    for method, ranking in answer.rankings.items():
        for table in ("Table 2", *again.get(method, ())):
            printed |= in_column(table, answer.algorithms, method, ranking.scores)
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
    printed: Numbers = {}
    for i, rule in enumerate(answer.rules):
        for subset in answer.subsets:
            printed["Table 3", f"Spearman, {subset.size} datasets", rule.name] = float(subset.numbers["full"][i, 0])
        for row in answer.signs:
            printed["Table 3", row.name, rule.name] = row.signs[i]
    return printed


def _associations(results: Results) -> Numbers:
    """The mutual information of the paper follows from 20 classes of equal width, of which chance makes the most."""
    table = published_characteristics(NAME)
    answer = associations(results, METRIC, characteristics=table, permutations=20)
    classes = correlate_characteristics(results.matrix(METRIC), table, permutations=20, bins=20, spacing="width")
    printed: Numbers = {}
    for measure, source in (("pearson", answer), ("spearman", answer), ("mutual_information", classes)):
        printed |= in_column("Figure 7", source.characteristics, measure, source.values[measure][-1])
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
    printed: Numbers = {
        ("Appendix C", "outliers", "datasets"): float(answer.space.outlier.sum()),
        ("Appendix C", "clusters", "number"): float(len(answer.sizes)),
    }
    for k in range(len(answer.sizes)):
        members = answer.members(k + 1)
        number = next((n for name, n in numbered.items() if name in members), None)
        for name in members:
            printed["Table 5", name, "cluster"] = None if number is None else float(number)
        for values, what in ((answer.mean_rank, "mean rank"), (answer.geometric_mean, "geometric mean")):
            if values is not None:
                printed |= in_column("Figure 8", answer.algorithms, f"cluster {number}, {what}", values[:, k])
    return printed
