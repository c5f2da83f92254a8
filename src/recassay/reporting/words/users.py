"""Paired tests over the users of each dataset."""

from __future__ import annotations

from collections import Counter
from math import isfinite

from recassay.analysis.users.result import DatasetUsers, Gain, UserPair, UsersResult
from recassay.core.choices import FEWEST_DATASETS
from recassay.core.tables.labels import metric_name
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import listing
from recassay.reporting.numbers import p_text


def sentences(result: UsersResult, words: Vocabulary = USUAL) -> list[str]:
    """Who leads on the users of each dataset, whether that is shown, and what the datasets add up to."""
    if len(result.datasets) == 1:
        return [headline(result.datasets[0], result, words), *lines(result.datasets[0], result, words)]
    return [_several(result, words), *together(result, words)]


def headline(users: DatasetUsers, result: UsersResult, words: Vocabulary = USUAL) -> str:
    """Who is best on a dataset by which metric, and by what share better than the reference."""
    (first, *others), possible, k = users.not_worse(), users.could_be_best(), len(users.algorithms)
    on = f"on {users.dataset} by {metric_name(result.metric)}"
    base = None if users.reference is None else users.reference.name
    if len(possible) == k:
        return f"No clear winner {on}: any of the {k} {words.algorithms} could be best."
    if len(possible) == 1 and others:
        alone = f"only {first} could be best, but no difference from {listing(others, most=2)} is shown"
        return f"No clear winner {on}: {alone}."
    if possible == (base,):
        return f"{base}, the reference, is best {on}: it beats all {k - 1} others."
    against = _briefly(users)
    if len(possible) > MOST_NAMED:
        return f"No clear winner {on}: {len(possible)} of {k} {words.algorithms} could be best{against}."
    return f"{listing(possible, last='or')} is best {on}{against}."


MOST_NAMED = 3
"""Algorithms that a headline names."""


def _briefly(users: DatasetUsers) -> str:
    """What a headline says of the best algorithm against the reference."""
    if users.reference is None or users.algorithms[0] == users.reference.name:
        return ""
    first, base = users.algorithms[0], users.reference.name
    if not users.pair(first, base).significant:
        return f"; {first} is not shown to beat {base}"
    uplift = users.uplift_of(first)
    return f"; {first} beats {base}" if uplift is None else f"; {first} is {share(uplift.share)} better than {base}"


def share(value: float, *, signed: bool = False) -> str:
    """A relative difference in a sentence: `5 %`, with a decimal below 2 %."""
    digits = 0 if abs(value) >= 0.0195 else 1
    return f"{100 * value:{'+' if signed else ''}.{digits}f} %"


def limits(low: float, high: float) -> str:
    """The interval of a relative difference in a sentence."""
    if not isfinite(high):
        return f"at least {share(low, signed=True)}"
    return f"{share(low, signed=True)} to {share(high, signed=True)}"


def lines(users: DatasetUsers, result: UsersResult, words: Vocabulary = USUAL) -> list[str]:
    """The best against the reference and against the next, the windows of time, and what all this generalises to."""
    lines = [_against_reference(users, result, words), _against_next(users, result, words), windows(users, result)]
    return [line for line in (*lines, generalises(users, words)) if line]


WHY = {
    "control": "",
    "own lists": ", whose lists were made elsewhere and are judged as given,",
    "most popular": " (the most popular items)",
}
"""What is said of a reference beside its name."""


def _against_reference(users: DatasetUsers, result: UsersResult, words: Vocabulary) -> str:
    if users.reference is None:
        return ""
    base = users.reference.name
    first = next(name for name in users.algorithms if name != base)
    pair, uplift = users.pair(first, base), users.uplift_of(first)
    sign = 1 if pair.left == first else -1
    verb = "beats" if sign > 0 else "is worse than"
    if not pair.significant:
        verb = "is not shown to differ from"
    low, high = (pair.low, pair.high) if sign > 0 else (-pair.high, -pair.low)
    size = f"{metric_name(result.metric)} {sign * pair.difference:+.4f}"
    sure = f"{100 * result.confidence:g} % interval {low:+.4f} to {high:+.4f}"
    if uplift is not None:
        size += f", {share(uplift.share, signed=True)}"
        sure = f"{100 * result.confidence:g} % interval {limits(uplift.low, uplift.high)}"
    evidence = f"{users.users:,} {words.users}; {corrected(pair, users)}"
    return f"{first} {verb} {base}{WHY[users.reference.why]} ({size}; {sure}; {evidence})."


def _against_next(users: DatasetUsers, result: UsersResult, words: Vocabulary) -> str:
    """What is known of the best against the others, where that is not said of the reference."""
    first, second = users.algorithms[:2]
    base = None if users.reference is None else users.reference.name
    others = [name for name in users.not_worse()[1:] if name != base]
    if len(users.could_be_best()) == len(users.algorithms):
        return ""  # the headline says it
    if others:
        return f"{first} is not shown to differ from {listing(others, most=6, last='or')}."
    if base in (first, second):
        return ""
    pair = users.pair(first, second)
    if not pair.significant:
        return ""
    also, metric = "" if base is None else "also ", metric_name(result.metric)
    return (
        f"{first} {also}beats the next {words.algorithm}, {second} ({metric} {pair.difference:+.4f}; "
        f"{100 * result.confidence:g} % interval {pair.low:+.4f} to {pair.high:+.4f}; {corrected(pair, users)})."
    )


def corrected(pair: UserPair, users: DatasetUsers) -> str:
    """The p-value of a pair with what it is corrected for: its interval is that of the pair alone."""
    count = len(users.pairs)
    return p_text(pair.p_holm) if count == 1 else f"{p_text(pair.p_holm)} corrected for {count} pairs"


def windows(users: DatasetUsers, result: UsersResult) -> str:
    """In how many windows of time the best algorithm was ahead of the next and of the reference."""
    if not users.windows:
        return ""
    first, count = users.algorithms[0], len(users.windows)
    others = [users.algorithms[1], *([] if users.reference is None else [users.reference.name])]
    ahead = [
        f"{other} in {users.windows_ahead(first, other, higher_is_better=result.higher_is_better)}"
        for other in dict.fromkeys(others)
        if other != first
    ]
    return f"Of {count} windows of time, {first} was ahead of {listing(ahead, last='and of')}."


def span(gain: Gain) -> str:
    """A group of users or items by its counts."""
    return f"{gain.low:,}" if gain.low == gain.high else f"{gain.low:,} to {gain.high:,}"


def gains(users: DatasetUsers, result: UsersResult, words: Vocabulary = USUAL) -> list[str]:
    """By activity and by popularity, how many groups gain, how many lose, and where the difference is largest."""
    lines = []
    kinds: dict[str, tuple[str, str]] = {
        "activity": (f"tenths of {words.users} by activity", "training events"),
        "popularity": ("tenths of held-out events by popularity of the item", "training users"),
    }
    for by, (groups, unit) in kinds.items():
        of_kind = [gain for gain in users.gains if gain.by == by]
        if not of_kind:
            continue
        groups = groups.replace("tenths", f"{len(of_kind)} groups" if len(of_kind) != TENTHS else f"{TENTHS} tenths")
        won, lost = sum(gain.shown > 0 for gain in of_kind), sum(gain.shown < 0 for gain in of_kind)
        name = of_kind[0].algorithm
        text = f"Of {groups}, {name} gains in {won or 'none'} and loses in {lost or 'none'}"
        if won or lost:
            largest = max((gain for gain in of_kind if gain.shown), key=lambda gain: abs(gain.difference))
            text += (
                f", most {'clearly ' if won + lost > 1 else ''}with {span(largest)} {unit} ({largest.difference:+.3f})"
            )
        lines.append(f"{text}.")
    return lines


TENTHS = 10
"""Groups that there are where there are enough users."""


def generalises(users: DatasetUsers, words: Vocabulary = USUAL) -> str:
    """What intervals and tests over users speak of."""
    return (
        f"Intervals and tests are over {words.users}: they speak of further {words.users} of {users.dataset}, not of "
        f"other {words.datasets} or of a later time."
    )


def _several(result: UsersResult, words: Vocabulary) -> str:
    alone = [dataset for dataset in result.datasets if len(dataset.not_worse()) == 1]
    best = Counter(dataset.algorithms[0] for dataset in alone)
    text = (
        f"Tested over the {words.users} of each {words.dataset} (sign-flip test, Holm), on {len(alone)} of "
        f"{len(result.datasets)} "
    )
    text += f"{words.datasets} one {words.algorithm} is better than every other"
    if not best:
        return f"{text}."
    names = listing((f"{name} on {count}" for name, count in sorted(best.items(), key=lambda b: (-b[1], b[0]))), most=6)
    return f"{text}: {names}."


def together(result: UsersResult, words: Vocabulary) -> list[str]:
    """The two that lead over all datasets, where there are enough of them."""
    pair = next(iter(result.summary), None)
    if pair is None or pair.effects is None or pair.p_holm is None or pair.effects.datasets < FEWEST_DATASETS:
        return []
    effects = pair.effects
    shown = "is better than" if pair.significant else "is not shown to be better than"
    if pair.significant and effects.estimate < 0:
        shown = "is worse than"
    return [
        f"Over the {words.datasets} together (random effects), {pair.left} {shown} {pair.right}: mean difference in "
        f"{result.metric} {effects.estimate:+.4f} ({effects.low:+.4f} to {effects.high:+.4f}); on the {words.users} of "
        f"single {words.datasets} it is better on {pair.wins}, worse on {pair.losses} and not shown to be either on "
        f"{pair.ties} of them."
    ]
