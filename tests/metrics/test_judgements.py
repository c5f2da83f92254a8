"""Lists after histories: each metric by judgement in plain loops, averaged over a user's judgements."""

from __future__ import annotations

import numpy as np
import pytest

from recassay.algorithms.linear import EASE
from recassay.algorithms.neighbours import UserKNN
from recassay.core.errors import InputError, NotApplicableError
from recassay.core.histories import Histories
from recassay.core.judgements import Judgements
from recassay.metrics.evaluate import evaluate
from recassay.metrics.judgements import folding, judge
from recassay.metrics.make import as_metrics
from recassay.testing.answers import fitted
from recassay.testing.examples import learnable_tastes

TRAIN, TEST = learnable_tastes(users_per_group=8, items_per_group=8, held_out=3)
LABELS = ("ndcg@5", "hitrate@5", "mrr@5", "auc", "novelty@5", "coverage@5", "serendipity@5", "calibration@5")


ALIKE = ("ndcg@5", "coverage@5", "serendipity@5", "calibration@5", "poprsp@5", "popreo@5", "user_coverage@5")


def judgements(task="new"):
    """Of every third user each test event, after training and the test events before it."""
    users = np.arange(0, TRAIN.n_users, 3, dtype=np.int32)
    before, after = Histories.of(TRAIN, users), Histories.of(TEST, users)
    items, starts, row, place = [], [0], [], []
    for user in range(len(users)):
        own = before.items[before.starts[user] : before.starts[user + 1]]
        held = after.items[after.starts[user] : after.starts[user + 1]]
        row += [user] * len(held)
        place += [starts[-1] + len(own) + number for number in range(len(held))]
        items += [*own, *held]
        starts.append(len(items))
    sequences = Histories(np.array(items, dtype=np.int32), np.array(starts))
    return Judgements(sequences, users, np.array(row), np.array(place), task)


@pytest.mark.parametrize("task", ["new", "repeat"])
def test_a_user_is_worth_the_mean_of_its_judgements(task):
    asked, model = judgements(task), folding(fitted(EASE(), TRAIN), "EASE")
    result, last = judge(model, asked, as_metrics(LABELS), train=TRAIN, depth=10)
    values = {}
    for number in range(len(asked)):
        history = asked.histories(slice(number, number + 1))
        target = asked.targets[number]
        exclude = history.csr(TRAIN.n_items) if task == "new" else None
        whole = model.recommend_from(history, TRAIN.n_items, exclude=exclude).items[0]
        whole = whole[whole >= 0]
        place = int(np.flatnonzero(whole == target)[0])
        user = int(asked.users[asked.row[number]])
        hit = place < 5
        auc = (len(whole) - 1 - place) / (len(whole) - 1)  # of new items: the history is not in the list
        values.setdefault(user, []).append((hit / np.log2(place + 2), float(hit), hit / (place + 1), auc))
    table = result.per_user
    assert table.get_column("user").to_list() == [TRAIN.users[user] for user in values]
    for column, label in enumerate(("ndcg@5", "hitrate@5", "mrr@5")):
        wanted = [np.mean([row[column] for row in rows]) for rows in values.values()]
        np.testing.assert_allclose(table.get_column(label).to_numpy(), wanted, rtol=1e-6)
    if task == "new":
        wanted = [np.mean([row[3] for row in rows]) for rows in values.values()]
        np.testing.assert_allclose(table.get_column("auc").to_numpy(), wanted, rtol=1e-6)
    assert result.counts["judgements"] == len(asked)
    assert result.counts["evaluated"] == len(values)
    assert last.users.tolist() == list(values)
    longest = asked.histories(slice(2, 3))
    after = model.recommend_from(longest, 10, exclude=longest.csr(TRAIN.n_items) if task == "new" else None)
    assert last.items[0].tolist() == after.items[0].tolist(), "the list after the longest history is kept"


def test_batches_change_nothing_and_one_judgement_per_user_is_the_evaluation_of_sets():
    asked, model = judgements(), folding(fitted(EASE(), TRAIN), "EASE")
    whole, _ = judge(model, asked, as_metrics(LABELS), train=TRAIN, depth=5)
    parts, _ = judge(model, asked, as_metrics(LABELS), train=TRAIN, depth=5, memory_budget=6 * 4 * 32 * 7)
    assert whole.per_user.equals(parts.per_user)
    first = np.flatnonzero(np.diff(asked.row, prepend=-1))
    one = Judgements(asked.sequences, asked.users, asked.row[first], asked.place[first], "new")
    judged, top = judge(model, one, as_metrics(ALIKE), train=TRAIN, depth=5)
    truth = TEST.take(np.zeros(len(TEST), dtype=bool)).csr().tolil()
    for user, target in zip(one.users, one.targets, strict=True):
        truth[user, target] = 1
    sets = evaluate(top, truth.tocsr(), ALIKE, train=TRAIN)
    assert judged.mean() == pytest.approx(sets.mean())


def test_what_cannot_be_judged_is_refused_by_name():
    with pytest.raises(NotApplicableError, match=r"UserKNN cannot be asked with a history.*without recommend_from"):
        folding(fitted(UserKNN(), TRAIN), "UserKNN")
    asked = judgements()
    nobody = Judgements(asked.sequences, asked.users, asked.row[:0], asked.place[:0], "new")
    with pytest.raises(InputError, match="no event can be judged after a history"):
        judge(folding(fitted(EASE(), TRAIN), "EASE"), nobody, as_metrics(["ndcg@5"]), train=TRAIN, depth=5)
