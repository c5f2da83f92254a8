"""Beta-IRT: abilities, difficulties and discriminations in both directions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recassay.analysis.beta_irt.result import BetaIRTResult
from recassay.core.errors import listing
from recassay.reporting.numbers import percent, probability
from recassay.reporting.section import Figure, Section, Table

if TYPE_CHECKING:
    from recassay.analysis.beta_irt.traits import Trait


FEWEST = 5
"""Below so many datasets (algorithms) no probability is given over them."""


def sentences(result: BetaIRTResult) -> list[str]:
    """The ablest algorithm and how surely, the hardest and the easiest dataset, and what the model warns of."""
    one, two = result.directions
    ability, challenge = result.trait("ability"), result.trait("challenge")
    first, second = ability.order()[:2]
    hardest, *_, easiest = challenge.order()
    few, small = len(result.datasets) < FEWEST, len(result.algorithms) < FEWEST

    def often(share: float) -> str:
        return "" if small else f", in {percent(share)} of bootstrap replicates over the algorithms"

    above = "" if few else f", above {ability.names[second]} with probability {probability(one.exceeds[first, second])}"
    able = (
        f"By item response theory {ability.names[first]} has the highest ability ({ability.estimate[first]:.2f})"
        f"{above}; {challenge.names[hardest]} is the most challenging dataset ({challenge.estimate[hardest]:.2f}"
        f"{often(two.highest[hardest])}), {challenge.names[easiest]} the least ({challenge.estimate[easiest]:.2f}"
        f"{often(two.lowest[easiest])})."
    )
    backwards = [n for n, p in zip(one.items, one.probability_positive, strict=True) if p < 0.5]
    against = f"On {listing(backwards)} abler algorithms do worse (negative discrimination): noise, or an error there."
    return [able, *([against] if backwards else []), *(f"{note[0].upper()}{note[1:]}." for note in result.warnings)]


DENSITIES = {
    "beta": "The responses follow the Beta density of the model.",
    "precision": "The responses follow a Beta density around the curves with a precision of its own",
    "bi-reirt": "The curves have the smallest squared error.",
}


def tables(result: BetaIRTResult) -> list[Table]:
    """For each direction the respondents, then the items with the fit; below the last, the density that was taken."""
    density = DENSITIES[result.estimator]
    if result.estimator == "precision":
        found = result.log_posteriors
        gain = f": {found['precision'] - found['beta']:.0f} units of log-likelihood better than the model's own"
        density += f"{gain if found else ''}."
    shown = []
    for direction in result.directions:
        respondent, level, slope = direction.traits
        who, what = ("algorithm", "dataset") if direction.number == 1 else ("dataset", "algorithm")
        title = f"Direction {direction.number}: {who}s on {what}s, {result.metric}"
        able, hard, steep = (direction.traits[name] for name in (respondent, level, slope))
        fit = (
            f"Fit: mean squared error {direction.mse:.3g}, log-likelihood {direction.log_likelihood:.1f}, reliability "
            f"{direction.reliability:.2f}."
        )
        items = [
            [hard.names[i], _span(hard, i), _span(steep, i), f"{direction.probability_positive[i]:.3f}"]
            for i in hard.order()
        ]
        shown += [
            Table(title, [who, respondent.replace("_", " ")], [[able.names[i], _span(able, i)] for i in able.order()]),
            Table(
                title,
                [what, level.replace("_", " "), slope, "P(> 0)"],
                items,
                important=[level.replace("_", " "), "P(> 0)"],
                notes=[fit, *([density] if direction is result.directions[-1] else [])],
            ),
        ]
    return shown


def _span(trait: Trait, i: int) -> str:
    return f"{trait.estimate[i]:.3f} [{trait.low[i]:.3f}, {trait.high[i]:.3f}]"


def figures(result: BetaIRTResult) -> list[Figure]:
    """The traits with their intervals, and the item characteristic curves of each direction."""
    from recassay.plots.beta_irt import plot_direction, plot_traits

    return [
        Figure("irt_traits", "Ability of each algorithm and challenge of each dataset, with intervals.",
               plot_traits(result), "irt_traits"),
        Figure("irt_datasets", "Difficulty against discrimination of the datasets, and the value that each expects "
               "of an algorithm by its ability; the shaded range holds the observed abilities.",
               plot_direction(result, 1), "irt_traits"),
        Figure("irt_algorithms", "The other way round: difficulty limit against consistency of the algorithms, and "
               "the value that each reaches by the challenge of a dataset.", plot_direction(result, 2), "irt_traits"),
    ]  # fmt: skip


def leader(result: BetaIRTResult) -> str:
    """The ablest algorithm."""
    return result.algorithms[result.trait("ability").order()[0]]


SECTION = Section(
    BetaIRTResult, "Ability and challenge", "traits", "beta-irt", figures, sentences, tables, order=10, leader=leader
)
