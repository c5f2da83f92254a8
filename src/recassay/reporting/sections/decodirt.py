"""The classifier benchmark: hard and odd datasets, able classifiers, a subset that is enough."""

from __future__ import annotations

from recassay.analysis.decodirt.result import DecodirtResult
from recassay.core.errors import listing
from recassay.reporting.section import Figure, Section
from recassay.reporting.sections.decodirt_tables import tables


def sentences(result: DecodirtResult) -> list[str]:
    """How hard the datasets are, who is ablest, what negative instances do, what metadata tell, which half to take."""
    return [
        *_datasets(result),
        *_classifiers(result),
        *_negative(result),
        *_metadata(result),
        *_subset(result),
        *result.notes,
    ]


def _datasets(result: DecodirtResult) -> list[str]:
    rows = [row for row in result.to_frame().to_dicts() if row["mean_difficulty"] is not None]
    if not rows:
        return []
    hard = sum(row["mean_difficulty"] > 0 for row in rows)
    telling = sum(row["mean_discrimination"] > 0 for row in rows)
    return [
        f"Of {len(rows)} datasets {hard} have instances of a mean difficulty above 0 (harder than the average "
        f"respondent is able), and {telling} a positive mean discrimination; {rows[0]['dataset']} is the hardest "
        f"({rows[0]['mean_difficulty']:.2f}), {rows[-1]['dataset']} the easiest ({rows[-1]['mean_difficulty']:.2f})."
    ]


def _classifiers(result: DecodirtResult) -> list[str]:
    first: dict[str, list[str]] = {}
    for one in result.ratings:
        order = [one.all.algorithms[a] for a in one.all.order()]
        best = next((name for name in order if result.roles[name] == "real"), None)
        if best is not None:
            first.setdefault(best, []).append(one.set.title)
    if not first:
        return []
    best = max(first, key=lambda name: len(first[name]))
    others = [f"{name} on {listing(sets, most=3)}" for name, sets in first.items() if name != best]
    text = f"{best} has the highest Glicko-2 rating of the real classifiers on {len(first[best])} of "
    return [f"{text}{len(result.ratings)} sets of datasets" + (f"; {'; '.join(others)}." if others else ".")]


def _negative(result: DecodirtResult) -> list[str]:
    shares = [one.statistics()["negative_share"] for one in result.traits if one.varied]
    found = []
    if shares and max(shares) > 0:
        worst = result.most_negative()
        assert worst is not None
        mean = 100 * sum(shares) / len(shares)
        found.append(
            f"On average {mean:.1f} % of the instances of a dataset discriminate negatively (abler classifiers fail "
            f"them more often: noise, or a wrong label), on {worst.dataset} {100 * max(shares):.1f} %."
        )
    checks = result.checks()
    for variant, words in (("all_instances", "With all instances"), ("without_negative", "Without negative ones")):
        judged = [one[variant] for one in checks.values() if one[variant].above_optimal is not None]
        if judged:
            sound = sum(one.sound for one in judged)
            found.append(
                f"{words} nobody ends above the optimal classifier or below the pessimal one on {sound} of "
                f"{len(judged)} sets of datasets."
            )
    return found


def _metadata(result: DecodirtResult) -> list[str]:
    found = result.correlations
    if not found.properties:
        return []
    telling = [
        f"{found.variables[i]} with {found.variables[j].replace('_', ' ')} (r = {found.pearson[i, j]:.2f})"
        for i, j in found.telling()
    ]
    tested = f"{found.properties * len(found.statistics)} correlations of properties with item parameters"
    if telling:
        return [f"After Holm's correction over {tested}, these remain: {listing(telling)}."]
    return [f"None of the {tested} over {len(result.traits)} datasets is significant after Holm's correction."]


def _subset(result: DecodirtResult) -> list[str]:
    one = result.recommendation
    if one is None or one.tau is None or one.random_tau is None or one.beaten is None:
        return []
    return [
        f"The recommended half ({one.title}, {len(one.datasets)} datasets) orders the real classifiers as all datasets "
        f"do with Kendall's tau {one.tau:.2f}; random subsets of that size reach {one.random_tau[1]:.2f} (95 %: "
        f"{one.random_tau[0]:.2f} to {one.random_tau[2]:.2f})."
    ]


def figures(result: DecodirtResult) -> list[Figure]:
    """Datasets and bins, deviations, true scores, metadata, ratings and their course."""
    from recassay.plots import decodirt as plots
    from recassay.plots.decodirt_classifiers import plot_ratings, plot_true_scores
    from recassay.plots.glicko import plot_glicko_bump

    found = [
        Figure("decodirt_datasets", "Mean difficulty of the instances of each dataset, hardest first, and their mean "
               "discrimination; the whiskers are one deviation over the instances.",
               plots.plot_datasets(result), "decodirt_datasets"),
        Figure("decodirt_bins", "The datasets in equal bins, the hardest first: means of difficulty and "
               "discrimination.", plots.plot_bins(result), "decodirt_bins"),
        Figure("decodirt_deviation", "How much the difficulty of instances varies within each dataset.",
               plots.plot_deviation(result), "decodirt_datasets"),
        Figure("decodirt_true_scores", "Probability of a right answer of each rated classifier with and without the "
               "negatively discriminating instances: on the dataset with most of them, and averaged over datasets.",
               plot_true_scores(result), "decodirt_mean_scores"),
        Figure("decodirt_correlations", "Pearson's correlation over datasets between their properties and the "
               "statistics of their items; pale numbers have intervals that hold 0.",
               plots.plot_metadata(result), "decodirt_correlations"),
    ]  # fmt: skip
    if result.ratings:
        found.append(
            Figure("decodirt_ratings", "Glicko-2 rating of each classifier on the six sets of datasets, with and "
                   "without negatively discriminating instances; colour is the rank.",
                   plot_ratings(result), "decodirt_ratings")
        )  # fmt: skip
    for one in result.ratings:
        if one.set.name in {"difficulty", "least_difficulty_deviation"} and len(one.set.datasets) > 1:
            found.append(
                Figure(f"decodirt_ranks_{one.set.name}", f"Rank by rating after each dataset: {one.set.title}.",
                       plot_glicko_bump(one.all), "decodirt_history")
            )  # fmt: skip
    for name in plots.SHOWN:
        if len(result.metadata_bins.get(name, ())) > 1:
            found.append(
                Figure(f"decodirt_by_{name}", f"Probability of a right answer and {plots.SHOWN[name]} of the items in "
                       f"bins of datasets by {name}.", plots.plot_probability(result, name), "decodirt_probabilities")
            )  # fmt: skip
    return found


SECTION = Section(
    DecodirtResult, "Classifiers on test instances", "traits", "decodirt", figures, sentences, tables, order=50
)
