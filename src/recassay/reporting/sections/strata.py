"""Popularity strata: whether the order of the algorithms is an order on popular items only."""

from __future__ import annotations

from collections.abc import Iterator

from recassay.analysis.strata.result import DatasetStrata, StrataResult
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.plots.strata import plot_popularity_curve, plot_sensitivity, plot_shares, plot_strata, shown_datasets
from recassay.reporting.numbers import number
from recassay.reporting.section import Brief, Plot, Plots, Section, Table
from recassay.reporting.words.strata import _any, _changed, _distance, _other_leaders, _some_of, sentences


def brief(result: StrataResult, words: Vocabulary = USUAL) -> Brief:
    """On how many datasets the order changes, and how much more than by chance."""
    changed, n = len(_changed(result)), len(result.datasets)
    if not changed:
        headline = f"No change of order with the popularity of items is shown on {_any(n, words)}."
    else:
        headline = f"The order changes with the popularity of items on {_some_of(changed, n, words)}."
    return Brief(
        headline, _sensitivity(result, words), sentences=(_distance(result, words), *_other_leaders(result, words))
    )


MOST_CROSSINGS = 20
"""Crossings of a dataset that a terminal shows, the proven ones first."""

SIDES = {(True, True): "both", (True, False): "only below", (False, True): "only above", (False, False): "neither"}


def tables(result: StrataResult, words: Vocabulary = USUAL) -> Iterator[Table]:
    """For each dataset the values by threshold and the crossings, then the sensitivity of the ranking."""
    for dataset in result.datasets:
        yield _values(result, dataset, words)
        if dataset.crossings:
            yield Table(
                f"{dataset.dataset}: pairs that change places at P (proven: significant on both sides)",
                {"leads below P": "{first}", "trails below P": "{second}", "P": "{threshold:.0f}",
                 "significant sides": lambda pair: SIDES[pair.significant_below, pair.significant_above]},
                sorted(dataset.crossings, key=lambda pair: not pair.proven),
                names=2,
                most=MOST_CROSSINGS,
            )  # fmt: skip
    yield _sensitivity(result, words)


def _sensitivity(result: StrataResult, words: Vocabulary) -> Table:
    return Table(
        "Popularity sensitivity: Kendall distance between the orders at the lowest and the highest P",
        {"over": "{dataset}", "distance": lambda row: number(row["distance"], missing="undefined"),
         "by chance": "{chance:.2f}", f"{100 * result.confidence:g} %": "{chance_low:.2f} to {chance_high:.2f}",
         "pairs": "{pairs}", "observed": "{observed}", "flipped": "{flipped}", "proven": "{proven}"},
        result.sensitivity_frame().to_dicts(),
        notes=[
            "distance: the share of the observed pairs (with an order at both ends) that turn round; by chance: "
            f"between random halves of the {words.users} at one P.",
            "proven: pairs in opposite order at both ends, each significantly.",
            *(f"Left out: {reason}." for reason in result.left_out),
        ],
    )  # fmt: skip


def _values(result: StrataResult, dataset: DatasetStrata, words: Vocabulary) -> Table:
    """Each algorithm at each threshold, and how much of the data lies below it; the ends matter most."""
    worse = dataset.told_from_best(result.alpha)
    best = dataset.rank == dataset.rank.min(axis=1, keepdims=True)
    count = len(dataset.thresholds)
    rows = [
        [name, *(f"{dataset.value[row, a]:.4f}{'*' if best[row, a] else ' ' if worse[row, a] else '~'}"
                 for row in range(count))]
        for name in dataset.order(count - 1)
        for a in [dataset.algorithms.index(name)]
    ]  # fmt: skip
    rows += [
        [f"({words.users})", *(f"{users:,} " for users in dataset.users)],
        ["(% of items)", *(f"{100 * share:.1f} " for share in dataset.shares["share_of_items"])],
        ["(% of training events)", *(f"{100 * share:.1f} " for share in dataset.shares["share_of_train"])],
    ]
    drawn = dataset.shares["events"]
    size = f"{drawn[0]:,.0f}" if drawn.n_unique() == 1 else f"{drawn[0]:,.0f} to {drawn[-1]:,.0f}"
    notes = [
        f"Every T_P has {size} events with items that fewer than P {words.users} have in training.",
        "* the best at this P; ~ not distinguished from it (paired t-test, Holm over the pairs at this P).",
    ]
    if dataset.shortened:
        notes.append(
            f"{dataset.shortened:,} lists had too few items left after removal: their values are lower bounds."
        )
    headings = [str(threshold) for threshold in dataset.thresholds]
    inwards = sorted(range(count), key=lambda row: min(row, count - 1 - row))
    return Table(
        f"{dataset.dataset}: {result.metric} on T_P (columns: P)",
        [words.algorithm, *headings],
        rows,
        important=[headings[row] for row in inwards],
        notes=notes,
    )


def _some(result: StrataResult, words: Vocabulary) -> str:
    """Which datasets the panels show, where it is not all of them."""
    shown, count = len(shown_datasets(result)), len(result.datasets)
    return "" if shown == count else f" Shown: the {shown} of {count} {words.datasets} whose order changes most."


FIGURES = Plots([
    Plot("popularity_strata",
         lambda result, words: f"{result.metric} on held-out interactions with items below a popularity threshold P: "
         f"lines that cross are {words.algorithms} whose order depends on popular items.{_some(result, words)}",
         plot_strata, "strata"),
    Plot("popularity_sensitivity", "How far the order on the least popular items is from the order on all items; grey: "
         "what chance gives.", plot_sensitivity, "strata_sensitivity"),
    Plot("popularity_curve",
         lambda result, words: f"How many training {words.users} each item has, the most popular first."
         f"{_some(result, words)}", plot_popularity_curve),
    Plot("popularity_shares",
         lambda result, words: f"Share of items and of interactions below each threshold.{_some(result, words)}",
         plot_shares, "strata_shares"),
])  # fmt: skip
SECTION = Section(
    StrataResult, "Popularity strata", "beyond accuracy", "strata", FIGURES, sentences, tables, order=30, brief=brief
)
