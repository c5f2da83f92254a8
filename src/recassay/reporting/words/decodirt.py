"""The classifier benchmark: hard and odd datasets, able classifiers, a subset that is enough."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from recassay.analysis.decodirt.result import DecodirtResult
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import listing
from recassay.plots import decodirt as plots

if TYPE_CHECKING:
    from recassay.analysis.decodirt.subset import Recommendation


def sentences(result: DecodirtResult, words: Vocabulary = USUAL) -> Iterator[str]:
    """How hard the datasets are, who is ablest, what negative instances do, what metadata tell, which half to take."""
    rows = plots.varied(result)
    if rows:
        hard = sum(row["mean_difficulty"] > 0 for row in rows)
        telling = sum(row["mean_discrimination"] > 0 for row in rows)
        hardest, easiest = (f"({row['mean_difficulty']:.2f})" for row in (rows[0], rows[-1]))
        yield (
            f"Of {len(rows)} {words.datasets} {hard} {'has' if hard == 1 else 'have'} instances of a mean difficulty "
            f"above 0 (harder than the average respondent is able), and {telling} a positive mean discrimination; "
            f"{rows[0]['dataset']} is the hardest {hardest}, {rows[-1]['dataset']} the easiest {easiest}."
        )
    yield from _ablest(result, words)
    yield from _negative(result, words)
    yield from _metadata(result, words)
    half = result.recommendation
    if half is not None and half.tau is not None and half.random_tau is not None:
        low, middle, high = half.random_tau
        yield (
            f"The recommended half ({half.set.title}, {len(half.datasets)} {words.datasets}) orders the real "
            f"classifiers as all {words.datasets} do with Kendall's tau {half.tau:.2f}; random subsets of that size "
            f"reach {middle:.2f} (95 %: {low:.2f} to {high:.2f})."
        )
    yield from notes(result, words)


def _ablest(result: DecodirtResult, words: Vocabulary) -> Iterator[str]:
    """The real classifier that is first on most sets of datasets, and who is first on the others."""
    first: dict[str, list[str]] = {}
    for rating in result.ratings:
        order = [rating.all.algorithms[a] for a in rating.all.order()]
        best = next((name for name in order if result.roles[name] == "real"), None)
        if best is not None:
            first.setdefault(best, []).append(rating.set.title)
    if first:
        best = max(first, key=lambda name: len(first[name]))
        others = [f"; {name} on {listing(sets, most=3)}" for name, sets in first.items() if name != best]
        sets = f"{len(first[best])} of {len(result.ratings)} sets of {words.datasets}"
        yield f"{best} has the highest Glicko-2 rating of the real classifiers on {sets}{''.join(others)}."


def _negative(result: DecodirtResult, words: Vocabulary) -> Iterator[str]:
    """How many instances discriminate negatively, and whether the ratings are sound with and without them."""
    shares = [trait.statistics()["negative_share"] for trait in result.traits if trait.varied]
    worst = result.most_negative()
    if worst is not None and max(shares, default=0.0) > 0:
        yield (
            f"On average {100 * sum(shares) / len(shares):.1f} % of the instances of {words.a_dataset} discriminate "
            f"negatively (abler classifiers fail them more often: noise, or a wrong label), on {worst.dataset} "
            f"{100 * max(shares):.1f} %."
        )
    for variant, which in (("all_instances", "With all instances"), ("without_negative", "Without negative ones")):
        checks = [check[variant] for check in result.checks().values() if check[variant].above_optimal is not None]
        if checks:
            sound = f"{sum(check.sound for check in checks)} of {len(checks)} sets of {words.datasets}"
            yield f"{which} nobody ends above the optimal classifier or below the pessimal one on {sound}."


def _metadata(result: DecodirtResult, words: Vocabulary) -> Iterator[str]:
    """The correlations of properties with item parameters that survive the correction."""
    table = result.correlations
    if not table.properties:
        return
    telling = [
        f"{pair['left']} with {pair['right'].replace('_', ' ')} (r = {pair['pearson']:.2f})"
        for pair in table.telling().to_dicts()
    ]
    tested = f"{table.properties * len(table.statistics)} correlations of properties with item parameters"
    if telling:
        yield f"After Holm's correction over {tested}, these remain: {listing(telling)}."
    else:
        yield f"None of the {tested} over {len(result.traits)} {words.datasets} is significant after Holm's correction."


FEW = 10
"""Datasets below which bins, correlations and subsets prove little."""


def notes(result: DecodirtResult, words: Vocabulary = USUAL) -> Iterator[str]:
    """What a reader must know: fits that did not converge, datasets that say nothing, answers that are missing."""
    traits = result.traits
    rough = [dataset.dataset for dataset in traits if not dataset.fit.converged]
    if rough:
        where = f"{len(rough)} of {len(traits)} {words.datasets} ({listing(rough)})"
        yield f"The 3PL did not converge on {where}: read their item parameters with care."
    flat = [dataset.dataset for dataset in traits if not dataset.varied]
    if flat:
        yield f"On {listing(flat)} everybody answers alike: no items, and no part in the ratings."
    bare = [dataset.dataset for dataset in traits if not dataset.kept.any()]
    if bare:
        yield f"Every instance of {listing(bare)} discriminates negatively: without them nobody plays there."
    players = {name: [each.dataset for each in traits if name not in each.respondents] for name in result.players}
    lacking = [f"{name} on {listing(where, most=3)}" for name, where in players.items() if where]
    if lacking:
        yield f"No answers of {listing(lacking)}: they play no game there."
    if len(traits) < FEW:
        yield f"{len(traits)} {words.datasets} are few: bins, correlations and subsets of them prove little."
    if not any(dataset.metadata for dataset in traits):
        yield f"No metadata of the {words.datasets} is known: nothing is correlated with it."


def rule(subset: Recommendation, words: Vocabulary = USUAL) -> str:
    """How the recommended half was chosen."""
    return (
        "Of the four halves by the deviation of difficulty or discrimination: the fewest classifiers above optimal or "
        "below pessimal, then a half that varies least, then the most pairs of real classifiers whose rating intervals "
        f"do not overlap; {words.datasets} whose mean discrimination is negative are left out."
    )
