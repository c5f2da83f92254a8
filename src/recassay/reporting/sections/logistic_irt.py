"""Logistic IRT: items and abilities of a binary response table."""

from __future__ import annotations

from recassay.analysis.logistic_irt.result import LogisticResult
from recassay.reporting.numbers import between, percent
from recassay.reporting.section import Figure, Section, Table


def sentences(result: LogisticResult) -> list[str]:
    """Who is ablest and who least able, and how many items are right for the wrong respondents."""
    rows = result.to_frame().to_dicts()
    share = f"{100 * result.confidence:.3g} %"

    def who(end: int) -> str:
        row = rows[end]
        alike = sum(other["ability"] == row["ability"] for other in rows)
        name = row["respondent"] if alike == 1 else f"{row['respondent']} (and {alike - 1} more alike)"
        return f"{name} ({row['ability']:.2f}, {share} {between(row['ability_low'], row['ability_high'])})"

    negative = result.summary()["negative_share"]
    share_of_items = percent(negative, 1) if negative else "None"
    return [
        f"By the {result.model.upper()} on {len(result.items.names)} items, the ablest of {len(rows)} respondents is "
        f"{who(0)}, the least able {who(-1)}.",
        f"{share_of_items} of the items discriminate negatively, which abler respondents would fail more often.",
    ]


def tables(result: LogisticResult) -> list[Table]:
    """Abilities and true scores, ablest first, with what the items are like."""
    rows = [
        [row["respondent"], f"{row['ability']:.3f}", between(row["ability_low"], row["ability_high"]),
         f"{row['true_score']:.3f}", f"{row['accuracy']:.3f}"]
        for row in result.to_frame().to_dicts()
    ]  # fmt: skip
    found = result.summary()
    items = (
        f"Items: discrimination {found['mean_discrimination']:.2f} (deviation "
        f"{found['discrimination_deviation']:.2f}), difficulty {found['mean_difficulty']:.2f} "
        f"({found['difficulty_deviation']:.2f}), guessing {found['mean_guessing']:.2f} "
        f"({found['guessing_deviation']:.2f}); {percent(found['negative_share'], 1)} discriminate negatively."
    )
    return [
        Table(
            f"{result.model.upper()}: abilities ({result.abilities.method}) of {len(rows)} respondents on "
            f"{len(result.items.names)} items",
            ["respondent", "ability", f"{100 * result.confidence:.3g} %", "true score", "accuracy"],
            rows,
            notes=[items, *result.notes],
            most=30,
        )
    ]


def figures(result: LogisticResult) -> list[Figure]:
    """The item curves and the abilities."""
    from recassay.plots.logistic_irt import plot_abilities, plot_item_curves

    return [
        Figure("item_curves", "Probability of a right answer by ability, a curve an item.",
               plot_item_curves(result), "items"),
        Figure("abilities", "Ability of each respondent with its interval.", plot_abilities(result), "abilities"),
    ]  # fmt: skip


SECTION = Section(
    LogisticResult, "Abilities on binary responses", "traits", "logistic-irt", figures, sentences, tables, order=30
)
