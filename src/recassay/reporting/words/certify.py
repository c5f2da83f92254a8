"""The certificate of a multiverse: which shares are known, and from how much of it."""

from __future__ import annotations

from recassay.analysis.certify.result import CertificateResult
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.reporting.numbers import between, percent


def sentences(result: CertificateResult, words: Vocabulary = USUAL) -> list[str]:
    """The leading claim, what is certified, at which cost, and the deciding choice."""
    spent = (
        f"{result.run} of {result.blocks} blocks (combination of choices x {words.dataset}), {percent(result.cost)} of "
        "the cost"
    )
    if not result.claims:
        return [f"Nothing is certified yet: {spent}, were run."]
    main, sure = result.claims[0], sum(claim.certified for claim in result.claims)
    ends = between(100 * main.interval[0], 100 * main.interval[1], 0)
    axis = "explains most" if result.axis_certified else "seems to explain most"
    return [
        f"{main.statement} in about {percent(main.share)} of {result.universes} universes (95 % interval {ends} %).",
        f"{sure} of {len(result.claims)} shares are certified within 5 points, from {spent}.",
        f"The choice of {result.axis} {axis} of the differences between rankings ({percent(result.axis_share)}).",
    ]
