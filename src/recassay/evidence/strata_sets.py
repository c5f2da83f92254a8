"""One dataset on its popularity strata: sets T_P drawn, lists judged on each, runs averaged user by user."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from recassay.core import columns as c
from recassay.core.choices import OtherItems
from recassay.core.errors import InputError, NotApplicableError, UsageError
from recassay.core.tables.scores import StrataScores
from recassay.core.types import FloatArray, Interactions, Split, TopK
from recassay.core.words import listing
from recassay.metrics.accuracy import AccuracyMetric
from recassay.metrics.context import EvaluationContext, membership
from recassay.metrics.evaluate import lists_of
from recassay.metrics.make import make_metric
from recassay.protocol.strata import PopularityStrata, default_thresholds, popularity, popularity_strata

LEAST_EVENTS = 30
"""A stratum of fewer events says nothing: its thresholds are refused, unless a smaller size is asked for."""

STEPS = 10
CURVE_POINTS = 200

Size: TypeAlias = int | Literal["all"] | None


@dataclass(frozen=True, slots=True)
class Sweep:
    """What was asked of a sweep; what is wrong with it is refused in one line."""

    metric: AccuracyMetric
    thresholds: Sequence[int] | None = None
    size: Size = None
    others: OtherItems = "keep"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.thresholds is not None and (len(set(self.thresholds)) < 2 or min(self.thresholds) < 1):
            raise UsageError(
                f"thresholds {listing(self.thresholds)} are not a sweep", fix="give at least two whole numbers from 1"
            )


def accuracy_metric(label: str) -> AccuracyMetric:
    """The metric that `label` names; `NotApplicableError` for one that has no popularity strata."""
    metric = make_metric(label)
    if not isinstance(metric, AccuracyMetric):
        raise NotApplicableError(
            f"{label} does not compare lists with held-out items place by place",
            fix="popularity strata need an accuracy metric with a cut-off, as in ndcg@20 or recall@10",
        )
    return metric


Lists: TypeAlias = Mapping[str, Callable[[], TopK]]
"""By algorithm, how to get its lists over the ids of the split."""


def score_dataset(name: str, runs: Sequence[tuple[Split, Lists]], sweep: Sweep) -> StrataScores | str:
    """The scores on the strata of one dataset; several runs (seeds, folds) of it are averaged user by user.

    All runs share thresholds and size, so that their strata mean the same. Answers with a reason where there are too
    few test events for a sweep.
    """
    splits = {id(split): (split.refit(), split.test) for split, _ in runs}
    parts = list(splits.values())
    # By default those of the first part: ten, or as many as leave each new stratum `LEAST_EVENTS` events.
    steps = max(1, min(STEPS, len(parts[0][1]) // LEAST_EVENTS))
    thresholds = default_thresholds(*parts[0], steps=steps) if sweep.thresholds is None else sweep.thresholds
    if len(thresholds) < 2:
        return f"{sum(len(test) for _, test in parts):,} test events are too few for two strata"
    drawn = _strata(name, parts, thresholds, sweep)
    strata_of = dict(zip(splits, drawn, strict=True))
    algorithms = tuple(runs[0][1])
    n_thresholds, n_users = len(drawn[0].strata), parts[0][0].n_users
    total, count, shortened = np.zeros((n_thresholds, len(algorithms), n_users)), np.zeros((n_thresholds, n_users)), 0
    whole = np.zeros(len(algorithms))
    for split, lists in runs:
        values, short, table = _scores(lists, strata_of[id(split)], *splits[id(split)], sweep)
        whole += table / len(runs)
        count += np.isfinite(values[:, 0])
        total += np.nan_to_num(values)
        shortened += short
    judged = count.any(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        scores = total[:, :, judged] / count[:, None, judged]
    return StrataScores(
        dataset=name,
        algorithms=algorithms,
        thresholds=tuple(stratum.threshold for stratum in drawn[0].strata),
        scores=scores,
        shares=_shares(drawn),
        curve=_curve(parts[0][0]),
        shortened=shortened,
        whole=whole,
    )


def _strata(
    name: str, parts: Sequence[tuple[Interactions, Interactions]], thresholds: Sequence[int], sweep: Sweep
) -> list[PopularityStrata]:
    """The strata of every part, of one size: the smallest pool of all where none was asked for."""
    draw = partial(popularity_strata, thresholds=thresholds, seed=sweep.seed)
    try:
        drawn = [draw(*part, size=sweep.size) for part in parts]
        if sweep.size is None and len(parts) > 1:
            smallest = min(strata.size or 0 for strata in drawn)
            drawn = [draw(*part, size=smallest) for part in parts]
    except InputError as error:
        raise InputError(error.what, where=name, fix=error.fix) from None
    few = {stratum.threshold: stratum.pool for strata in drawn for stratum in strata.strata
           if stratum.pool < LEAST_EVENTS}  # fmt: skip
    if few and not isinstance(sweep.size, int):
        shown = listing(f"{threshold} ({pool:,} events)" for threshold, pool in few.items())
        raise InputError(
            f"too few test events have an item of popularity below {shown}; {LEAST_EVENTS} are wanted",
            where=name,
            fix="leave these thresholds out, or say a smaller size",
        )
    return drawn


def _scores(
    lists: Lists, strata: PopularityStrata, train: Interactions, test: Interactions, sweep: Sweep
) -> tuple[FloatArray, int, FloatArray]:
    """Thresholds x algorithms x users, NaN where a user has no event in T_P; the lists that removal shortened; and the
    mean of each algorithm over the users of the whole test part."""
    values = np.full((len(strata.strata), len(lists), train.n_users), np.nan)
    shortened = 0
    context = EvaluationContext(train)
    truths = [stratum.sample.csr() for stratum in strata.strata]
    judged = [np.flatnonzero(np.diff(truth.indptr)).astype(np.int32) for truth in truths]
    held_out = test.csr()
    tested = np.flatnonzero(np.diff(held_out.indptr)).astype(np.int32)
    whole = np.empty(len(lists))
    for place, load in enumerate(lists.values()):
        top = load()
        whole[place] = np.nanmean(sweep.metric.per_user(lists_of(tested, top, train.n_users)[0], held_out, context))
        for row, (truth, users) in enumerate(zip(truths, judged, strict=True)):
            listed, _ = lists_of(users, top, train.n_users)
            if sweep.others == "remove":
                others = held_out - truth
                others.eliminate_zeros()
                listed, short = without_items(listed, others, sweep.metric.k or top.k)
                shortened += short
            values[row, place, users] = sweep.metric.per_user(listed, truth, context)
    return values, shortened, whole


def _shares(drawn: Sequence[PopularityStrata]) -> pl.DataFrame:
    """The row of every threshold, averaged over the parts."""
    frames = [strata.to_frame().rename({"sampled": "events"}) for strata in drawn]
    return pl.concat(frames).group_by("threshold", maintain_order=True).agg(pl.all().mean())


def _curve(train: Interactions) -> pl.DataFrame:
    """The popularity of the trained items in descending order, at `CURVE_POINTS` ranks evenly spaced by logarithm."""
    count = np.sort(popularity(train))[::-1]
    count = count[count > 0]
    rank = np.unique(np.geomspace(1, len(count), CURVE_POINTS).round().astype(np.int64))
    return pl.DataFrame({c.RANK: rank, "popularity": count[rank - 1]})


def without_items(top: TopK, banned: csr_array, k: int) -> tuple[TopK, int]:
    """The first k of every list without the items stored in its user's row of `banned`, and how many fell short.

    An item that the data does not know (-1) keeps its place. A list falls short where it was full before, has fewer
    than k items left, and so might have gone on: its values at cut-offs up to k are a lower bound. Lists that were not
    full named all their candidates, and stay exact.
    """
    gone = membership(banned, top.users, top.items)
    order = np.argsort(gone, axis=1, kind="stable")[:, :k]
    items = np.take_along_axis(np.where(gone, -1, top.items), order, axis=1)
    scores = np.take_along_axis(np.where(gone, -np.inf, top.scores).astype(np.float32), order, axis=1)
    short = (top.items[:, -1] >= 0) & (np.count_nonzero(~gone, axis=1) < k)
    return TopK(top.users, items.astype(np.int32), scores), int(np.count_nonzero(short))
