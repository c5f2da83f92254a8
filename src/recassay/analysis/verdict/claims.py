"""Claims about algorithms, as people write them, and how a verdict stands to each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from recassay.analysis.verdict.result import Verdict
from recassay.core.errors import UsageError
from recassay.core.names import canonical, did_you_mean

Standing = Literal["holds", "undecided", "reversed"]

_FORM = re.compile(r"\s*(\S.*?)\s*(?:(>|<|\bbeats\b)\s*(\S.*?)|\bis\s+best)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Claim:
    """That `better` beats `worse`, or where there is none, that it is the best of all."""

    better: str
    worse: str | None = None

    def __str__(self) -> str:
        return f"{self.better} is best" if self.worse is None else f"{self.better} > {self.worse}"


def parse_claim(text: str, algorithms: Sequence[str]) -> Claim:
    """The claim that `A > B`, `B < A`, `A beats B` or `A is best` makes; unknown algorithms are refused by name."""
    form = _FORM.fullmatch(text)
    if form is None:
        raise UsageError(f"{text!r} is not a claim", fix="write it as 'A > B' or 'A is best'")
    known = {canonical(name): name for name in algorithms}
    names = [name for name in form.group(1, 3) if name is not None]
    for name in names:
        if canonical(name) not in known:
            raise UsageError(f"the claim {text!r} names {name!r}", fix=did_you_mean(name, list(algorithms)))
    named = [known[canonical(name)] for name in names]
    if len(set(named)) < len(named):
        raise UsageError(f"the claim {text!r} compares {named[0]} with itself", fix="name two algorithms")
    return Claim(*(named[::-1] if form.group(2) == "<" else named))


def standing(claim: Claim, verdict: Verdict) -> Standing:
    """How the verdict stands to a claim.

    `A > B` holds where A is shown to be better and is reversed where B is. `A is best` holds where A is the clear
    winner and is reversed where A cannot be the best.
    """
    if claim.worse is None:
        if verdict.grade == "clear_winner" and verdict.leaders == (claim.better,):
            return "holds"
        return "undecided" if claim.better in verdict.could_be_best else "reversed"
    status = verdict.status_of(claim.better, claim.worse)
    if status == "better":
        return "holds"
    return "reversed" if status == "worse" else "undecided"
