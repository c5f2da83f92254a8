"""The hierarchical model: who is best for datasets like these, and what more would tell."""

from __future__ import annotations

from recassay.analysis.model.result import ModelResult
from recassay.core.errors import listing
from recassay.reporting.numbers import between, number, percent, probability
from recassay.reporting.section import Figure, Section, Table

FEWEST_DATASETS = 5


def sentences(result: ModelResult) -> list[str]:
    """Who is probably best, what that means on a new dataset, and where the uncertainty comes from.

    Nothing below five datasets: so few say nothing of datasets like these.
    """
    if len(result.datasets) < FEWEST_DATASETS:
        return []
    best, first, order = result.probability_best(), result.probability_first(), result.order()
    leader = max(range(len(order)), key=lambda a: best[a])
    name = result.algorithms[leader]
    rivals = [result.algorithms[a] for a in sorted(order, key=lambda a: -best[a]) if a != leader and best[a] >= 0.05]
    others = (
        f"; beside it only {listing(rivals)} has a chance of at least 5 %"
        if len(rivals) == 1
        else (f"; chances of at least 5 % have {listing(rivals)}" if rivals else "")
    )
    said = (
        f"For datasets like these {name} has the highest level of {result.metric} with probability "
        f"{probability(best[leader])}{others}. On a single new dataset it is first with probability "
        f"{probability(first[leader])}."
    )
    shares = result.shares.of_a_difference()
    source = max(shares, key=lambda key: shares[key])
    cure = {"datasets": "more datasets", "repeats": "more seeds or folds", "users": "larger test parts"}[source]
    where = (
        f"{percent(shares[source])} of the variance of a difference between two algorithms comes from "
        f"{_SOURCES[source]}: {cure} would tell more."
        if shares[source] < 1
        else f"Nothing was measured repeatedly, so all uncertainty counts as {_SOURCES['datasets']}."
    )
    guessed = [f"{len(result.predicted)} missing cells were predicted, not measured."] if result.predicted else []
    return [said, where, *guessed]


_SOURCES = {
    "datasets": "how the algorithms suit different datasets",
    "repeats": "the noise of seeds or folds",
    "users": "the users of the test parts",
}


def tables(result: ModelResult) -> list[Table]:
    """Algorithms by level; the leader against each other; predicted cells."""
    shown = f"{100 * result.confidence:g} %"
    rows = [
        [row["algorithm"], number(row["level"], 4), between(row["low"], row["high"], 4),
         number(row["probability_best"]), number(row["probability_first"])]
        for row in result.to_frame().to_dicts()
    ]  # fmt: skip
    leader = result.to_frame().get_column("algorithm")[0]
    pairs = [
        [row["right"], number(row["probability_better"]), number(row["probability_beats"]),
         number(row["probability_equal"])]
        for row in result.pairs_frame().to_dicts()
        if row["left"] == leader
    ]  # fmt: skip
    found = [
        Table(
            f"Levels: {result.metric} on a dataset of the middle kind, {len(result.datasets)} datasets",
            ["algorithm", "level", shown, "P(best)", "P(first on a new dataset)"],
            rows,
            important=["P(best)", "level", "P(first on a new dataset)", shown],
        ),
        Table(
            f"{leader} against each other",
            ["against", "P(better)", "P(beats on a new dataset)", f"P(within {100 * result.within:g} %)"],
            pairs,
            important=["P(better)", "P(beats on a new dataset)"],
        ),
    ]
    if result.predicted:
        found.append(
            Table(
                "Predicted cells (not measured)",
                ["algorithm", "dataset", "expected", shown],
                [[p.algorithm, p.dataset, number(p.estimate, 4), between(p.low, p.high, 4)] for p in result.predicted],
                names=2,
                important=["expected", shown],
                most=20,
            )
        )
    return found


def figures(result: ModelResult) -> list[Figure]:
    """P(best) and P(first), and who beats whom on a new dataset."""
    from recassay.plots.model import plot_beats, plot_probabilities

    return [
        Figure("model_probabilities", "The probability of having the highest level, and of being first on one new "
               "dataset.", plot_probabilities(result), "model"),
        Figure("model_beats", "How probably the row beats the column on a new dataset of this kind.",
               plot_beats(result), "model_pairs"),
    ]  # fmt: skip


def leader(result: ModelResult) -> str:
    """The algorithm that probably has the highest level."""
    return max(zip(result.probability_best(), result.algorithms, strict=True))[1]


SECTION = Section(
    ModelResult, "For datasets like these", "significance", "model", figures, sentences, tables, order=20, leader=leader
)
