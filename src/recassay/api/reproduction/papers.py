"""The papers with few numbers to compute again, and the textbooks: one function each, from the published tables."""

from __future__ import annotations

import numpy as np

from recassay.api.beta_irt import beta_irt
from recassay.api.compare import compare
from recassay.api.comper import comper, comper_matrix
from recassay.api.logistic_irt import load_responses, logistic_irt
from recassay.api.reproduction.result import Numbers, in_column
from recassay.core import columns as c
from recassay.data.published.tables import FOLDER, published_results, published_table

_COMPER_TABLES = {
    "Table 4": "comper_table_4_labels",
    "Table 5": "comper_table_5_matching",
    "Table 7": "comper_table_7_matching",
    "Table 8": "comper_matrix",
}
NEGLECTED, ITEMS = 63, 26_745
"""Items above the threshold of 30,000 interactions, and all items (section 2)."""


def bi_reirt() -> Numbers:
    """Xu et al., Bi-directional Item Response Theory, WWW Companion 2025: Table 4 from the two published matrices.

    The estimator is the paper's (squared error of the curves), with the priors that make it settle: the paper's own is
    not identified, and its values depend on the seed (see the page on beta-IRT).
    """
    results = published_results("published:bi-reirt")
    numbers: Numbers = {}
    for metric in ("ndcg@10", "hitrate@10"):
        answer = beta_irt(results, metric, estimator="bi-reirt")
        for trait in ("ability", "challenge"):
            estimated = answer.trait(trait)
            for place, i in enumerate(estimated.order(), start=1):
                numbers["Table 4", f"{trait}, place {place}", f"{metric}, name"] = estimated.names[i]
                numbers["Table 4", f"{trait}, place {place}", f"{metric}, value"] = float(estimated.estimate[i])
            if metric == "ndcg@10":
                numbers["section 3.2", trait, "lowest"] = float(estimated.estimate.min())
                numbers["section 3.2", trait, "highest"] = float(estimated.estimate.max())
    return numbers


def comper_tables() -> Numbers:
    """Alslaity and Tran, ComPer, IJITCS 2019: Tables 4, 5, 7, 8 and 13, and the counts of the text."""
    derived = comper_matrix()
    frames = derived.frames()
    numbers: Numbers = {}
    for table, name in _COMPER_TABLES.items():
        for row in frames[name].iter_rows(named=True):
            dimension = row.pop("dimension")
            for objective, cell in row.items():
                numbers[table, dimension, objective] = float(cell) if table == "Table 8" else str(cell)
    pairs = derived.first_match.size
    settled, in_the_end = int(derived.first_match.sum()), int(derived.second_match.sum())
    numbers["section IV.C", "range of similarity", "d"] = float(derived.similarity.max() - derived.similarity.min())
    numbers["section IV.C", "agree after step II", "percent"] = 100 * settled / pairs
    numbers["section IV.C", "conflicts after step II", "pairs"] = float(pairs - settled)
    numbers["section IV.C", "conflicts resolved", "pairs"] = float(in_the_end - settled)
    numbers["section IV.C", "confirmed", "pairs"] = float(in_the_end)
    numbers["section IV.C", "left open", "pairs"] = float(pairs - in_the_end)
    answer = comper(published_results("published:comper"), draws=1)
    for s, setting in enumerate(answer.table.datasets):
        numbers |= in_column("Table 13", answer.table.algorithms, setting, answer.scores[:, s])
    return numbers


def decodirt() -> Numbers:
    """Cardoso et al., Enhancing Classifier Evaluation: Tables 1 and 3, and sentences of section 5.

    The answers of the classifiers are not public, so the ratings of Tables 5 to 9 cannot be computed again; what the
    text concludes from them can be.
    """
    responses = load_responses("published:decodirt")
    answer = logistic_irt(responses, "3pl", items=FOLDER / "decodirt_items.csv")
    numbers = in_column("Table 1", answer.respondents, "total", responses.codes.sum(axis=1))
    numbers |= in_column("Table 3", answer.respondents, "true score", answer.true_scores)

    # Means over the printed values of Table 4, and the bins that follow from the printed difficulties.
    table = published_table("decodirt_items_by_dataset.csv")
    rows = sorted(table.iter_rows(named=True), key=lambda row: -float(row["difficulty"]))
    for k in range(6):
        part = rows[10 * k : 10 * k + 10]
        for trait in ("difficulty", "discrimination"):
            numbers["section 5.1", f"bin {k + 1}", trait] = sum(float(row[trait]) for row in part) / 10
    positive = sum(float(row["discrimination"]) > 0 for row in rows)
    numbers["section 5.1", "positive discrimination", "percent, at least"] = 100 * positive / len(rows)
    numbers["section 5.2", "difficulty not negative", "datasets"] = float(
        sum(float(row["difficulty"]) >= 0 for row in rows)
    )
    return numbers | _ratings()


def _ratings() -> Numbers:
    """Differences between the printed ratings of Tables 5 to 8."""
    table = published_table("decodirt_ratings.csv")
    rating = {(place, name): float(value) for place, name, value in table.iter_rows()}

    def gap(first: tuple[str, str], second: tuple[str, str]) -> float:
        return rating[first] - rating[second]

    five, six, seven, eight = (f"Table {n}" for n in (5, 6, 7, 8))
    return {
        ("section 5.2", "Table 5, optimal over SVM", "points"): gap((five, "optimal"), (five, "SVM")),
        ("section 5.2", "Table 5, DT over majority", "points"): gap((five, "DecisionTree"), (five, "majority")),
        ("section 5.2", "optimal, Table 5 over 6", "points"): gap((five, "optimal"), (six, "optimal")),
        ("section 5.2", "pessimal, Table 6 over 5", "points"): gap((six, "pessimal"), (five, "pessimal")),
        ("section 5.2", "Table 7, optimal over RF", "points"): gap((seven, "optimal"), (seven, "RandomForest")),
        ("section 5.2", "Table 7, NB over majority", "points"): gap((seven, "GaussianNB"), (seven, "majority")),
        ("section 5.2", "Table 8, optimal over RF", "points"): gap((eight, "optimal"), (eight, "RandomForest")),
        ("section 5.2", "23 of 30 datasets", "percent"): 100 * 23 / 30,
    }


def popularity() -> Numbers:
    """Jadidinejad et al., How Sensitive is Offline Evaluation to Popularity?, REVEAL 2019: shares and places.

    Its numbers are of models trained on MovieLens-20M, which is not here; the shares of the text and the order that it
    concludes from Table 1 follow from printed numbers.
    """
    table = published_results("published:popularity-stratified").frame
    ordered = table.sort(c.VALUE, descending=True).get_column(c.ALGORITHM).to_list()
    return {
        ("section 2", "items neglected", "percent"): 100 * NEGLECTED / ITEMS,
        ("section 2", "items that remain", "percent"): 100 * (1 - NEGLECTED / ITEMS),
        **{("section 2", f"place {place}", "model"): name for place, name in enumerate(ordered, start=1)},
    }


def textbooks() -> Numbers:
    """What the papers' methods rest on: Demšar 2006, 3.2; Bock and Lieberman 1970 as R's mirt and ltm fit it."""
    results = published_results("published:demsar")
    answer = compare(results, "auc")
    numbers = in_column("Demšar, section 3.2.4", answer.algorithms, "mean rank", answer.mean_ranks)
    numbers["Demšar, section 3.2.4", "Friedman", "chi-square"] = float(answer.friedman.chi_square)
    numbers["Demšar, section 3.2.4", "Friedman", "F"] = float(answer.friedman.f)
    numbers["Demšar, section 3.2.4", "Nemenyi", "CD at 0.05"] = float(answer.nemenyi_cd)
    numbers["Demšar, section 3.2.4", "Nemenyi", "CD at 0.10"] = float(compare(results, "auc", alpha=0.10).nemenyi_cd)
    return numbers | _lsat("lsat7", "2pl") | _lsat("lsat6", "2pl") | _lsat("lsat6", "1pl")


def _lsat(name: str, model: str) -> Numbers:
    responses = load_responses(f"published:{name}")
    answer = logistic_irt(responses, model, priors=False, tolerance=1e-5, max_cycles=2000)  # type: ignore[arg-type]
    table = f"{name.upper()}, {model}"
    numbers: Numbers = {(table, "all", "log-likelihood"): float(answer.log_likelihood)}
    items = [f"item {i + 1}" for i in range(len(answer.items.names))]
    numbers |= in_column(table, items, "slope", answer.items.slope)
    numbers |= in_column(table, items, "intercept", answer.items.intercept)
    for pattern in ((0, 0, 0, 0, 0), (1, 0, 1, 0, 1), (1, 1, 1, 1, 1)):
        who = np.flatnonzero((responses.codes == np.array(pattern)).all(axis=1))
        if who.size:
            answered = "".join(map(str, pattern))
            numbers[table, answered, "ability"] = float(answer.abilities.estimate[who[0]])
            numbers[table, answered, "standard error"] = float(answer.abilities.standard_error[who[0]])
    return numbers
