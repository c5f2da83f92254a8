"""Paired tests over the users of each dataset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from recassay.analysis.users.result import DatasetUsers, UsersResult
from recassay.core import columns as c
from recassay.core.choices import FEWEST_DATASETS
from recassay.core.words import listing
from recassay.plots.forms import algorithm_colour, names_down, panel_title
from recassay.plots.grammar import Chart, channel, concat, condition, fixed, marks, tips
from recassay.plots.theme import FAINT, INK, shorten, themed
from recassay.reporting.numbers import between, starred
from recassay.reporting.section import Brief, Plots, Section, Table, plot


def sentences(result: UsersResult) -> list[str]:
    """Who leads on the users of each dataset, whether that is shown, and what the datasets add up to."""
    if len(result.datasets) == 1:
        return [_headline(result.datasets[0]), _on_dataset(result.datasets[0], result)]
    return [_several(result), *_together(result)]


def brief(result: UsersResult) -> Brief:
    """Where one algorithm beats all others on the users of a dataset; of one dataset its means."""
    if len(result.datasets) == 1:
        only = result.datasets[0]
        best = frozenset(only.not_worse())
        return Brief(_headline(only), _means(only, result), best, (_on_dataset(only, result),))
    winners = sum(len(dataset.not_worse()) == 1 for dataset in result.datasets)
    table = Table(
        f"{result.metric} by dataset",
        {"dataset": "{dataset}", "users": "{users}", "best": lambda users: users.algorithms[0],
         result.metric: lambda users: f"{users.means[0]:.4f}",
         "not shown to be worse": lambda users: listing(users.not_worse()[1:], most=2) or "none"},
        result.datasets,
        important=["best", "not shown to be worse"],
    )  # fmt: skip
    count = f"{winners or 'none'} of the {len(result.datasets)} datasets"
    beats = "one algorithm significantly beats" if winners else "does one algorithm significantly beat"
    headline = f"On {count} {beats} all others among the users."
    return Brief(headline, table, sentences=tuple(_together(result)))


def _headline(users: DatasetUsers) -> str:
    first, *others = users.not_worse()
    if others:
        return f"No clear winner on {users.dataset}: {len(others) + 1} of {len(users.algorithms)} could be best."
    return f"{first} significantly beats all others on the users of {users.dataset}."


def _on_dataset(users: DatasetUsers, result: UsersResult) -> str:
    first, second = users.algorithms[:2]
    pair = next(p for p in users.pairs if (p.left, p.right) == (first, second))
    others = users.not_worse()[1:]
    lead = (
        f"On the {users.users:,} users of {users.dataset}, {first} has the best {result.metric} ({users.means[0]:.4f}, "
        f"{100 * result.confidence:g} % interval {users.low[0]:.4f} to {users.high[0]:.4f})"
    )
    if others:
        return f"{lead}; no difference from {listing(others, most=6)} is shown (sign-flip test over users, Holm)."
    return (
        f"{lead}; it is better than every other algorithm, {second} first (by {pair.difference:.4f}, "
        f"{pair.low:.4f} to {pair.high:.4f}; sign-flip test over users, Holm). This says nothing of other datasets."
    )


def _several(result: UsersResult) -> str:
    alone = [dataset for dataset in result.datasets if len(dataset.not_worse()) == 1]
    best = Counter(dataset.algorithms[0] for dataset in alone)
    text = f"Tested over the users of each dataset (sign-flip test, Holm), on {len(alone)} of {len(result.datasets)} "
    text += "datasets one algorithm is better than every other"
    if not best:
        return f"{text}."
    names = listing((f"{name} on {count}" for name, count in sorted(best.items(), key=lambda b: (-b[1], b[0]))), most=6)
    return f"{text}: {names}."


def _together(result: UsersResult) -> list[str]:
    """The two that lead over all datasets, where there are enough of them."""
    pair = next(iter(result.summary), None)
    if pair is None or pair.effects is None or pair.p_holm is None or pair.effects.datasets < FEWEST_DATASETS:
        return []
    effects = pair.effects
    shown = "is better than" if pair.significant else "is not shown to be better than"
    if pair.significant and effects.estimate < 0:
        shown = "is worse than"
    return [
        f"Over the datasets together (random effects), {pair.left} {shown} {pair.right}: mean difference in "
        f"{result.metric} {effects.estimate:+.4f} ({effects.low:+.4f} to {effects.high:+.4f}); on the users of single "
        f"datasets it is better on {pair.wins}, worse on {pair.losses} and not shown to be either on "
        f"{pair.ties} of them."
    ]


def tables(result: UsersResult) -> Iterator[Table]:
    """Each dataset's means and pairs, then the pairs over all datasets."""
    for dataset in result.datasets:
        yield _means(dataset, result)
        yield pairs_table(dataset, result)
    if result.summary:
        yield Table(
            f"{result.metric} over {len(result.datasets)} datasets (random effects)",
            {"left": "{left}", "right": "{right}", "won-open-lost": "{wins}-{ties}-{losses}",
             "difference": "{effects.estimate:+.5f}",
             f"{100 * result.confidence:g} % interval": "{effects.low:+.5f} to {effects.high:+.5f}",
             "p (Holm)": lambda pair: "" if pair.effects is None or pair.p_holm is None else starred(pair),
             "tau": "{effects.tau:.4f}"},
            result.summary,
            names=2,
            important=["right", "difference", "p (Holm)", "won-open-lost"],
        )  # fmt: skip


def _means(users: DatasetUsers, result: UsersResult) -> Table:
    left_out = f"; {users.left_out:,} without a score left out" if users.left_out else ""
    best = users.not_worse()
    rows = [
        [name, f"{mean:.5f}", between(low, high, 5), "no" if name in best else "yes"]
        for name, mean, low, high in zip(users.algorithms, users.means, users.low, users.high, strict=True)
    ]
    return Table(
        f"{users.dataset}: {result.metric} over {users.users:,} users{left_out}",
        ["algorithm", "mean", f"{100 * result.confidence:g} % interval", "shown to be worse than the best"],
        rows,
        notes=[f"{name} is left out: {why}" for name, why in result.skipped.items()],
    )


FEW_DIFFER = 10
"""With fewer users who differ, intervals of rare large differences held the truth in 87 to 90 % of simulations."""


def pairs_table(users: DatasetUsers, result: UsersResult) -> Table:
    """Every pair on the users of one dataset."""
    few = sum(0 < p.better + p.worse < FEW_DIFFER for p in users.pairs)
    notes = [
        "Paired sign-flip tests over users, of differences that are symmetric about 0; *: significant after Holm's "
        "correction."
    ]
    if few:
        pairs = f"{few} of {len(users.pairs)} pairs"
        notes.append(f"In {pairs} fewer than {FEW_DIFFER} users differ: those intervals can be too narrow.")
    return Table(
        f"{users.dataset}: {result.metric}, pairs over {users.users:,} users (left has the better mean)",
        {"left": "{left}", "right": "{right}", "difference": "{difference:+.5f}",
         f"{100 * result.confidence:g} % interval": "{low:+.5f} to {high:+.5f}", "p": "{p:.3g}", "p (Holm)": starred,
         "users better-equal-worse": "{better}-{equal}-{worse}"},
        users.pairs,
        names=2,
        important=["right", "difference", "p (Holm)"],
        notes=notes,
    )  # fmt: skip


MOST_PANELS = 24
"""Datasets beyond these are in the table alone."""


@plot(
    "user_differences",
    lambda result: (
        f"By how much each algorithm is behind the best of its dataset in {result.metric}, with "
        f"{100 * result.confidence:g} % intervals over users; filled points are shown to be worse (sign-flip test, "
        "Holm)."
    ),
    table="users_pairs",
)
def plot_user_differences(result: UsersResult) -> Any:
    """A panel for each dataset: the differences to its best algorithm with their intervals over users."""
    panels = []
    for dataset in result.datasets[:MOST_PANELS]:
        first = dataset.algorithms[0]
        rows = [
            {c.ALGORITHM: p.right, "behind": -p.difference, "low": -p.high, "high": -p.low,
             "worse": "shown to be worse" if p.significant else "not shown", "p_holm": p.p_holm}
            for p in dataset.pairs
            if p.left == first
        ]  # fmt: skip
        order = [str(row[c.ALGORITHM]) for row in rows]
        colour = algorithm_colour(result.algorithms)
        base = Chart(rows).encode(
            y=names_down(c.ALGORITHM, order, labelLimit=120),
            color=colour,
            tooltip=[*tips(c.ALGORITHM, "behind low high p_holm"), "worse:N"],
        )
        spans = base.mark("rule", strokeWidth=2).encode(x=channel("low:Q", title=None), x2="high:Q")
        dots = base.mark("point", size=45, opacity=1, strokeWidth=1.6).encode(
            x=channel("behind:Q", axis={"tickCount": 4}),
            fill=condition("datum.worse == 'shown to be worse'", colour, fixed("white")),
        )
        zero = marks([{"zero": 0}], "rule", color=FAINT, strokeDash=[2, 3]).encode(x="zero:Q")
        name = f"{shorten(dataset.dataset, 24)}: behind {shorten(first, 18)}"
        title = panel_title(name, centred=True, fontWeight="normal", color=INK)
        panels.append((zero + spans + dots).properties(width=210, height=16 * len(order), title=title))
    return themed(
        concat(*panels, columns=min(3, len(panels)), spacing=16),
        f"{result.metric}: distance to the best, over users",
        f"{100 * result.confidence:g} % intervals; filled: shown to be worse than the best (sign-flip test, Holm)",
    )


FIGURES = Plots([plot_user_differences])
SECTION = Section(UsersResult, "Over users", "significance", "users", FIGURES, sentences, tables, order=15, brief=brief)
