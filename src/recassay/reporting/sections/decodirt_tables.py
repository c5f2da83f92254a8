"""The numbers of the classifier benchmark: datasets, bins, metadata, ratings, true scores, the recommended half."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from recassay.analysis.decodirt.result import DecodirtResult
from recassay.analysis.glicko.result import GlickoResult
from recassay.core.errors import listing
from recassay.reporting.numbers import between, number, percent
from recassay.reporting.section import Table

if TYPE_CHECKING:
    from recassay.analysis.decodirt.subset import Recommendation

PARAMETERS = ("difficulty", "discrimination", "guessing")
MOST_DATASETS, MOST_CORRELATIONS = 80, 8


def tables(result: DecodirtResult) -> list[Table]:
    """Datasets, bins, what goes with the metadata, the ratings of the six sets, true scores, and the halves."""
    return [
        _datasets(result),
        _bins(result),
        *_correlations(result),
        *_ratings(result),
        _scores(result),
        *([] if result.recommendation is None else [_halves(result.recommendation)]),
    ]


def _datasets(result: DecodirtResult) -> Table:
    rows = result.to_frame().to_dicts()
    cells = [
        [row["dataset"], row["bin"], row["instances"],
         *(f"{number(row[f'mean_{name}'])} ({number(row[f'{name}_deviation'])})" for name in PARAMETERS),
         percent(row["negative_share"], 1), "yes" if row["converged"] else "no"]
        for row in rows
    ]  # fmt: skip
    return Table(
        f"{len(rows)} datasets, hardest first: mean (deviation) of the 3PL parameters over test instances",
        ["dataset", "bin", "instances", *PARAMETERS, "negative", "converged"],
        cells,
        important=[*PARAMETERS[:2], "negative", "instances"],
        most=MOST_DATASETS,
    )


def _bins(result: DecodirtResult) -> Table:
    rows = [
        [one.number, len(one.datasets), *(number(one.parameters[name]) for name in PARAMETERS),
         percent(one.parameters["negative_share"], 1)]
        for one in result.bins
    ]  # fmt: skip
    return Table("Bins by difficulty: means over their datasets", ["bin", "datasets", *PARAMETERS, "negative"], rows)


def _correlations(result: DecodirtResult) -> list[Table]:
    known = [
        row
        for row in result.correlations.to_frame().to_dicts()
        if row["kind"] == "property and items" and row["pearson"] is not None
    ]
    if not known:
        return []
    rows = [
        [row["left"], row["right"].replace("_", " "), number(row["pearson"]), between(row["low"], row["high"]),
         f"{row['p']:.3g}", f"{row['p_holm']:.3g}", number(row["spearman"]), row["datasets"]]
        for row in known[:MOST_CORRELATIONS]
    ]  # fmt: skip
    return [
        Table(
            f"Properties and item parameters: the strongest of {len(known)} correlations over datasets",
            ["property", "of the items", "Pearson", "95 %", "p", "p (Holm)", "Spearman", "datasets"],
            rows,
            names=2,
            important=["of the items", "Pearson", "p (Holm)", "95 %"],
        )
    ]


def _ratings(result: DecodirtResult) -> Iterator[Table]:
    """Tables 5 to 9: with all instances, and without those that discriminate negatively."""
    sets = [one.set.name.replace("_deviation", " dev.").replace("_", " ") for one in result.ratings]
    variants = {
        "all instances": [one.all for one in result.ratings],
        "without negatively discriminating instances": [one.kept for one in result.ratings],
    }
    for title, played in variants.items():
        if played:
            rows = [[played[0].algorithms[a], *_rated(played, played[0].algorithms[a])] for a in played[0].order()]
            whole = f"Glicko-2 ratings, {title}: rating ± 95 % (rank) on each set of datasets"
            yield Table(whole, ["classifier", *sets], rows)


def _rated(played: Sequence[GlickoResult], name: str) -> Iterator[str]:
    for one in played:
        place = one.algorithms.index(name)
        rating, deviation, _ = one.ratings[:, place]
        yield f"{rating:.0f} ± {1.96 * deviation:.0f} ({one.order().index(place) + 1})"


def _scores(result: DecodirtResult) -> Table:
    rows = [
        [row["respondent"], row["role"],
         *(number(row[key], 3) for key in ("probability", "probability_without_negative", "accuracy")), row["datasets"]]
        for row in result.mean_scores_frame().to_dicts()
        if row["respondent"] in result.players
    ]  # fmt: skip
    return Table(
        "Mean probability of a right answer (true score / instances) over datasets",
        ["classifier", "role", "all instances", "without negative", "accuracy", "datasets"],
        rows,
        names=2,
        important=["all instances", "without negative", "accuracy"],
    )


def _halves(one: Recommendation) -> Table:
    rows = [
        [half.title, len(half.datasets), half.baselines.above_optimal, half.baselines.below_pessimal,
         percent(half.separated), number(half.tau)]
        for half in one.candidates
    ]  # fmt: skip
    notes = [f"Recommended, {one.title}: {listing(one.datasets, most=None)}.", f"Rule: {one.rule}"]
    if one.left_out:
        notes.append(f"Left out for negative mean discrimination: {listing(one.left_out, most=None)}.")
    if one.tau is not None and one.random_tau is not None and one.beaten is not None:
        low, middle, high = one.random_tau
        notes.append(
            f"It orders the real classifiers as all datasets do with Kendall's tau {one.tau:.2f}; random subsets of "
            f"the same size reach {middle:.2f} (95 %: {between(low, high)}), {percent(one.beaten)} of them agree no "
            "better."
        )
    return Table(
        "Halves of the datasets",
        ["half", "datasets", "above optimal", "below pessimal", "pairs apart", "Kendall's tau with all"],
        rows,
        important=["Kendall's tau with all", "pairs apart", "above optimal", "below pessimal"],
        notes=notes,
    )
