"""Lists after histories, judged one by one: one relevant item per judgement, and the mean over a user's judgements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import csc_array, csr_array

from recassay.core import columns as c
from recassay.core.errors import InputError, NotApplicableError
from recassay.core.histories import FoldsIn
from recassay.core.judgements import Judgements
from recassay.core.ranking import batches
from recassay.core.types import FloatArray, IdArray, IntArray, Interactions, TopK, read_only_matrix
from recassay.metrics.context import EvaluationContext
from recassay.metrics.evaluate import BYTES_A_PLACE, EvaluationResult
from recassay.metrics.make import convention
from recassay.metrics.protocol import Metric, has_catalogue_value, has_user_values
from recassay.metrics.recommend import MEMORY_BUDGET, check_answer


@dataclass(eq=False)
class HistoryContext(EvaluationContext):
    """The rows are histories; what is counted over training is counted over `known`.

    `having` has for every item the number of histories with it, where the context stands for all of them.
    """

    known: EvaluationContext = field(kw_only=True)
    having: IntArray | None = field(default=None, kw_only=True)

    def owners(self, users: IdArray) -> IntArray:
        """For every item, how many of these histories have it."""
        return super().owners(users) if self.having is None else self.having

    @cached_property
    def popularity(self) -> IntArray:
        """For every item, the number of training users who have it."""
        return self.known.popularity

    @cached_property
    def n_train_users(self) -> int:
        """The number of users with at least one training interaction."""
        return self.known.n_train_users

    @cached_property
    def columns(self) -> csc_array:
        """The training data by item."""
        return self.known.columns

    @cached_property
    def by_popularity(self) -> IntArray:
        """Items from the most to the least popular in training."""
        return self.known.by_popularity


NO_HISTORIES = (
    "cannot be asked with a history (its model knows users of training alone, without recommend_from), and the "
    "protocol's target is judged after histories"
)


def folding(recommender: Any, name: str) -> FoldsIn:
    """The recommender, where it may be asked with histories; else `NotApplicableError` by name."""
    if isinstance(recommender, FoldsIn):
        return recommender
    raise no_histories(name)


def no_histories(name: str) -> NotApplicableError:
    """The error of an algorithm that knows users of training alone, where targets come after histories."""
    return NotApplicableError(f"{name} {NO_HISTORIES}", fix="leave it out, or use target = 'all'")


def judge(
    recommender: FoldsIn,
    asked: Judgements,
    metrics: Sequence[Metric],
    *,
    train: Interactions,
    depth: int,
    memory_budget: int = MEMORY_BUDGET,
) -> tuple[EvaluationResult, TopK]:
    """What the lists of length `depth` after all histories are worth, and of each user the list after the longest.

    A metric that reads the whole order gets lists of the whole catalogue. The value of a user is the mean over the
    user's judgements where the metric is defined; `counts` has the number of `judgements`.
    """
    if not len(asked):
        raise InputError("no event can be judged after a history", fix="use another split, a weaker filter or target")
    n_items, known, targets = train.n_items, EvaluationContext(train), asked.targets
    ones = np.ones(len(asked), dtype=np.float32)
    truth = csr_array((ones, targets, np.arange(len(asked) + 1)), shape=(len(asked), n_items))
    whole = [m for m in metrics if has_user_values(m) and getattr(m, "whole_ranking", False) and m.k is None]
    others = [metric for metric in metrics if metric not in whole]
    runs: list[tuple[int, Sequence[Metric]]] = [(depth, others), *([(n_items, whole)] if whole else [])]
    values: dict[str, list[FloatArray]] = {metric.label: [] for metric in metrics if has_user_values(metric)}
    lists, having = TopK.empty(np.arange(len(asked), dtype=np.int32), depth), np.zeros(n_items, dtype=np.int64)
    for part in batches(len(asked), n_items, memory_budget // (BYTES_A_PLACE if whole else 1)):
        histories = asked.histories(part)
        rows = histories.csr(n_items)
        having += np.bincount(rows.indices, minlength=n_items)
        barred = read_only_matrix(rows) if asked.task == "new" else None
        context, of_part = HistoryContext(rows, known=known), truth[part]

        for k, measured in runs:
            top = recommender.recommend_from(histories, k, exclude=barred)
            users = np.arange(len(histories), dtype=np.int32)
            check_answer(top, users, k, n_items=n_items, exclude=barred, where=type(recommender).__name__)
            if measured is others:
                lists.items[part], lists.scores[part] = top.items, top.scores
            for metric in measured:
                if has_user_values(metric):
                    values[metric.label].append(metric.per_user(top, of_part, context))
    users = asked.judged()
    owner = np.searchsorted(users, asked.users[asked.row])
    per_user = {label: _mean_by(owner, np.concatenate(parts), len(users)) for label, parts in values.items()}
    none = csr_array((ones[:0], targets[:0], np.zeros(len(asked) + 1, dtype=np.int64)), shape=truth.shape)
    every = HistoryContext(none, known=known, having=having)
    ids = train.users.gather(users).alias(c.USER)
    result = EvaluationResult(
        per_user=pl.DataFrame([ids, *(pl.Series(label, value) for label, value in per_user.items())]).with_columns(
            pl.col(*per_user).fill_nan(None) if per_user else []
        ),
        catalogue={m.label: m.catalogue(lists, truth, every) for m in metrics if has_catalogue_value(m)},
        counts={
            "users": train.n_users,
            "evaluated": len(users),
            "judgements": len(asked),
            "without_list": int(np.count_nonzero((lists.items < 0).all(axis=1))),
            "without_relevant": 0,
        },
        conventions={metric.label: convention(metric) for metric in metrics},
    )
    last = np.append(np.flatnonzero(np.diff(asked.row)), len(asked) - 1)
    return result, TopK(users, lists.items[last], lists.scores[last])


def _mean_by(owner: IntArray, values: FloatArray, size: int) -> FloatArray:
    """The mean of the values of each owner where they are numbers, NaN where none is."""
    defined = ~np.isnan(values)
    total = np.bincount(owner[defined], weights=values[defined], minlength=size)
    number = np.bincount(owner[defined], minlength=size)
    return np.divide(total, number, out=np.full(size, np.nan), where=number > 0)
