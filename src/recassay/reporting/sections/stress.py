"""Stress: which conclusions survive a change of the table."""

from __future__ import annotations

from recassay.analysis.stress.result import StressResult
from recassay.reporting.section import Figure, Section


def sentences(result: StressResult) -> list[str]:
    """The verdict that the result itself derives from its numbers."""
    return result.verdict()


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


SECTION = Section(StressResult, "What survives", "robustness", "stress", figures, sentences)
