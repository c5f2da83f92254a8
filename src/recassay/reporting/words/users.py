"""Paired tests over the users of each dataset."""

from __future__ import annotations

from collections import Counter

from recassay.analysis.users.result import DatasetUsers, UsersResult
from recassay.core.choices import FEWEST_DATASETS
from recassay.core.vocabulary import USUAL, Vocabulary
from recassay.core.words import listing


def sentences(result: UsersResult, words: Vocabulary = USUAL) -> list[str]:
    """Who leads on the users of each dataset, whether that is shown, and what the datasets add up to."""
    if len(result.datasets) == 1:
        return [_headline(result.datasets[0], words), _on_dataset(result.datasets[0], result, words)]
    return [_several(result, words), *_together(result, words)]


def _headline(users: DatasetUsers, words: Vocabulary) -> str:
    first, *others = users.not_worse()
    if others:
        possible = users.could_be_best()
        could = f"{len(possible)} of {len(users.algorithms)} could be best"
        if len(possible) == 1:
            could = f"only {first} could be best, but no difference from {listing(others, most=2)} is shown"
        return f"No clear winner on the {words.users} of {users.dataset}: {could}."
    return f"{first} significantly beats all others on the {words.users} of {users.dataset}."


def _on_dataset(users: DatasetUsers, result: UsersResult, words: Vocabulary) -> str:
    first, second = users.algorithms[:2]
    pair = next(p for p in users.pairs if (p.left, p.right) == (first, second))
    others = users.not_worse()[1:]
    lead = (
        f"On the {users.users:,} {words.users} of {users.dataset}, {first} has the best {result.metric} "
        f"({users.means[0]:.4f}, {100 * result.confidence:g} % interval {users.low[0]:.4f} to {users.high[0]:.4f})"
    )
    if others:
        return (
            f"{lead}; no difference from {listing(others, most=6)} is shown (sign-flip test over {words.users}, Holm)."
        )
    return (
        f"{lead}; it is better than every other {words.algorithm}, {second} first (by {pair.difference:.4f}, "
        f"{pair.low:.4f} to {pair.high:.4f}; sign-flip test over {words.users}, Holm). This says nothing of other "
        f"{words.datasets}."
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


def _together(result: UsersResult, words: Vocabulary) -> list[str]:
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
