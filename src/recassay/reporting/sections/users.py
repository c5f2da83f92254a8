"""Paired tests over the users of each dataset."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recassay.analysis.users.result import DatasetUsers, UsersResult
from recassay.core import columns as c
from recassay.core.tables.labels import metric_name
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import count_of, listing
from recassay.plots.forms import algorithm_colour, names_down, panel_title
from recassay.plots.grammar import Chart, channel, concat, condition, fixed, marks, tips
from recassay.plots.shown import ALL, Shown
from recassay.plots.theme import FAINT, INK, shorten, themed
from recassay.reporting.numbers import better, even, even_intervals, even_uplifts, starred
from recassay.reporting.section import Brief, Plots, Section, Table, plot
from recassay.reporting.words import users as user_words


def brief(result: UsersResult, words: Vocabulary = USUAL) -> Brief:
    """Where one algorithm beats all others on the users of a dataset; of one dataset its means."""
    if len(result.datasets) == 1:
        only = result.datasets[0]
        best = frozenset(only.could_be_best())
        lines = tuple(user_words.lines(only, result, words))
        return Brief(user_words.headline(only, result, words), means_table(only, result, words), best, lines)
    winners = sum(len(dataset.not_worse()) == 1 for dataset in result.datasets)
    table = Table(
        f"{result.metric} by {words.dataset}",
        {words.dataset: "{dataset}", words.users: "{users}", "best": lambda users: users.algorithms[0],
         result.metric: lambda users: f"{users.means[0]:.4f}",
         "not shown to be worse": lambda users: listing(users.not_worse()[1:], most=2) or "none"},
        result.datasets,
        important=["best", "not shown to be worse"],
    )  # fmt: skip
    count = f"{winners or 'none'} of the {len(result.datasets)} {words.datasets}"
    beats = (
        f"one {words.algorithm} significantly beats" if winners else f"does one {words.algorithm} significantly beat"
    )
    headline = f"On {count} {beats} all others among the {words.users}."
    return Brief(headline, table, sentences=tuple(user_words.together(result, words)))


def tables(result: UsersResult, words: Vocabulary = USUAL) -> Iterator[Table]:
    """Each dataset's means and pairs, then the pairs over all datasets."""
    for dataset in result.datasets:
        yield means_table(dataset, result, words)
        yield pairs_table(dataset, result, words)
    if result.summary:
        yield Table(
            f"{result.metric} over {count_of(len(result.datasets), words.dataset)} (random effects)",
            {"left": "{left}", "right": "{right}", "won-open-lost": "{wins}-{ties}-{losses}",
             "difference": "{effects.estimate:+.5f}",
             f"{100 * result.confidence:g} % interval": "{effects.low:+.5f} to {effects.high:+.5f}",
             "p (Holm)": lambda pair: "" if pair.effects is None or pair.p_holm is None else starred(pair),
             "tau": "{effects.tau:.4f}"},
            result.summary,
            names=2,
            important=["right", "difference", "p (Holm)", "won-open-lost"],
        )  # fmt: skip


def means_table(users: DatasetUsers, result: UsersResult, words: Vocabulary) -> Table:
    """One row per algorithm, the best mean first, with its uplift over the reference."""
    left_out = f"; {users.left_out:,} without a score left out" if users.left_out else ""
    best, level = users.could_be_best(), f"{100 * result.confidence:g} %"
    columns: dict[str, list[str]] = {
        words.algorithm: list(users.algorithms),
        metric_name(result.metric): even(users.means),
        f"{level} interval": even_intervals(users.low, users.high, like=users.means),
    }
    uplifted = []
    if users.reference is not None:
        uplifted = [f"over {users.reference.name}", "its interval"]
        shares, ends = even_uplifts(None if u is None else (u.share, u.low, u.high) for u in users.uplifts)
        shares[users.algorithms.index(users.reference.name)] = "reference"
        columns |= dict(zip(uplifted, (shares, ends), strict=True))
    columns["could be best"] = ["yes" if name in best else "no" for name in users.algorithms]
    return Table(
        f"{users.dataset}: {metric_name(result.metric)} ({better(result.higher_is_better)}) over {users.users:,} "
        f"{words.users}{left_out}",
        list(columns),
        zip(*columns.values(), strict=True),
        important=[*uplifted, "could be best", metric_name(result.metric)],
        notes=[f"{name} is left out: {why}" for name, why in result.skipped.items()],
    )


FEW_DIFFER = 10
"""With fewer users who differ, intervals of rare large differences held the truth in 87 to 90 % of simulations."""


def pairs_table(users: DatasetUsers, result: UsersResult, words: Vocabulary) -> Table:
    """Every pair on the users of one dataset."""
    few = sum(0 < p.better + p.worse < FEW_DIFFER for p in users.pairs)
    notes = [
        f"Paired sign-flip tests over {words.users}, of differences that are symmetric about 0; *: significant after "
        "Holm's correction."
    ]
    if few:
        pairs = f"{few} of {len(users.pairs)} pairs"
        notes.append(f"In {pairs} fewer than {FEW_DIFFER} {words.users} differ: those intervals can be too narrow.")
    return Table(
        f"{users.dataset}: {result.metric}, pairs over {users.users:,} {words.users} (left has the better mean)",
        {"left": "{left}", "right": "{right}", "difference": "{difference:+.5f}",
         f"{100 * result.confidence:g} % interval": "{low:+.5f} to {high:+.5f}", "p": "{p:p}", "p (Holm)": starred,
         f"{words.users} better-equal-worse": "{better}-{equal}-{worse}"},
        users.pairs,
        names=2,
        important=["right", "difference", "p (Holm)"],
        notes=notes,
    )  # fmt: skip


MOST_PANELS = 24
"""Datasets beyond these are in the table alone."""


@plot(
    "user_differences",
    lambda result, words: (
        f"By how much each {words.algorithm} is behind the best of its {words.dataset} in {result.metric}, with "
        f"{100 * result.confidence:g} % intervals over {words.users}; filled: could be best there, hollow: shown to be "
        "worse (sign-flip test, Holm)."
    ),
    table="users_pairs",
)
def plot_user_differences(result: UsersResult, words: Vocabulary = USUAL, shown: Shown = ALL) -> Any:
    """A panel for each dataset: the differences to its best algorithm with their intervals over users."""
    panels = []
    for dataset in result.datasets[:MOST_PANELS]:
        first, possible = dataset.algorithms[0], dataset.could_be_best()
        rows = [
            {c.ALGORITHM: p.right, "behind": -p.difference, "low": -p.high, "high": -p.low,
             "worse": "not shown" if p.right in possible else "shown to be worse", "p_holm": p.p_holm}
            for p in dataset.pairs
            if p.left == first
        ]  # fmt: skip
        rows = shown.rows(rows)
        order = [str(row[c.ALGORITHM]) for row in rows]
        colour = algorithm_colour(shown.of(result.algorithms))
        base = Chart(rows).encode(
            y=names_down(c.ALGORITHM, order, labelLimit=120),
            color=colour,
            tooltip=[*tips(c.ALGORITHM, "behind low high p_holm"), "worse:N"],
        )
        spans = base.mark("rule", strokeWidth=2).encode(x=channel("low:Q", title=None), x2="high:Q")
        dots = base.mark("point", size=45, opacity=1, strokeWidth=1.6).encode(
            x=channel("behind:Q", axis={"tickCount": 4}),
            fill=condition("datum.worse == 'shown to be worse'", fixed("white"), colour),
        )
        zero = marks([{"zero": 0}], "rule", color=FAINT, strokeDash=[2, 3]).encode(x="zero:Q")
        name = f"{shorten(dataset.dataset, 24)}: behind {shorten(first, 18)}"
        title = panel_title(name, centred=True, fontWeight="normal", color=INK)
        panels.append((zero + spans + dots).properties(width=210, height=16 * len(order), title=title))
    return themed(
        concat(*panels, columns=min(3, len(panels)), spacing=16),
        f"{result.metric}: distance to the best, over {words.users}",
        f"{100 * result.confidence:g} % intervals; filled: could be best, hollow: shown to be worse (sign flips, Holm)",
    )


FIGURES = Plots([plot_user_differences])
SECTION = Section(
    UsersResult, "Over {users}", "significance", "users", FIGURES, user_words.sentences, tables, order=15, brief=brief
)
