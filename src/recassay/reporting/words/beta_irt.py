"""Beta-IRT: abilities, difficulties and discriminations in both directions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from recassay.analysis.beta_irt.result import RELIABLE, SPREAD, BetaIRTResult, Direction
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import listing
from recassay.reporting.numbers import percent, probability

FEWEST = 5
"""Below so many datasets (algorithms) no probability is given over them."""


def sentences(result: BetaIRTResult, words: Vocabulary = USUAL) -> list[str]:
    """The ablest algorithm and how surely, the hardest and the easiest dataset, and what the model warns of."""
    direct, reverse = result.directions
    ability, challenge = result.trait("ability"), result.trait("challenge")
    first, second = ability.order()[:2]
    hardest, *_, easiest = challenge.order()
    few, small = len(result.datasets) < FEWEST, len(result.algorithms) < FEWEST

    def often(share: float) -> str:
        return "" if small else f", in {percent(share)} of bootstrap replicates over the {words.algorithms}"

    above = (
        "" if few else f", above {ability.names[second]} with probability {probability(direct.exceeds[first, second])}"
    )
    able = (
        f"By item response theory {ability.names[first]} has the highest ability ({ability.estimate[first]:.2f})"
        f"{above}; {challenge.names[hardest]} is the most challenging {words.dataset} "
        f"({challenge.estimate[hardest]:.2f}"
        f"{often(reverse.highest[hardest])}), {challenge.names[easiest]} the least ({challenge.estimate[easiest]:.2f}"
        f"{often(reverse.lowest[easiest])})."
    )
    backwards = [n for n, p in zip(direct.items, direct.probability_positive, strict=True) if p < 0.5]
    against = (
        f"On {listing(backwards)} abler {words.algorithms} do worse (negative discrimination): noise, or an error "
        "there."
    )
    return [
        able,
        *([against] if backwards else []),
        *(f"{note[0].upper()}{note[1:]}." for note in warnings(result, words)),
    ]


def warnings(result: BetaIRTResult, words: Vocabulary = USUAL) -> Iterator[str]:
    """What a reader of the traits must know."""
    if not result.higher_is_better:
        yield f"lower {result.metric} is better: the responses are 1 - {result.metric}"
    holes = int(np.isnan(result.values).sum())
    if holes:
        yield f"{holes} of {result.values.size} cells are missing and were left out"
    for direction in result.directions:
        yield from direction_warnings(direction, words)


def direction_warnings(direction: Direction, words: Vocabulary = USUAL) -> Iterator[str]:
    """Where the assumption of diversity (Assumption 1) fails, and where the computation did not end."""
    first = direction.number == 1
    who, what = (words.algorithms, words.dataset) if first else (words.datasets, words.algorithm)
    at = f"direction {direction.number}"
    fails = f"{at}: Assumption 1 (diversity) fails"
    if direction.flat:
        named = f"{what} {listing(direction.flat, most=6)}"
        yield f"{fails}: all {who} score alike (within {SPREAD:g}) on {named}, whose parameters are the priors'"
    if direction.reliability < RELIABLE:
        known = f"reliability {direction.reliability:.2f}, below {RELIABLE:g}"
        yield f"{fails}: the {who} do not differ reliably ({known})"
    if not direction.reached:
        yield f"{at}: the mode was not reached"
    if not direction.settled:
        yield f"{at}: the description of the posterior did not settle; its intervals are rough"
