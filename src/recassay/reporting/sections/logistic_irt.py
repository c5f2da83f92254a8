"""Logistic IRT: items and abilities of a binary response table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from recassay.analysis.logistic_irt.result import LogisticResult
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.plots.forms import intervals, names_down, short_labels
from recassay.plots.grammar import Chart, channel, layer, marks, tips
from recassay.plots.theme import COLOURS, FAINT, INK, themed
from recassay.reporting.numbers import writer
from recassay.reporting.section import Plots, Section, Table, plot
from recassay.reporting.words.logistic_irt import sentences

NARROW = {
    "3pl": (
        "Intervals of guessing follow its prior: in simulations 95 % intervals held 93 % where the prior is true, 69 % "
        "where guessing varies more; those of difficulty 89 to 95 %.",
    ),
}
"""What is known of the intervals of a model's items; see docs/evidence/calibration.md."""


def tables(result: LogisticResult) -> Iterator[Table]:
    """Abilities and true scores, ablest first, with what the items are like."""
    items = writer(
        "Items: discrimination {mean_discrimination:.2f} (deviation {discrimination_deviation:.2f}), difficulty "
        "{mean_difficulty:.2f} ({difficulty_deviation:.2f}), guessing {mean_guessing:.2f} ({guessing_deviation:.2f}); "
        "{negative_share:.1%} discriminate negatively."
    )
    yield Table(
        f"{result.model.upper()}: abilities ({result.abilities.method}) of {len(result.respondents)} respondents on "
        f"{len(result.items.names)} items",
        {"respondent": "{respondent}", "ability": "{ability:.3f}",
         f"{100 * result.confidence:.3g} %": "{ability_low:.2f} to {ability_high:.2f}",
         "true score": "{true_score:.3f}", "accuracy": "{accuracy:.3f}"},
        result.to_frame().to_dicts(),
        notes=[note for note in (items(result.summary()), *NARROW.get(result.model, ()), *result.notes) if note],
        most=30,
    )  # fmt: skip


MOST_CURVES = 60
MOST_NAMES = 60


@plot("item_curves", "Probability of a right answer by ability, one curve per item.", table="items")
def plot_item_curves(result: LogisticResult, words: Vocabulary = USUAL) -> Any:
    """The probability of a right answer against ability (Cardoso et al., Figure 1); negative discrimination stands out.

    Of more than `MOST_CURVES` items an even selection over their difficulties is drawn. The shaded range is that of the
    estimated abilities.
    """
    varied = np.flatnonzero(~result.constant)
    order = varied[np.argsort(result.items.difficulty[varied], kind="stable")]
    drawn = order
    if len(order) > MOST_CURVES:
        drawn = order[np.linspace(0, len(order) - 1, MOST_CURVES).round().astype(int)]
    theta = np.linspace(-4, 4, 81)
    curves = result.curves(theta, drawn)
    kind = np.where(result.items.slope[drawn] < 0, "negative discrimination", "positive discrimination")
    rows = [
        {"item": result.items.names[i], "ability": float(t), "probability": float(curves[q, k]), "kind": str(kind[k])}
        for k, i in enumerate(drawn)
        for q, t in enumerate(theta)
    ]
    ends = np.clip(result.abilities.estimate, -4, 4)
    observed = [{"low": float(ends.min()), "high": float(ends.max())}]
    band = marks(observed, "rect", color=FAINT, opacity=0.12).encode(x="low:Q", x2="high:Q")
    kinds = {"domain": ["positive discrimination", "negative discrimination"], "range": list(COLOURS[:2])}
    lines = marks(rows, "line", strokeWidth=1.4, opacity=0.65).encode(
        x=channel("ability:Q", title="ability", scale={"domain": [-4, 4]}),
        y=channel("probability:Q", title="probability of a right answer", scale={"domain": [0, 1]}),
        detail="item:N",
        color=channel("kind:N", title=None, scale=kinds),
        tooltip=tips("item", "ability probability"),
    )
    of = f" of {len(result.items.names)}" if len(drawn) < len(result.items.names) else ""
    return themed(
        (band + lines).properties(width=480, height=320),
        f"Item characteristic curves, {result.model.upper()}",
        f"{len(drawn)}{of} items; shaded: the range of estimated abilities",
    )


@plot("abilities", "Ability of each respondent with its interval.")
def plot_abilities(result: LogisticResult, words: Vocabulary = USUAL) -> Any:
    """Abilities with intervals, ablest first; of more than `MOST_NAMES` respondents an even selection is drawn."""
    rows = result.to_frame().to_dicts()
    if len(rows) > MOST_NAMES:
        rows = [rows[int(i)] for i in np.linspace(0, len(rows) - 1, MOST_NAMES).round()]
    names = [row["respondent"] for row in rows]
    base = Chart(rows).encode(
        y=names_down("respondent", names, labelExpr=short_labels(names, 28)),
        tooltip=tips("respondent", "ability ability_low ability_high true_score accuracy"),
    )
    marks = intervals(
        base, "ability", "ability_low", "ability_high", scale={}, title="ability", size=50,
        line={"color": COLOURS[0]}, dot={"color": INK},
    )  # fmt: skip
    return themed(
        layer(*marks).properties(width=480, height=18 * len(names)),
        f"Abilities, {result.model.upper()}",
        f"{len(names)} of {len(result.respondents)} respondents; {100 * result.confidence:.3g} % intervals",
    )


FIGURES = Plots([plot_item_curves, plot_abilities])
SECTION = Section(
    LogisticResult, "Abilities on binary responses", "traits", "logistic-irt", FIGURES, sentences, tables, order=30
)
