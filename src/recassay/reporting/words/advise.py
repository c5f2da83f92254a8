"""Advice for a new dataset."""

from __future__ import annotations

from recassay.analysis.advise.result import SAME, AdviseResult, Outside
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import listing
from recassay.reporting.numbers import percent


def sentences(result: AdviseResult, words: Vocabulary = USUAL) -> list[str]:
    """What to try first, whether characteristics helped, and what weakens the advice."""
    ranks = result.expected if result.trusts_model else result.overall
    names = [f"{result.algorithms[a]} ({ranks[a]:.1f})" for a in result.order()]
    then = f", then {listing(names[1:3], last='and')}" if len(names) > 1 else ""
    by = "the model on characteristics" if result.trusts_model else "the mean rank over the whole benchmark"
    advised = f"On {result.title} try {names[0]} first{then}: in brackets the rank to expect by {by}."
    evidence = [f"Evidence: {result.evidence}"] if result.evidence else []
    return [advised, model_worth(result, words), *warnings(result, words), *evidence]


def warnings(result: AdviseResult, words: Vocabulary = USUAL) -> list[str]:
    """What makes this advice weaker than it looks."""
    lines = [*result.notes, *(_outside(each, words) for each in result.outside)]
    nearest = result.nearest[0]
    if result.far:
        lines.append(
            f"No {words.dataset} of the benchmark is near: the nearest is {nearest.distance:.2f} standard deviations "
            f"away; the benchmark's own are at most {result.usual_distance[1]:.2f} from their nearest."
        )
    if nearest.distance < SAME:
        lines.append(
            f"{nearest.dataset} is the same or nearly the same {words.dataset} (distance {nearest.distance:.3f}): the "
            "benchmark's own results on it say more than any advice."
        )
    return lines


def _outside(each: Outside, words: Vocabulary) -> str:
    side, edge = ("below", each.low) if each.value < each.low else ("above", each.high)
    return f"{each.characteristic} = {each.value:.4g} is {side} every {words.dataset} of the benchmark ({edge:.4g})."


def model_worth(result: AdviseResult, words: Vocabulary = USUAL) -> str:
    """Whether the model is worth anything."""
    model, base = result.skills["model"], result.skills["baseline"]
    numbers = (
        f"on {words.datasets} left out of its making its ranks miss by {model.rank_error:.2f} (root mean square; "
        f"overall mean rank: {base.rank_error:.2f}), and its first pick loses {percent(model.loss)} of the best value "
        f"(overall: {percent(base.loss)})"
    )
    low, high = model.gain_interval
    within = (
        f"its gain in squared error is {model.gain:+.2f} ({100 * result.confidence:g} %: {low:+.2f} to {high:+.2f})"
    )
    did = "improved" if result.trusts_model else "did not improve"
    so = "" if result.trusts_model else " The order advised is therefore the overall one."
    return f"The model on characteristics {did} on the overall mean rank: {numbers}; {within}.{so}"
