"""The certificate of a multiverse: which shares are known, and from how much of it."""

from __future__ import annotations

from collections.abc import Iterator

from recassay.analysis.certify.result import CertificateResult
from recassay.reporting.numbers import between
from recassay.reporting.section import Section, Table, nothing
from recassay.reporting.words.certify import sentences


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
