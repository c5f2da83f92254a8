"""The certificate of a multiverse: which shares are known, and from how much of it."""

from __future__ import annotations

from collections.abc import Iterator

from recassay.analysis.certify.result import CertificateResult
from recassay.reporting.numbers import between, percent
from recassay.reporting.section import Section, Table, nothing


def sentences(result: CertificateResult) -> list[str]:
    """The leading claim, what is certified, at which cost, and the deciding choice."""
    spent = (
        f"{result.run} of {result.blocks} blocks (combination of choices x dataset), {percent(result.cost)} of the cost"
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


def tables(result: CertificateResult) -> Iterator[Table]:
    """One row per claim."""
    yield Table(
        "Share of universes in which a claim is seen (%)",
        {"claim": "{statement}", "share": "{share:.0%}",
         "95 %": lambda claim: between(100 * claim.interval[0], 100 * claim.interval[1], 0),
         "certified": "{certified}"},
        result.claims,
    )  # fmt: skip


SECTION = Section(
    CertificateResult, "Certified shares", "robustness", "multiverse-studies", nothing, sentences, tables, order=21
)
