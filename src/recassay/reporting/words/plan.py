"""What more would have to be run."""

from __future__ import annotations

from collections.abc import Iterator

from recassay.analysis.plan.result import MOST, Look, PlanResult
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import count_of, listing
from recassay.reporting.numbers import percent
from recassay.reporting.words.verdict import other_directions


def sentences(result: PlanResult, words: Vocabulary = USUAL) -> Iterator[str]:
    """What it would take to decide the first open pair, what is out of reach, and how few datasets decide the win."""
    yield _lead(result, words)
    unreachable = result.out_of_reach()
    if unreachable and len(result.pairs) > 1:
        verb = "is" if len(unreachable) == 1 else "are"
        yield (
            f"{len(unreachable)} of {len(result.pairs)} undecided pairs {verb} out of reach of {MOST:,} "
            f"{words.datasets}."
        )
    if result.left_out:
        further = f"1 further undecided pair, outside the best {words.algorithms}, is"
        if result.left_out > 1:
            further = f"{result.left_out:,} further undecided pairs, outside the best {words.algorithms}, are"
        yield f"{further} not planned for."
    if result.challenger is not None:
        without = f"Without {len(result.removed)} of the {result.complete} complete {words.datasets}"
        yield f"{without} {result.challenger} would have the best mean rank."
    if result.pairs and result.judgement is not None:
        first = result.pairs[0]
        directions = other_directions(result.judgement, result.judgement.pair(first.left, first.right), words)
        if directions is not None:
            yield directions
    if result.look is not None:
        yield look(result.look, words)


def _lead(result: PlanResult, words: Vocabulary) -> str:
    """How many datasets would decide the first open pair, as a range, and how surely its lead is real."""
    if not result.pairs:
        every = "The only pair is" if result.decided == 1 else f"All {result.decided} pairs are"
        return f"{every} decided: nothing more needs to be run."
    first = result.pairs[0]
    real = f"By the hierarchical model, {first.left} is ahead of {first.right} with a chance of {percent(first.chance)}"
    if result.difference:
        size = f"a difference of {100 * result.difference:g} % between {first.left} and {first.right}"
        if first.alone is None:
            return f"{MOST:,} {words.datasets} would not show {size} with power {result.power:g}."
        return f"To show {size} with power {result.power:g} takes {first.alone:,} {words.datasets} like these."
    if first.alone is None:
        return f"{real}; no number of {words.datasets} up to {MOST:,} would show it with power {result.power:g}."
    fewest, most = first.span
    few = "?" if fewest is None else f"{fewest:,}"
    many = f"more than {MOST:,}" if most is None else f"{most:,}"
    return (
        f"{real}. To show it with power {result.power:g} takes about {first.alone:,} {words.datasets} ({few} to "
        f"{many}, as the lead is large or small); there are {len(result.datasets)}."
    )


def look(so_far: Look, words: Vocabulary = USUAL) -> str:
    """What the sequential test shows of the leader so far, for people who watch the run."""
    over = f"after {count_of(so_far.datasets, words.dataset)}"
    test = f"the sequential test for repeated looks (level {so_far.alpha:g} over all pairs)"
    if not so_far.behind:
        return (
            f"{so_far.leader} has the best mean rank {over}; {test} does not separate it from any other so far. It "
            f"needs more {words.datasets} than a test that is made once."
        )
    rest = f", not against {listing(so_far.open, most=4)}" if so_far.open else ""
    return (
        f"By {test}, {so_far.leader} wins more than half of the {words.datasets} against "
        f"{listing(so_far.behind, most=4)}{rest} ({over})."
    )
