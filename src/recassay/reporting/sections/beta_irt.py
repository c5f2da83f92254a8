"""Beta-IRT: abilities, difficulties and discriminations in both directions."""

from __future__ import annotations

from recassay.analysis.beta_irt.result import BetaIRTResult
from recassay.core.errors import listing
from recassay.reporting.section import Figure, Section


def sentences(result: BetaIRTResult) -> list[str]:
    """The ablest algorithm and how surely, the hardest and the easiest dataset, and what the model warns of."""
    one = result.directions[0]
    ability, challenge = result.trait("ability"), result.trait("challenge")
    first, second = ability.order()[:2]
    order = challenge.order()
    able = (
        f"By item response theory {ability.names[first]} has the highest ability ({ability.estimate[first]:.2f}), "
        f"above {ability.names[second]} with probability {one.exceeds[first, second]:.2f}; "
        f"{challenge.names[order[0]]} is the most challenging dataset "
        f"({challenge.estimate[order[0]]:.2f}), {challenge.names[order[-1]]} the least "
        f"({challenge.estimate[order[-1]]:.2f})."
    )
    backwards = [n for n, p in zip(one.items, one.probability_positive, strict=True) if p < 0.5]
    against = f"On {listing(backwards)} abler algorithms do worse (negative discrimination): noise, or an error there."
    return [able, *([against] if backwards else []), *(f"{note[0].upper()}{note[1:]}." for note in result.warnings)]


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


SECTION = Section(BetaIRTResult, "Ability and challenge", "traits", "beta-irt", figures, sentences)
