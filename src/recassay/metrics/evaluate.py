"""Lists against truth: one row per user, and the catalogue's numbers beside it.

Metrics that read the order of the whole catalogue are judged batch by batch, since whole lists are large.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from recassay.core import columns as c
from recassay.core.errors import InputError, UsageError
from recassay.core.ranking import batches
from recassay.core.tables.groups import WeightFacts
from recassay.core.types import FloatArray, IdArray, Interactions, Recommender, TopK
from recassay.metrics.accuracy import WeightableMetric
from recassay.metrics.context import EvaluationContext, as_matrix
from recassay.metrics.make import as_metrics, convention
from recassay.metrics.protocol import Metric, UserMetric, has_catalogue_value, has_user_values
from recassay.metrics.recommend import MEMORY_BUDGET, recommend_all
from recassay.metrics.weighted import PropensityTable, weight_facts


@dataclass(frozen=True, slots=True, eq=False)
class EvaluationResult:
    """What was measured.

    `per_user` has the column `user` (the ids of the user's own file) and one column per per-user metric, null
    where it is undefined. `catalogue` holds the metrics of all lists together. `counts`: `evaluated` users
    have a relevant item; of these `without_list` had no list and were judged on an empty one;
    `without_relevant` had a list but no relevant item, and their lists were left out; `users` is the size of
    the user table. `conventions` says by label what exactly was computed, `weights` of each weighted metric how far
    its weights may be trusted.
    """

    per_user: pl.DataFrame
    catalogue: dict[str, float]
    counts: dict[str, int]
    conventions: dict[str, dict[str, Any]]
    weights: dict[str, WeightFacts] = field(default_factory=dict)

    def mean(self) -> dict[str, float]:
        """Every metric's one number: per-user values averaged over the users where defined, NaN where
        nowhere.
        """
        means = self.per_user.drop(c.USER).mean().row(0, named=True)
        values = {**means, **self.catalogue}
        return {label: float("nan") if values[label] is None else float(values[label]) for label in self.conventions}

    def undefined(self) -> dict[str, int]:
        """For each per-user metric, the evaluated users that have no value and are not in its mean."""
        return dict(self.per_user.drop(c.USER).null_count().row(0, named=True))

    def to_frame(self) -> pl.DataFrame:
        """One row per metric: its label and its mean (or catalogue) value."""
        means = self.mean()
        return pl.DataFrame(
            {c.METRIC: list(means), c.VALUE: list(means.values())},
            schema={c.METRIC: pl.String, c.VALUE: pl.Float64},
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; a value that is nowhere defined is None."""
        return {
            "metrics": {label: None if np.isnan(value) else value for label, value in self.mean().items()},
            "undefined": self.undefined(),
            "counts": dict(self.counts),
            "conventions": {label: dict(stated) for label, stated in self.conventions.items()},
            **({"weights": {k: asdict(w) | {"wild": w.wild} for k, w in self.weights.items()}} if self.weights else {}),
        }


def evaluate(
    top: TopK,
    truth: csr_array | Interactions,
    metrics: Iterable[str | Metric],
    *,
    train: csr_array | Interactions,
    propensity: PropensityTable | None = None,
) -> EvaluationResult:
    """Judge `top` by every one of `metrics` (labels such as `ndcg@10`, or metric objects).

    The lists are sound: `recommend_all` and `recommendations_to_topk` see to it that each user has one list, of
    different items of the catalogue.

    The users with at least one stored entry in `truth` are evaluated, all of them: one without a list in
    `top` counts as having an empty list (0 for the accuracy metrics, undefined for those that describe a
    list). Catalogue metrics see the lists of the evaluated users too, so that all numbers are about the same
    people. Weighted metrics take their propensities from `propensity`, or from the popularity of items in `train`.
    """
    wanted = as_metrics(metrics)
    relevant = as_matrix(truth)
    trained = (train.n_users, train.n_items) if isinstance(train, Interactions) else train.shape
    if relevant.shape != trained:
        raise UsageError(
            f"truth is {relevant.shape} and train is {trained} (users x items)",
            fix="build both over the same user and item tables",
        )
    deepest = max(wanted, key=lambda metric: metric.k or 0)
    if deepest.k is not None and deepest.k > top.k:
        raise UsageError(
            f"{deepest.label} needs lists of {deepest.k} items and these have {top.k}",
            fix=f"make longer lists, or ask for {deepest.name}@{top.k}",
        )
    depth = top.k if any(metric.k is None for metric in wanted) else deepest.k or 0
    evaluated = np.flatnonzero(np.diff(relevant.indptr)).astype(np.int32)
    if not len(evaluated):
        raise InputError("no user has a relevant item", fix="check the test part and the threshold of relevance")
    lists, without_list = lists_of(evaluated, top.cut(depth), relevant.shape[0])
    context = EvaluationContext(train, propensity)
    users = next((part.users for part in (truth, train) if isinstance(part, Interactions)), None)
    ids = pl.Series(c.USER, evaluated) if users is None else users.gather(evaluated).alias(c.USER)
    values = {metric.label: metric.per_user(lists, relevant, context) for metric in wanted if has_user_values(metric)}
    weights: dict[str, WeightFacts] = {}
    for metric in wanted:
        if isinstance(metric, WeightableMetric) and metric.weighting is not None:
            event_weights = context.weights(relevant, metric.weighting).data
            refuse_unknown_chances(event_weights, relevant, users)
            weights[metric.label] = weight_facts(event_weights, values[metric.label])
    return EvaluationResult(
        per_user=pl.DataFrame([ids, *(pl.Series(label, value) for label, value in values.items())]).with_columns(
            pl.col(*values).fill_nan(None) if values else []
        ),
        catalogue={
            metric.label: metric.catalogue(lists, relevant, context) for metric in wanted if has_catalogue_value(metric)
        },
        counts={
            "users": int(relevant.shape[0]),
            "evaluated": len(evaluated),
            "without_list": without_list,
            "without_relevant": len(top.users) - (len(evaluated) - without_list),
        },
        conventions={metric.label: convention(metric) for metric in wanted},
        weights=weights,
    )


def refuse_unknown_chances(weights: FloatArray, truth: csr_array, users: pl.Series | None) -> None:
    """Raise where test events have no propensity, and so no weight."""
    unknown = np.flatnonzero(np.isnan(weights))
    if len(unknown):
        row = int(np.searchsorted(truth.indptr, unknown[0], side="right")) - 1
        raise InputError(
            f"{len(unknown):,} of {len(weights):,} test events have no propensity, the first of user "
            f"{row if users is None else users[row]}",
            where="propensity",
            fix="give one above 0 for every item or pair of the test part",
        )


def lists_of(users: np.ndarray[Any, np.dtype[np.int32]], top: TopK, n_users: int) -> tuple[TopK, int]:
    """The lists of `users` in their order, empty where there is none, and how many those are."""
    if np.array_equal(users, top.users):
        return top, 0
    row_of = np.full(n_users, -1, dtype=np.int64)
    row_of[top.users] = np.arange(len(top.users))
    row = row_of[users]
    absent = row < 0
    lists = TopK.empty(users, top.k)
    lists.items[~absent], lists.scores[~absent] = top.items[row[~absent]], top.scores[row[~absent]]
    return lists, int(absent.sum())


BYTES_A_PLACE = 6
"""A whole list takes about this many times the float32 score of each of its places: ids, scores, hits and masks."""


def whole_ranking_values(
    recommender: Recommender,
    users: IdArray,
    truth: csr_array,
    metrics: Sequence[UserMetric],
    *,
    train: csr_array,
    exclude: csr_array | None,
    memory_budget: int = MEMORY_BUDGET,
) -> dict[str, FloatArray]:
    """For each metric, one value for each of `users`, from lists of the whole catalogue less `exclude`."""
    context, n_items = EvaluationContext(train), int(train.shape[1])
    values: dict[str, list[FloatArray]] = {metric.label: [] for metric in metrics}
    for part in batches(len(users), n_items, memory_budget // BYTES_A_PLACE):
        top = recommend_all(
            recommender, users[part], n_items, exclude=exclude, n_items=n_items, memory_budget=memory_budget
        )
        for metric in metrics:
            values[metric.label].append(metric.per_user(top, truth, context))
    return {label: np.concatenate(parts) if parts else np.empty(0) for label, parts in values.items()}
