"""Logistic IRT: items and abilities of a binary response table."""

from __future__ import annotations

from recassay.analysis.logistic_irt.result import LogisticResult
from recassay.reporting.section import Figure, Section, no_sentences


def figures(result: LogisticResult) -> list[Figure]:
    """The item curves and the abilities."""
    from recassay.plots.logistic_irt import plot_abilities, plot_item_curves

    return [
        Figure("item_curves", "Probability of a right answer by ability, a curve an item.",
               plot_item_curves(result), "items"),
        Figure("abilities", "Ability of each respondent with its interval.", plot_abilities(result), "abilities"),
    ]  # fmt: skip


SECTION = Section(LogisticResult, "Abilities on binary responses", "traits", "logistic-irt", figures, no_sentences)
