"""Stress: which conclusions survive a change of the table."""

from __future__ import annotations

from recassay.analysis.stress.result import StressResult
from recassay.core.types import FloatArray
from recassay.reporting.section import Figure, Section, Table


def sentences(result: StressResult) -> list[str]:
    """The verdict that the result itself derives from its numbers."""
    return result.verdict()


def tables(result: StressResult) -> list[Table]:
    """The properties of each aggregation with their signs, rho under fewer datasets, and what survives."""
    size = f"{len(result.algorithms)} algorithms on {len(result.datasets)} datasets"
    properties = [
        [title, *(_signed(row.numbers[r], row.signs[r]) for row in result.signs)]
        for r, title in enumerate(result.titles)
    ]
    columns: dict[str, FloatArray] = {}
    for subset in result.subsets:
        columns[f"{subset.size} datasets"] = subset.numbers["full"]
        if "disjoint" in subset.numbers:
            columns[f"two of {subset.size}, disjoint"] = subset.numbers["disjoint"]
    curve, half = result.curves["drop_datasets"], len(result.datasets) // 2
    columns[f"without {half} datasets"] = curve.numbers[:, curve.x.tolist().index(half)]
    agreement = [[title, *(_span(column[r]) for column in columns.values())] for r, title in enumerate(result.titles)]
    survive = [
        [found.statement, f"{found.holds_under} of {len(result.rules)}", found.verdict]
        for found in result.conclusions
        if found.change == result.main.name
    ]
    when = next(found.when for found in result.conclusions if found.change == result.main.name)
    notes = [f"{name} was left out: it {reason}." for name, reason in result.skipped.items()]
    if result.missing.sentence():
        notes.append(f"{result.missing.sentence()}.")
    return [
        Table(
            f"Properties of the aggregations: {result.metric}, {size}",
            ["aggregation", *(row.title for row in result.signs)],
            properties,
            notes=notes,
        ),
        Table(
            f"Spearman's rho with the ranking on all datasets (mean, middle 95 % of {result.draws} draws)",
            ["aggregation", *columns],
            agreement,
        ),
        Table(
            f"What survives when {when}: under how many aggregations at least 95 % of the changed tables keep a "
            "statement",
            ["conclusion", "holds under", "verdict"],
            survive,
        ),
    ]


def _signed(number: float, sign: str) -> str:
    return sign if sign == "NA" else f"{number:.3f} {sign}"


def _span(numbers: FloatArray) -> str:
    mean, low, high = (float(value) for value in numbers[:3])
    return f"{mean:.3f} [{low:.2f}, {high:.2f}]"


def figures(result: StressResult) -> list[Figure]:
    """What survives, the table of plus and minus, and rho under each kind of change."""
    from recassay.plots.stress import plot_additions, plot_conclusions, plot_dropping, plot_signs

    return [
        Figure("stress_conclusions", "Under how many aggregations each statement about the order is kept by at least "
               "95 % of the changed tables, for five kinds of change.", plot_conclusions(result), "stress_conclusions"),
        Figure("stress_signs", "What each aggregation bears: the measured number, blue where it passes the stated "
               "rule, orange where it does not.", plot_signs(result), "stress_signs"),
        Figure("stress_datasets", "Agreement with the ranking on all datasets when some are left out: mean and middle "
               "95 % of the draws; grey, the other aggregations.", plot_dropping(result, "drop_datasets"),
               "stress_curves"),
        Figure("stress_algorithms", "Agreement of the order of the remaining algorithms with their order among all "
               "when some are left out; grey, the other aggregations.", plot_dropping(result, "drop_algorithms"),
               "stress_curves"),
        Figure("stress_additions", "Agreement of the order of the others after a copy or a new best algorithm is "
               "added, and of the Dolan-Moré rules at another beta.", plot_additions(result), "stress_curves"),
    ]  # fmt: skip


SECTION = Section(StressResult, "What survives", "robustness", "stress", figures, sentences, tables, order=10)
