"""What is said of algorithms as data: one statement per sentence's fact, and the check that no two contradict.

The verdict is the court: it alone asserts. Every other procedure is a witness, and its statements carry its name.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

COURT = "verdict"
"""The procedure that decides what may be asserted; with a control named beforehand it is `verdict, control NAME`."""

ALL = "all"
"""The subject of the count that the other counts of the same thing add up to."""

Relation: TypeAlias = Literal[
    "better", "equivalent", "undecided", "could_be_best", "behind", "leads", "effect", "p", "interval", "chance",
    "survives", "count",
]  # fmt: skip
"""`behind`: shown not to be the best. `leads`: the best of what the procedure orders by, shown or not. `interval` is
that of the object where it is a quantity, else of the effect against it. `survives`: the first place does."""

NUMBERS = ("effect", "p", "interval", "chance", "count")
"""Relations of which one thing has one number."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that is said of an algorithm, or of how many there are."""

    subject: str
    relation: Relation
    object: str | None
    """Another algorithm, or the quantity that is meant."""
    metric: str
    scope: str
    """What it speaks of: `12 datasets`, `users of films`, `9 universes`."""
    procedure: str = COURT
    status: Literal["shown", "not shown", "estimate", "observed"] = "observed"
    number: float | tuple[float, float] | None = None

    @property
    def court(self) -> tuple[str, str, str]:
        """Statements with the same are of one judge on one thing."""
        return self.procedure, self.metric, self.scope

    def __str__(self) -> str:
        value = "" if self.number is None else f" = {_shown(self.number)}"
        named = " ".join(filter(None, [self.subject, self.relation, self.object]))
        return f"{named}{value} ({self.procedure}; {self.metric}, {self.scope})"

    def to_dict(self) -> dict[str, Any]:
        """Plain data; a number that is not finite is None."""
        ends = self.number if isinstance(self.number, tuple) else (self.number,)
        finite = [end if end is not None and math.isfinite(end) else None for end in ends]
        return {
            "subject": self.subject, "relation": self.relation, "object": self.object, "metric": self.metric,
            "scope": self.scope, "procedure": self.procedure, "status": self.status,
            "number": finite if isinstance(self.number, tuple) else finite[0],
        }  # fmt: skip


def contradictions(statements: Iterable[Statement]) -> list[str]:
    """Every two statements that cannot both hold, in words; empty where there are none."""
    distinct = list(dict.fromkeys(statements))
    by_court: dict[tuple[str, str, str], list[Statement]] = defaultdict(list)
    for statement in distinct:
        by_court[statement.court].append(statement)
    return [problem for said in by_court.values() for problem in (*_pairs(said), *_best(said), *_numbers(said))]


def _pairs(said: Sequence[Statement]) -> Iterator[str]:
    """One pair with two statuses."""
    known: dict[frozenset[str | None], Statement] = {}
    for statement in said:
        if statement.relation in ("better", "equivalent", "undecided"):
            other = known.setdefault(frozenset({statement.subject, statement.object}), statement)
            same = other.relation == statement.relation
            if not same or (same and statement.relation == "better" and other.subject != statement.subject):
                yield f"{other}, but {statement}"


def _best(said: Sequence[Statement]) -> Iterator[str]:
    """Who could be best or leads, and is shown to be behind; several who lead with different numbers."""
    behind = {s.object if s.relation == "better" else s.subject: s for s in said if s.relation in ("better", "behind")}
    leads = [statement for statement in said if statement.relation == "leads"]
    measured = [statement for statement in leads if statement.number is not None]
    for statement in leads:
        if statement.number is None and statement.subject not in {first.subject for first in measured or leads[:1]}:
            yield f"{(measured or leads)[0]}, but {statement}"
        if statement.number is not None and not _same(measured[0].number, statement.number):
            yield f"{measured[0]}, but {statement}"
    for statement in said:
        if statement.relation in ("could_be_best", "leads") and statement.subject in behind:
            if statement.relation == "could_be_best" or statement.procedure.startswith(COURT):
                yield f"{statement}, but {behind[statement.subject]}"


def _numbers(said: Sequence[Statement]) -> Iterator[str]:
    """Two numbers of one thing, effects outside their interval, chances that are none, counts that do not add up."""
    known: dict[tuple[str, str, str | None], Statement] = {}
    counts: dict[str | None, dict[str, float]] = defaultdict(dict)
    for statement in said:
        if statement.relation not in NUMBERS:
            continue
        other = known.setdefault((statement.subject, statement.relation, statement.object), statement)
        if not _same(other.number, statement.number):
            yield f"{other}, but {statement}"
        if statement.relation in ("chance", "p") and not 0 <= _one(statement) <= 1:
            yield f"{statement} is no probability"
        if statement.relation == "count":
            counts[statement.object][statement.subject] = _one(statement)
    for (subject, relation, against), statement in known.items():
        effect = known.get((subject, "effect", against))
        if relation == "interval" and effect is not None and isinstance(statement.number, tuple):
            low, high = statement.number
            if not low - 1e-9 <= _one(effect) <= high + 1e-9:
                yield f"{effect} lies outside {statement}"
    for of, numbers in counts.items():
        if ALL in numbers and sum(numbers.values()) != 2 * numbers[ALL]:
            parts = " + ".join(f"{_shown(number)} {name}" for name, number in numbers.items() if name != ALL)
            yield f"{parts} is not {_shown(numbers[ALL])} {of} ({said[0].procedure})"
    named = sum(statement.relation == "could_be_best" for statement in said)
    could = [part["could be best"] for part in counts.values() if "could be best" in part]
    if could and could[0] != named:
        yield f"{_shown(could[0])} could be best, but {named} are named ({said[0].procedure})"


def _one(statement: Statement) -> float:
    return statement.number if isinstance(statement.number, (int, float)) else math.nan


def _same(one: float | tuple[float, float] | None, other: float | tuple[float, float] | None) -> bool:
    """Equal, but for the last digits of a sum."""
    ends = [value if isinstance(value, tuple) else (value,) for value in (one, other)]
    return len(ends[0]) == len(ends[1]) and all(
        a == b or (a is not None and b is not None and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12))
        or (a is not None and b is not None and math.isnan(a) and math.isnan(b))
        for a, b in zip(*ends, strict=True)
    )  # fmt: skip


def _shown(number: float | tuple[float, float]) -> str:
    return " to ".join(f"{end:.4g}" for end in (number if isinstance(number, tuple) else (number,)))
