"""Logistic IRT on the users of a study."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recassay.analysis.user_irt.result import UserIRTResult
from recassay.core import columns as c
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.plots.forms import algorithm_colour, intervals, names_down
from recassay.plots.grammar import Chart, channel, layer, marks, tips
from recassay.plots.shown import ALL, Shown
from recassay.plots.theme import FAINT, INK, themed
from recassay.reporting.section import Plots, Section, Table, plot
from recassay.reporting.words.user_irt import notes, sentences


def tables(result: UserIRTResult, words: Vocabulary = USUAL) -> Iterator[Table]:
    """Abilities on all users, then for each dataset its users, its ablest, and how well its users are known."""
    name = next(iter(result.fits))
    users = [
        [row["dataset"], row["users"], row["telling_users"], fit.lead()[0], f"{fit.lead()[2]:.3f}",
         f"{row['mean_discrimination']:.2f} ({row['discrimination_deviation']:.2f})",
         f"{row['mean_difficulty']:.2f} ({row['difficulty_deviation']:.2f})",
         " / ".join(f"{value:.2f}" for value in fit.reliability().values())]
        for row, fit in zip(result.datasets_frame().to_dicts(), result.fits.values(), strict=True)
    ]  # fmt: skip
    yield Table(
        f"{result.model.upper()}: {words.algorithms} on the {words.users} of {name}, hit by {result.metric}",
        {words.algorithm: "{algorithm}", "ability": "{ability:.3f}",
         f"{100 * result.confidence:.3g} %": "{low:.2f} to {high:.2f}", "hit rate": "{hit_rate:.3f}"},
        [row for row in result.to_frame().to_dicts() if row["dataset"] == name],
    )  # fmt: skip
    yield Table(
        words.users.capitalize(),
        [words.dataset, words.users, "telling", "ablest", "P(ablest)", "discrimination", "difficulty", "reliability"],
        users,
        important=["ablest", "P(ablest)", words.users, "telling", "reliability"],
        notes=[
            f"Telling: {words.users} whom some {words.algorithms} serve and others do not. P(ablest): over the second. "
            f"Reliability: of abilities / of the {words.users}' difficulties [/ of their discriminations]; below 0.5 "
            f"single values are mostly noise, as they rest on {len(result.main.fit.respondents)} {words.algorithms} "
            "each.",
            *notes(result, words),
        ],
    )


@plot(
    "user_abilities",
    "Ability of each {algorithm} with {users} as items: on all {users}, and on those of each {dataset}.",
    table="user_irt_abilities",
)
def plot_user_abilities(result: UserIRTResult, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
    """One row per algorithm, ablest first: the interval on all users, and ticks at its ability on each dataset."""
    rows = shown.rows(result.to_frame().to_dicts())
    name = next(iter(result.fits))
    main = [row for row in rows if row[c.DATASET] == name]
    order = [row[c.ALGORITHM] for row in main]
    y = names_down(c.ALGORITHM, order)
    scale = {"zero": False}
    x = channel("ability:Q", title=f"ability, in standard deviations of the {words.algorithms}", scale=scale)
    tip = tips(f"{c.DATASET} {c.ALGORITHM}", "ability low high hit_rate")
    base = Chart(main).encode(y=y, color=algorithm_colour(order), tooltip=tip)
    layers = [*intervals(base, "ability", "low", "high", scale=scale, size=70, line={"strokeWidth": 2.2})]
    several = [row for row in rows if row[c.DATASET] != name]
    if several:
        ticks = marks(several, "tick", color=INK, opacity=0.5, thickness=1.4, size=12)
        layers.insert(0, ticks.encode(y=y, x=x, tooltip=tip))
    zero = marks([{"ability": 0}], "rule", color=FAINT, strokeDash=[2, 3]).encode(x=x)
    ticked = f"; ticks: on each of {len(result.fits) - 1} {words.datasets} alone" if several else ""
    return themed(
        layer(zero, *layers).properties(width=480, height=22 * len(order)),
        f"Ability by {words.users} served, {result.metric}",
        f"{name}: {result.main.telling_users} of {result.main.users} {words.users} tell {words.algorithms} apart; "
        f"{100 * result.confidence:.3g} % intervals{ticked}",
    )


FIGURES = Plots([plot_user_abilities])
SECTION = Section(UserIRTResult, "Abilities on {users}", "traits", "logistic-irt", FIGURES, sentences, tables, order=40)
