"""Rules and nearest histories: by hand, and against their definitions in plain loops."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from recassay.algorithms.sequential.rules import AssociationRules, LastItems, MarkovChain, SequentialRules
from recassay.algorithms.sequential.session_knn import DAY, STAN, VSKNN
from recassay.core.histories import FoldsIn, Histories
from recassay.core.seeds import derived_rng
from recassay.core.types import Interactions
from support.made import histories

SEQUENTIAL = (LastItems, MarkovChain, SequentialRules, AssociationRules, VSKNN, STAN)
Scores = dict[int, float]


def log(sequences: list[list[int]], *, n_items: int, times: list[int] | None = None) -> Interactions:
    """One user per sequence; `times` has the time of each sequence's last event, whole seconds before it the others."""
    user = np.repeat(np.arange(len(sequences)), [len(s) for s in sequences])
    time = None
    if times is not None:
        time = np.concatenate([np.arange(len(s)) - len(s) + 1 + t for s, t in zip(sequences, times, strict=True)])
    return Interactions(
        user=user.astype(np.int32),
        item=np.array([item for sequence in sequences for item in sequence], dtype=np.int32),
        users=pl.Series(range(len(sequences))),
        items=pl.Series(range(n_items)),
        time=None if time is None else time.astype(np.int64),
    )


def scores_after(algorithm: Any, train: Interactions, sequence: list[int]) -> Scores:
    """By item, the scores above 0 after one history."""
    model = algorithm.fit(train, rng=derived_rng(0, "sequential"))
    top = model.recommend_from(histories([sequence]), train.n_items, exclude=None)
    return {int(i): float(s) for i, s in zip(top.items[0], top.scores[0], strict=True) if s > 0}


TRAIN = log([[0, 1, 2], [0, 2, 1, 3], [4, 0, 1]], n_items=6)


def test_last_items_are_the_newest_first_then_the_most_popular():
    model = LastItems().fit(TRAIN, rng=derived_rng(0, "last"))
    asked = histories([[2, 3, 2, 5], []])
    first, empty = model.recommend_from(asked, 6, exclude=None).items
    assert first[:3].tolist() == [2, 5, 3] or first[:3].tolist() == [5, 2, 3]
    assert first[3:5].tolist() in ([0, 1], [1, 0])
    assert sorted(empty[:2].tolist()) == [0, 1]
    assert empty[2] == 2
    barred = csr_array((np.ones(3), [2, 3, 5], [0, 3, 3]), shape=(2, 6))
    assert sorted(model.recommend_from(asked, 2, exclude=barred).items[0].tolist()) == [0, 1]


def test_newest_events_count_more_than_old_ones_in_last_items():
    scores = scores_after(LastItems(), TRAIN, [3, 4, 5])
    assert scores == pytest.approx({5: 1.0, 4: 1 / 2, 3: 1 / 3})


def test_markov_chain_by_hand():
    assert scores_after(MarkovChain(), TRAIN, [3, 0]) == {1: 2.0, 2: 1.0}
    assert scores_after(MarkovChain(), TRAIN, [0, 3]) == {}


def test_sequential_rules_by_hand():
    published = SequentialRules(last=1, confidence=0.0)
    assert scores_after(published, TRAIN, [0]) == pytest.approx({1: 1 + 1 / 2 + 1, 2: 1 / 2 + 1, 3: 1 / 3})
    two = SequentialRules(last=2, decay=1.0, confidence=1.0, steps=2, weighting="1/distance^2")
    from_zero, from_two = {1: (1 + 1 / 4 + 1) / 3, 2: (1 / 4 + 1) / 3}, {1: 1 / 2, 3: 1 / 4 / 2}
    expected = {i: from_two.get(i, 0) + from_zero.get(i, 0) / 2 for i in (1, 2, 3)}
    assert scores_after(two, TRAIN, [4, 0, 2]) == pytest.approx(expected)


def test_association_rules_by_hand():
    assert scores_after(AssociationRules(), TRAIN, [3, 0]) == {1: 3.0, 2: 2.0, 3: 1.0, 4: 1.0}


def test_vsknn_by_hand():
    # Of [0, 3] the 3 weighs 1 and the 0 weighs 1/2: the second history has both, the others the 0 alone.
    plain = scores_after(VSKNN(score_position=0), TRAIN, [0, 3])
    assert plain == pytest.approx({0: 2.5, 1: 2.5, 2: 2.0, 3: 1.5, 4: 0.5})
    weighed = scores_after(VSKNN(score_position=1), TRAIN, [0, 3])
    assert weighed == pytest.approx({0: 2.0, 1: 2.0, 2: 1.75, 3: 1.5, 4: 0.25})
    nearest = scores_after(VSKNN(k=1), TRAIN, [0, 3])
    assert nearest == pytest.approx(dict.fromkeys((0, 2, 1, 3), 1.5))


def test_a_history_that_shares_old_items_alone_is_one_candidate():
    # Items 0 to 79 are so far from the end that they weigh nothing; the most recent history has three of them.
    asked = [*range(80), *range(90, 140)]
    train = log([[139, 140], [0, 1, 2, 141]], n_items=142)
    for algorithm in (STAN(decay=0.4525, last=200, sample=2), VSKNN(position=50, last=200, sample=2)):
        assert scores_after(algorithm, train, asked)[140] > 0
    # More shared items than there are histories: room for each history once.
    model = STAN(decay=0.4525, last=200).fit(log([list(range(80))], n_items=142), rng=derived_rng(0, "old"))
    assert model.recommend_from(histories([asked]), 3, exclude=None).items.shape == (1, 3)


def test_whole_numbers_are_weights_too():
    rules = SequentialRules(last=2, decay=2, confidence=1)
    assert scores_after(rules, TRAIN, [0, 2])[1] == pytest.approx(1 / 2 + 5 / 2 / 3 / 4)
    assert scores_after(AssociationRules(last=2, decay=1), TRAIN, [0, 2])[1] == pytest.approx(2 + 3 / 2)


def test_stan_by_hand():
    train = log([[0, 1, 2], [3, 0]], n_items=4, times=[DAY, 3 * DAY])
    scores = scores_after(STAN(decay=2.0, days=4.0, nearby=1.0), train, [1, 0])
    older = (1 + math.exp(-1 / 2)) / math.sqrt(2 * 3) * math.exp(-2 / 4)
    newer = 1 / math.sqrt(2 * 2)
    e = math.exp(-1)
    expected = {0: older + newer, 1: older * e, 2: older * e**2, 3: newer * e}
    assert scores == pytest.approx(expected, rel=1e-5)


def random_log(seed: int) -> tuple[list[list[int]], list[int]]:
    rng = derived_rng(seed, "random log")
    popular = 1 / np.arange(1, 31)
    sequences = [rng.choice(30, rng.integers(1, 12), p=popular / popular.sum()).tolist() for _ in range(60)]
    return sequences, (rng.permutation(60) * DAY).tolist()


def slow_rules(sequences: list[list[int]], weight: Any, *, both: bool, steps: int) -> dict[int, Scores]:
    rules: dict[int, Scores] = defaultdict(lambda: defaultdict(float))
    for sequence in sequences:
        for later in range(len(sequence)):
            for earlier in range(max(0, later - steps), later):
                rules[sequence[earlier]][sequence[later]] += weight(later - earlier)
                if both:
                    rules[sequence[later]][sequence[earlier]] += weight(later - earlier)
    return rules


@pytest.mark.parametrize(
    ("algorithm", "weight", "both", "steps"),
    [
        (SequentialRules(last=1, confidence=0.0), lambda d: 1 / d, False, 10),
        (AssociationRules(), lambda d: 1.0, True, 99),
        (MarkovChain(), lambda d: 1.0, False, 1),
    ],
)
def test_rules_are_those_of_plain_loops(algorithm, weight, both, steps):
    sequences, _ = random_log(3)
    rules = slow_rules(sequences, weight, both=both, steps=steps)
    for asked in ([5], [2, 0], [29], [1, 1, 7]):
        expected = dict(rules[asked[-1]])
        assert scores_after(algorithm, log(sequences, n_items=30), asked) == pytest.approx(expected, rel=1e-5)


def slow_vsknn(sequences: list[list[int]], times: list[int], asked: list[int], *, k: int, sample: int) -> Scores:
    weight = {item: (place + 1) / len(asked) for place, item in enumerate(asked)}
    candidates = [h for h in range(len(sequences)) if weight.keys() & set(sequences[h])]
    candidates = sorted(candidates, key=lambda h: -times[h])[:sample]
    alike = {h: sum(weight[item] for item in weight.keys() & set(sequences[h])) for h in candidates}
    scores: Scores = defaultdict(float)
    for h in sorted(candidates, key=lambda h: (-alike[h], -times[h]))[:k]:
        newest = next(r for r, item in enumerate(reversed(asked), 1) if item in sequences[h])
        for item in set(sequences[h]):
            scores[item] += alike[h] / newest
    return dict(scores)


def test_vsknn_is_that_of_plain_loops():
    sequences, times = random_log(4)
    train = log(sequences, n_items=30, times=times)
    for asked in ([5], [2, 0], [29, 3, 8, 1], [1, 9, 1, 7], [0, 1, 2, 3, 4, 5]):
        for k, sample in ((7, 25), (3, 9), (200, 500)):
            expected = slow_vsknn(sequences, times, asked, k=k, sample=sample)
            found = scores_after(VSKNN(k=k, sample=sample), train, asked)
            assert found == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("kind", SEQUENTIAL)
def test_a_known_user_is_asked_with_the_history_of_training(kind):
    sequences, times = random_log(5)
    train = log([*sequences, []], n_items=31, times=[*times, 0])
    model = kind().fit(train, rng=derived_rng(1, "fit"))
    assert isinstance(model, FoldsIn)
    users = np.array([60, 3, 17, 3], dtype=np.int32)
    exclude = train.csr()
    by_user = model.recommend(users, 8, exclude=exclude)
    by_history = model.recommend_from(Histories.of(train, users), 8, exclude=exclude[users])
    assert np.array_equal(by_user.items, by_history.items)
    assert np.array_equal(by_user.scores, by_history.scores)
    assert by_history.users.tolist() == [0, 1, 2, 3]
    # Without a history the most popular items are left, here those that most events have.
    events = np.bincount(train.item, minlength=31)
    assert events[by_user.items[0]].tolist() == sorted(events, reverse=True)[:8]


@pytest.mark.parametrize("kind", [SequentialRules, MarkovChain, STAN])
def test_order_matters(kind):
    sequences, times = random_log(6)
    train = log(sequences, n_items=30, times=times)
    model = kind().fit(train, rng=derived_rng(1, "fit"))
    there, back = (model.recommend_from(histories([asked]), 5, exclude=None) for asked in ([0, 4, 2], [2, 4, 0]))
    assert not np.array_equal(there.items, back.items)


def test_only_the_newest_items_count():
    sequences, _ = random_log(7)
    train = log(sequences, n_items=30)
    for algorithm in (SequentialRules(last=3), VSKNN(last=3), STAN(last=3), LastItems(last=3)):
        long, short = (scores_after(algorithm, train, asked) for asked in ([9, 8, 7, 1, 2, 3], [1, 2, 3]))
        assert long == short
