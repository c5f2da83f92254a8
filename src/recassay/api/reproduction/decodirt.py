"""Cardoso et al., Enhancing Classifier Evaluation: the worked example, and what the text says of its own tables.

The answers of the classifiers are not public, so the ratings of Tables 5 to 9 cannot be computed again; what the text
concludes from them can be.
"""

from __future__ import annotations

from recassay.api.logistic_irt import load_responses, logistic_irt
from recassay.api.reproduction.numbers import Numbers
from recassay.data.published.tables import FOLDER, published_table

NAME = "published:decodirt"


def numbers() -> Numbers:
    """Tables 1 and 3, and sentences of section 5."""
    return _example() | _bins() | _ratings()


def _example() -> Numbers:
    responses = load_responses(NAME)
    answer = logistic_irt(responses, "3pl", items=FOLDER / "decodirt_items.csv")
    found: Numbers = {}
    for r, name in enumerate(answer.respondents):
        found["Table 1", name, "total"] = float(responses.codes[r].sum())
        found["Table 3", name, "true score"] = float(answer.true_scores[r])
    return found


def _bins() -> Numbers:
    """Means over the printed values of Table 4, and the bins that follow from the printed difficulties."""
    table = published_table("decodirt_items_by_dataset.csv")
    rows = sorted(table.iter_rows(named=True), key=lambda row: -float(row["difficulty"]))
    found: Numbers = {}
    for k in range(6):
        part = rows[10 * k : 10 * k + 10]
        found["section 5.1", f"bin {k + 1}", "difficulty"] = sum(float(row["difficulty"]) for row in part) / 10
        found["section 5.1", f"bin {k + 1}", "discrimination"] = sum(float(row["discrimination"]) for row in part) / 10
    positive = sum(float(row["discrimination"]) > 0 for row in rows)
    found["section 5.1", "positive discrimination", "percent, at least"] = 100 * positive / len(rows)
    found["section 5.2", "difficulty not negative", "datasets"] = float(
        sum(float(row["difficulty"]) >= 0 for row in rows)
    )
    return found


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
