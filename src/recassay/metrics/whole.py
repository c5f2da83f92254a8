"""Metrics that read the order of the whole catalogue: judged batch by batch, since whole lists are large."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from recassay.core.ranking import batches
from recassay.core.types import FloatArray, IdArray, Recommender
from recassay.metrics.context import EvaluationContext
from recassay.metrics.protocol import UserMetric
from recassay.metrics.recommend import MEMORY_BUDGET, recommend_all

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
