"""The classifier benchmark: hard and odd datasets, able classifiers, a subset that is enough."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from recassay.analysis.decodirt.result import DecodirtResult
from recassay.analysis.glicko.result import GlickoResult
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import listing
from recassay.plots import decodirt as plots
from recassay.reporting.numbers import between, percent
from recassay.reporting.section import Plot, Plots, Section, Table
from recassay.reporting.sections.glicko import plot_glicko_bump
from recassay.reporting.words.decodirt import rule, sentences

if TYPE_CHECKING:
    from recassay.analysis.decodirt.subset import Recommendation


PARAMETERS = ("difficulty", "discrimination", "guessing")
MOST_DATASETS, MOST_CORRELATIONS = 80, 8


def tables(result: DecodirtResult, words: Vocabulary = USUAL) -> Iterator[Table]:
    """Datasets, bins, what goes with the metadata, the ratings of the six sets, true scores, and the halves."""
    rows = result.to_frame().to_dicts()
    yield Table(
        f"{len(rows)} {words.datasets}, hardest first: mean (deviation) of the 3PL parameters over test instances",
        {words.dataset: "{dataset}", "bin": "{bin}", "instances": "{instances}",
         **{name: f"{{mean_{name}:.2f}} ({{{name}_deviation:.2f}})" for name in PARAMETERS},
         "negative": "{negative_share:.1%}", "converged": "{converged}"},
        rows,
        important=[*PARAMETERS[:2], "negative", "instances"],
        most=MOST_DATASETS,
    )  # fmt: skip
    yield Table(
        f"Bins by difficulty: means over their {words.datasets}",
        {"bin": "{number}", words.datasets: lambda group: len(group.datasets),
         **{name: f"{{parameters.{name}:.2f}}" for name in PARAMETERS}, "negative": "{parameters.negative_share:.1%}"},
        result.bins,
    )  # fmt: skip
    yield from _correlations(result, words)
    yield from _ratings(result, words)
    yield Table(
        f"Mean probability of a right answer (true score / instances) over {words.datasets}",
        {"classifier": "{respondent}", "role": "{role}", "all instances": "{probability:.3f}",
         "without negative": "{probability_without_negative:.3f}", "accuracy": "{accuracy:.3f}",
         words.datasets: "{datasets}"},
        [row for row in result.mean_scores_frame().to_dicts() if row["respondent"] in result.players],
        names=2,
        important=["all instances", "without negative", "accuracy"],
    )  # fmt: skip
    if result.recommendation is not None:
        yield _halves(result.recommendation, words)


def _correlations(result: DecodirtResult, words: Vocabulary) -> Iterator[Table]:
    known = [row for row in result.correlations.to_frame().to_dicts() if row["p_holm"] is not None]
    if not known:
        return
    level = f"{100 * result.how.confidence:g} %"
    yield Table(
        f"Properties and item parameters: the strongest of {len(known)} correlations over {words.datasets}",
        {"property": "{left}", "of the items": lambda row: row["right"].replace("_", " "), "Pearson": "{pearson:.2f}",
         level: "{low:.2f} to {high:.2f}", "p": "{p:p}", "p (Holm)": "{p_holm:p}", "Spearman": "{spearman:.2f}",
         words.datasets: "{datasets}"},
        known[:MOST_CORRELATIONS],
        names=2,
        important=["of the items", "Pearson", "p (Holm)", level],
    )  # fmt: skip


def _ratings(result: DecodirtResult, words: Vocabulary) -> Iterator[Table]:
    """Tables 5 to 9: with all instances, and without those that discriminate negatively."""
    variants = {
        "all instances": [rating.all for rating in result.ratings],
        "without negatively discriminating instances": [rating.kept for rating in result.ratings],
    }
    for title, played in variants.items():
        if played:
            rows = [[played[0].algorithms[a], *_rated(played, played[0].algorithms[a])] for a in played[0].order()]
            whole = f"Glicko-2 ratings, {title}: rating ± 95 % (rank) on each set of {words.datasets}"
            yield Table(whole, ["classifier", *plots.set_titles(result).values()], rows)


def _rated(played: Sequence[GlickoResult], name: str) -> Iterator[str]:
    for ratings in played:
        place = ratings.algorithms.index(name)
        rating, deviation, _ = ratings.ratings[:, place]
        yield f"{rating:.0f} ± {1.96 * deviation:.0f} ({ratings.order().index(place) + 1})"


def _halves(best: Recommendation, words: Vocabulary) -> Table:
    notes = [
        f"Recommended, {best.set.title}: {listing(best.datasets, most=None)}.",
        f"Rule: {rule(best, words)}",
    ]
    if best.left_out:
        notes.append(f"Left out for negative mean discrimination: {listing(best.left_out, most=None)}.")
    if best.tau is not None and best.random_tau is not None and best.beaten is not None:
        low, middle, high = best.random_tau
        notes.append(
            f"It orders the real classifiers as all {words.datasets} do with Kendall's tau {best.tau:.2f}; random "
            f"subsets of the same size reach {middle:.2f} (95 %: {between(low, high)}), {percent(best.beaten)} of them "
            "agree no better."
        )
    return Table(
        f"Halves of the {words.datasets}",
        {"half": "{set.title}", words.datasets: lambda half: len(half.set.datasets),
         "above optimal": "{baselines.above_optimal}", "below pessimal": "{baselines.below_pessimal}",
         "pairs apart": "{separated:.0%}", "Kendall's tau with all": "{tau:.2f}"},
        best.candidates,
        important=["Kendall's tau with all", "pairs apart", "above optimal", "below pessimal"],
        notes=notes,
    )  # fmt: skip


def _ranks_on(name: str) -> Plot:
    """The ranks through the datasets of one set, where it has several."""

    def rated(result: DecodirtResult) -> Any:
        return next((r for r in result.ratings if r.set.name == name and len(r.set.datasets) > 1), None)

    return Plot(
        f"decodirt_ranks_{name}",
        lambda result, words: f"Rank by rating after each {words.dataset}: {rated(result).set.title}.",
        lambda result, words, shown: plot_glicko_bump(rated(result).all, words, shown),
        "decodirt_history",
        when=rated,
    )


def _by_property(name: str) -> Plot:
    """Right answers by one property of the datasets, where it has several bins."""
    return Plot(
        f"decodirt_by_{name}",
        f"Probability of a right answer and {plots.SHOWN[name]} of the items in bins of {{datasets}} by {name}.",
        partial(plots.plot_probability, name=name),
        "decodirt_probabilities",
        when=lambda result: len(result.metadata_bins.get(name, ())) > 1,
    )


FIGURES = Plots([
    Plot("decodirt_datasets", "Mean difficulty of the instances of each {dataset}, hardest first, and their mean "
         "discrimination; the whiskers are one deviation over the instances.", plots.plot_datasets),
    Plot("decodirt_bins", "The {datasets} in equal bins, the hardest first: means of difficulty and discrimination.",
         plots.plot_bins),
    Plot("decodirt_deviation", "How much the difficulty of instances varies within each {dataset}.",
         plots.plot_deviation, "decodirt_datasets"),
    Plot("decodirt_true_scores", "Probability of a right answer of each rated classifier with and without the "
         "negatively discriminating instances: on the {dataset} with most of them, and averaged over {datasets}.",
         plots.plot_true_scores, "decodirt_mean_scores"),
    Plot("decodirt_correlations", "Pearson's correlation over {datasets} between their properties and the statistics "
         "of their items; pale numbers have intervals that hold 0.", plots.plot_metadata),
    Plot("decodirt_ratings", "Glicko-2 rating of each classifier on the six sets of {datasets}, with and without "
         "negatively discriminating instances; colour is the rank.", plots.plot_ratings,
         when=lambda result: result.ratings),
    *map(_ranks_on, ("difficulty", "least_difficulty_deviation")),
    *map(_by_property, plots.SHOWN),
])  # fmt: skip
SECTION = Section(
    DecodirtResult, "Classifiers on test instances", "traits", "decodirt", FIGURES, sentences, tables, order=50
)
