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
    return _of_algorithms(results) | _of_datasets(results)


def _of_algorithms(results: Results) -> Numbers:
    """Rankings (Table 2), correlations of metrics (Figure 2), the Bayesian test and the stress test (Table 3)."""
    printed: Numbers = {}
    # Dolan-Moré areas on the authors' grid of 0.1; all else has no setting.
    ranked = rank(results, METRIC, methods=EIGHT, beta_step=0.1, replicates=100)
    again = {"mean_rank": ("Figure 4", "authors' file, CD"), "dm_auc": ("authors' file, Dolan-Moré",)}
    for method, ranking in ranked.rankings.items():
        for table in ("Table 2", *again.get(method, ())):
            printed |= in_column(table, ranked.algorithms, method, ranking.scores)

    rho = correlations(results).to_dict()["spearman"]
    plain = {label: label.partition("@")[0] for label in rho}
    printed |= {("Figure 2", plain[a], plain[b]): rho[a][b] for a in rho for b in rho if rho[a][b] is not None}

    for pair in compare(results, METRIC).bayesian:
        printed["authors' file, Bayes", pair.left, pair.right] = pair.p_left
        printed["authors' file, Bayes", pair.right, pair.left] = pair.p_right

    stressed = stress(results, METRIC, methods=EIGHT, draws=DRAWS)
    for i, rule in enumerate(stressed.rules):
        for subset in stressed.subsets:
            printed["Table 3", f"Spearman, {subset.size} datasets", rule.name] = float(subset.numbers["full"][i, 0])
        for row in stressed.signs:
            printed["Table 3", row.name, rule.name] = row.signs[i]
    return printed


def _of_datasets(results: Results) -> Numbers:
    """Domains (Table 1), associations (Figure 7), the choice of datasets (Table 4) and clusters (Appendix C)."""
    counts = Counter(entry.domain for entry in all_datasets() if "kdd24" in entry.papers)
    printed = in_column("Table 1", counts, "datasets", counts.values())

    # The mutual information of the paper follows from 20 classes of equal width, of which chance makes the most.
    table = published_characteristics(NAME)
    usual = associations(results, METRIC, characteristics=table, permutations=20)
    classes = correlate_characteristics(results.matrix(METRIC), table, permutations=20, bins=20, spacing="width")
    for measure, source in (("pearson", usual), ("spearman", usual), ("mutual_information", classes)):
        printed |= in_column("Figure 7", source.characteristics, measure, source.values[measure][-1])

    for method, choice in select(results, METRIC, k=6, splits=1, curve=False).choices.items():
        if choice.simulated is None or choice.simulated_by_metric is None:
            continue
        printed["Table 4", method, METRIC] = choice.simulated.mean
        for metric in ("hitrate@10", "coverage@10"):
            printed["Table 4", method, metric] = choice.simulated_by_metric[metric].mean

    # Clusters are numbered as the paper numbers them, by a dataset of each.
    groups = clusters(results, METRIC)
    numbered = {"amazon_cds": 1, "movielens_1m": 2, "ratebeer": 3, "food": 4, "foursquare": 5, "netflix": 6}
    printed["Appendix C", "outliers", "datasets"] = float(groups.space.outlier.sum())
    printed["Appendix C", "clusters", "number"] = float(len(groups.sizes))
    for k in range(len(groups.sizes)):
        members = groups.members(k + 1)
        number = next((n for name, n in numbered.items() if name in members), None)
        for name in members:
            printed["Table 5", name, "cluster"] = None if number is None else float(number)
        for values, what in ((groups.mean_rank, "mean rank"), (groups.geometric_mean, "geometric mean")):
            if values is not None:
                printed |= in_column("Figure 8", groups.algorithms, f"cluster {number}, {what}", values[:, k])
    return printed
