"""Popularity strata: whether the order of the algorithms is an order on popular items only."""

from __future__ import annotations

from collections.abc import Iterator

from recassay.analysis.strata.result import DatasetStrata, StrataResult
from recassay.core.words import count_of, listing
from recassay.plots.strata import plot_popularity_curve, plot_sensitivity, plot_shares, plot_strata, shown_datasets
from recassay.reporting.numbers import number, percent
from recassay.reporting.section import Brief, Plot, Plots, Section, Table


def sentences(result: StrataResult) -> Iterator[str]:
    """Where the order changes with the popularity of the items, as far as the tests support it."""
    changed, n = _changed(result), len(result.datasets)
    if not changed:
        ends = sum(dataset.sensitivity.proven for dataset in result.datasets)
        differ = "1 pair differs" if ends == 1 else f"{ends} pairs differ"
        both = f" {differ} significantly at both ends, before correction for the search over thresholds."
        yield (
            "That two algorithms change places with the popularity of the held-out items is not shown on "
            f"{_any(n)}. {_distance(result)}{both if ends else ''}"
        )
        return
    flips = list(map(_flips, changed[:SHOWN_DATASETS]))
    left = len(changed) - SHOWN_DATASETS
    more = [f"and {count_of(left, 'more dataset')}"] if left > 0 else []
    yield (
        f"On {_some_of(len(changed), n)} the order in {result.metric} changes with the popularity of the held-out "
        f"items, significantly on both sides: {'; '.join([*flips, *more])}. {_distance(result)}"
    )
    yield from _other_leaders(result)


def brief(result: StrataResult) -> Brief:
    """On how many datasets the order changes, and how much more than by chance."""
    changed, n = len(_changed(result)), len(result.datasets)
    if not changed:
        headline = f"No change of order with the popularity of items is shown on {_any(n)}."
    else:
        headline = f"The order changes with the popularity of items on {_some_of(changed, n)}."
    return Brief(headline, _sensitivity(result), sentences=(_distance(result), *_other_leaders(result)))


def _distance(result: StrataResult) -> str:
    """How far the two orders are apart, beside what chance alone puts between two orders."""
    study, n = result.study, len(result.datasets)
    if study.estimate != study.estimate:
        return "On the least popular items no two algorithms have an order: nothing was hit there."
    over = "" if n == 1 else f", on average over {n} datasets"
    judged = "more than chance gives" if study.beyond_chance else "no more than chance may give"
    return (
        f"Between the least popular items and all items {percent(study.estimate)} of the pairs with an order at both "
        f"ends turn round{over}: {judged} (between random halves of the users at one and the same threshold "
        f"{percent(study.chance.mean)}, {100 * result.confidence:g} % of the halvings {percent(study.chance.low)} to "
        f"{percent(study.chance.high)})."
    )


SHOWN_DATASETS, SHOWN_FLIPS = 3, 2


def _changed(result: StrataResult) -> list[DatasetStrata]:
    """The datasets with a crossing that is significant on both sides."""
    return [dataset for dataset in result.datasets if any(crossing.proven for crossing in dataset.crossings)]


def _flips(dataset: DatasetStrata) -> str:
    """The proven crossings of a dataset, those first whose winner on all items ranks highest there."""
    place = {name: float(dataset.rank[-1, a]) for a, name in enumerate(dataset.algorithms)}
    proven = [crossing for crossing in dataset.crossings if crossing.proven]
    shown = [
        f"{pair.first} leads {pair.second} below P = {pair.threshold:.0f} and trails above"
        for pair in sorted(proven, key=lambda pair: (place[pair.second], place[pair.first]))[:SHOWN_FLIPS]
    ]
    left = len(proven) - SHOWN_FLIPS
    more = f" (and {count_of(left, 'more pair')})" if left > 0 else ""
    return f"on {dataset.dataset} {', '.join(shown)}{more}"


def _other_leaders(result: StrataResult) -> list[str]:
    """Who is first without the popular items, where that is another one and each beats the other at its own end."""
    leaders = []
    for dataset in result.datasets:
        first, last = dataset.order(0)[0], dataset.first_on_all()
        apart = dataset.told_from_best(result.alpha)
        if first != last and apart[0, dataset.algorithms.index(last)] and apart[-1, dataset.algorithms.index(first)]:
            leaders.append(f"on {dataset.dataset} {first} in place of {last} (P = {dataset.thresholds[0]})")
    return [f"Without the popular items another algorithm is first: {listing(leaders, most=3)}."] if leaders else []


def _some_of(n: int, of: int) -> str:
    return "the dataset" if of == 1 else f"{n} of {of} datasets"


def _any(n: int) -> str:
    return "the dataset" if n == 1 else f"any of {n} datasets"


MOST_CROSSINGS = 20
"""Crossings of a dataset that a terminal shows, the proven ones first."""

SIDES = {(True, True): "both", (True, False): "only below", (False, True): "only above", (False, False): "neither"}


def tables(result: StrataResult) -> Iterator[Table]:
    """For each dataset the values by threshold and the crossings, then the sensitivity of the ranking."""
    for dataset in result.datasets:
        yield _values(result, dataset)
        if dataset.crossings:
            yield Table(
                f"{dataset.dataset}: pairs that change places at P (proven: significant on both sides)",
                {"leads below P": "{first}", "trails below P": "{second}", "P": "{threshold:.0f}",
                 "significant sides": lambda pair: SIDES[pair.significant_below, pair.significant_above]},
                sorted(dataset.crossings, key=lambda pair: not pair.proven),
                names=2,
                most=MOST_CROSSINGS,
            )  # fmt: skip
    yield _sensitivity(result)


def _sensitivity(result: StrataResult) -> Table:
    return Table(
        "Popularity sensitivity: Kendall distance between the orders at the lowest and the highest P",
        {"over": "{dataset}", "distance": lambda row: number(row["distance"], missing="undefined"),
         "by chance": "{chance:.2f}", f"{100 * result.confidence:g} %": "{chance_low:.2f} to {chance_high:.2f}",
         "pairs": "{pairs}", "observed": "{observed}", "flipped": "{flipped}", "proven": "{proven}"},
        result.sensitivity_frame().to_dicts(),
        notes=[
            "distance: the share of the observed pairs (with an order at both ends) that turn round; by chance: "
            "between random halves of the users at one P.",
            "proven: pairs in opposite order at both ends, each significantly.",
            *(f"Left out: {reason}." for reason in result.left_out),
        ],
    )  # fmt: skip


def _values(result: StrataResult, dataset: DatasetStrata) -> Table:
    """Each algorithm at each threshold, and how much of the data lies below it; the ends matter most."""
    apart = dataset.told_from_best(result.alpha)
    best = dataset.rank == dataset.rank.min(axis=1, keepdims=True)
    count = len(dataset.thresholds)
    rows = [
        [name, *(f"{dataset.value[row, a]:.4f}{'*' if best[row, a] else ' ' if apart[row, a] else '~'}"
                 for row in range(count))]
        for name in dataset.order(count - 1)
        for a in [dataset.algorithms.index(name)]
    ]  # fmt: skip
    rows += [
        ["(users)", *(f"{users:,} " for users in dataset.users)],
        ["(% of items)", *(f"{100 * share:.1f} " for share in dataset.shares["share_of_items"])],
        ["(% of training events)", *(f"{100 * share:.1f} " for share in dataset.shares["share_of_train"])],
    ]
    drawn = dataset.shares["events"]
    size = f"{drawn[0]:,.0f}" if drawn.n_unique() == 1 else f"{drawn[0]:,.0f} to {drawn[-1]:,.0f}"
    notes = [
        f"Every T_P has {size} events with items that fewer than P users have in training.",
        "* the best at this P; ~ not told from it (paired t-test, Holm over the pairs at this P).",
    ]
    if dataset.shortened:
        notes.append(
            f"{dataset.shortened:,} lists had too few items left after removal: their values are lower bounds."
        )
    headings = [str(threshold) for threshold in dataset.thresholds]
    inwards = sorted(range(count), key=lambda row: min(row, count - 1 - row))
    return Table(
        f"{dataset.dataset}: {result.metric} on T_P (columns: P)",
        ["algorithm", *headings],
        rows,
        important=[headings[row] for row in inwards],
        notes=notes,
    )


def _some(result: StrataResult) -> str:
    """Which datasets the panels show, where it is not all of them."""
    shown, count = len(shown_datasets(result)), len(result.datasets)
    return "" if shown == count else f" Shown: the {shown} of {count} datasets whose order changes most."


FIGURES = Plots([
    Plot("popularity_strata", lambda result: f"{result.metric} on held-out interactions with items below a popularity "
         f"threshold P: lines that cross are algorithms whose order depends on popular items.{_some(result)}",
         plot_strata, "strata"),
    Plot("popularity_sensitivity", "How far the order on the least popular items is from the order on all items; grey: "
         "what chance gives.", plot_sensitivity, "strata_sensitivity"),
    Plot("popularity_curve", lambda result: "How many training users each item has, the most popular first."
         f"{_some(result)}", plot_popularity_curve),
    Plot("popularity_shares", lambda result: f"Share of items and of interactions below each threshold.{_some(result)}",
         plot_shares, "strata_shares"),
])  # fmt: skip
SECTION = Section(
    StrataResult, "Popularity strata", "beyond accuracy", "strata", FIGURES, sentences, tables, order=30, brief=brief
)
