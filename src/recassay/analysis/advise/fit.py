"""Advice for a new dataset from a finished benchmark: its nearest datasets, and the order of algorithms to expect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl

from recassay.analysis.advise.order_model import (
    OrderModel,
    best_candidate,
    bounded,
    distances,
    left_out,
    nearest,
    nested_predictions,
    predict,
)
from recassay.analysis.advise.result import AdviseResult, Cost, Neighbour, Outside, Skill
from recassay.analysis.aggregation.contest import Contest
from recassay.analysis.dataset_space.space import Standardisation
from recassay.analysis.inference.agreement import spearman
from recassay.analysis.inference.bootstrap import dataset_weights, intervals
from recassay.analysis.inference.distributions import t_quantile
from recassay.analysis.rank.fit import rank_algorithms
from recassay.core import columns as c
from recassay.core import ties
from recassay.core.errors import InputError, NotApplicableError
from recassay.core.seeds import derived_rng
from recassay.core.tables.characteristics import CharacteristicsTable
from recassay.core.tables.matrix import Matrix
from recassay.core.tables.results import Results
from recassay.core.types import FloatArray
from recassay.core.words import listing

FEWEST = 8
CONFIDENCE = 0.9
FARTHEST = 10.0
"""Standard deviations beyond which a characteristic is as far as can be (the logarithm of 0 is)."""


def advise_for(
    name: str,
    characteristics: Mapping[str, float],
    matrix: Matrix,
    table: CharacteristicsTable,
    *,
    k: int = 5,
    notes: tuple[str, ...] = (),
    results: Results | None = None,
    evidence: str = "",
    confidence: float = CONFIDENCE,
    replicates: int = 10_000,
    seed: int = 0,
) -> AdviseResult:
    """What a benchmark says about a dataset that it does not hold.

    Characteristics are logged where they are positive and skewed (above 1), then standardised over the benchmark; the
    distance of two datasets is the root mean squared difference over characteristics. The k nearest datasets give a
    ranking by mean rank with a bootstrap over them. A model (the mean over nearest datasets, or ridge; see
    `order_model`) predicts the ranks; which one is chosen by leaving each dataset out, and its worth is measured by
    leaving each dataset out of the whole procedure, beside the overall mean rank as the baseline. The interval of a
    predicted rank is its prediction -/+ the quantile ceil((n + 1) confidence) of the n absolute errors so made on that
    algorithm (as split conformal prediction; from 1 to the number of algorithms where n is too small for it). The
    baseline has intervals of the same kind. `results`, where given, hold the timings that the expected cost is from.
    """
    n = len(matrix.datasets)
    if n < FEWEST:
        raise NotApplicableError(f"{n} datasets are too few to advise from", fix=f"give at least {FEWEST}")
    if not 2 <= k < n:
        raise InputError(
            f"the {k} nearest of {n} datasets were asked for", where=table.where, fix=f"choose -k from 2 to {n - 1}"
        )
    known, left = _common(table.aligned(matrix.datasets), characteristics)
    target = np.array([[float(characteristics[each]) for each in known.names]])
    scale = Standardisation.of(known.values, log_skewed=True)
    points = scale(known.values)
    place = bounded(scale, target, points)
    distance = distances(np.clip(scale(target), -FARTHEST, FARTHEST), points)[0]
    near = nearest(distance[None], k)[0]

    # The ranking among the nearest; where they are too few for an interval it is unknown.
    nearby = Matrix(
        matrix.values[:, near], matrix.algorithms, tuple(matrix.datasets[d] for d in near), matrix.metric,
        matrix.higher_is_better,
    )  # fmt: skip
    among = rank_algorithms(
        nearby, methods=["mean_rank"], replicates=replicates, confidence=confidence, seed=seed
    ).rankings["mean_rank"]
    unknown = np.full((len(matrix.algorithms), 2), np.nan)

    # The model, and what it is worth on datasets that it has not seen.
    ranks = Contest(matrix.values[None], higher_is_better=matrix.higher_is_better).ranks[0].T
    nested, chosen = nested_predictions(known.values, ranks)
    base = left_out(OrderModel("baseline"), points, ranks)
    by_nearest = left_out(OrderModel("nearest", k), points, ranks)
    model = best_candidate(points, ranks)
    rng = derived_rng(seed, "advise", matrix.metric)
    weights = dataset_weights(n, replicates=replicates, rng=rng) / n
    methods = {"model": nested, "nearest": by_nearest, "baseline": base}
    skills = {key: _skill(guess, base, ranks, matrix, weights, confidence=confidence) for key, guess in methods.items()}
    cost: tuple[Cost, ...] = ()
    if results is not None:
        cost = expected_cost(results, table, float(characteristics.get(SIZE, 0.0)), confidence=confidence)
    expected = predict(model, points, ranks, place)[0]
    overall = ranks.mean(axis=0)
    return AdviseResult(
        dataset=name,
        metric=matrix.metric,
        algorithms=matrix.algorithms,
        n_datasets=n,
        characteristics={each: float(value) for each, value in characteristics.items()},
        used=known.names,
        left_out=left,
        nearest=tuple(Neighbour(name, float(distance[d])) for name, d in zip(nearby.datasets, near, strict=True)),
        usual_distance=_usual(points),
        outside=_outside(known, target[0]),
        near_ranks=among.scores,
        near_interval=unknown if among.score_interval is None else among.score_interval,
        near_first=unknown[:, 0] if among.resampling_share is None else among.resampling_share,
        model=model.name,
        model_chosen=tuple(each.name for each in chosen),
        expected=expected,
        expected_interval=_interval(expected, nested - ranks, confidence=confidence),
        overall=overall,
        overall_interval=_interval(overall, base - ranks, confidence=confidence),
        skills=skills,
        confidence=confidence,
        notes=notes,
        evidence=evidence,
        cost=cost,
    )


def _common(table: CharacteristicsTable, target: Mapping[str, float]) -> tuple[CharacteristicsTable, dict[str, str]]:
    """The characteristics known of the benchmark's datasets and of the new one, and why others were left out."""
    known, left = table.usable()
    for name in known.names:
        if name not in target:
            left[name] = "not known of the new dataset"
        elif not np.isfinite(target[name]):
            left[name] = "undefined for the new dataset"
    kept = [j for j, name in enumerate(known.names) if name not in left]
    if not kept:
        raise InputError(
            f"the benchmark's characteristics ({listing(known.names)}) are not computed by RecAssay",
            where=table.where,
            fix="name the columns as in `recassay data describe`: Nu, Ni, Nr, Density, ...",
        )
    return replace(known, values=known.values[:, kept], names=tuple(known.names[j] for j in kept)), left


def _usual(points: FloatArray) -> tuple[float, float]:
    """Over the benchmark's own datasets, the median and the largest distance to the nearest other one."""
    between = distances(points, points)
    np.fill_diagonal(between, np.inf)
    closest = between.min(axis=1)
    return float(np.median(closest)), float(closest.max())


def _outside(table: CharacteristicsTable, target: FloatArray) -> tuple[Outside, ...]:
    low, high = table.values.min(axis=0), table.values.max(axis=0)
    return tuple(
        Outside(name, float(target[j]), float(low[j]), float(high[j]))
        for j, name in enumerate(table.names)
        if not low[j] <= target[j] <= high[j]
    )


def _skill(
    predicted: FloatArray,
    base: FloatArray,
    ranks: FloatArray,
    matrix: Matrix,
    weights: FloatArray,
    confidence: float,
) -> Skill:
    """Errors of left-out predictions (datasets x algorithms) and their difference to the baseline's, with an interval.

    `loss` is the share of the best value that is lost by taking the algorithm predicted first.
    """
    error = ((predicted - ranks) ** 2).mean(axis=1)
    gain = ((base - ranks) ** 2).mean(axis=1) - error
    first = predicted.argmin(axis=1)
    ratio = Contest(matrix.values[None], higher_is_better=matrix.higher_is_better).ratios[0]
    lost = 1 - 1 / ratio[first, np.arange(len(first))]
    spread = intervals((weights @ gain)[:, None], len(ranks), confidence)[0]
    return Skill(
        rank_error=float(np.sqrt(error.mean())),
        spearman=float(spearman(ties.ranks(predicted, higher_is_better=False), ranks).mean()),
        loss=float(lost.mean()),
        gain=float(gain.mean()),
        gain_interval=(float(spread[0]), float(spread[1])),
    )


def _interval(predicted: FloatArray, errors: FloatArray, confidence: float) -> FloatArray:
    """Prediction -/+ the conformal quantile of the absolute errors of each algorithm, within the possible ranks."""
    n, count = errors.shape
    place = int(np.ceil((n + 1) * confidence))
    if place > n:
        return np.repeat([[1.0, float(count)]], count, axis=0)
    margin = np.sort(np.abs(errors), axis=0)[place - 1]
    return np.clip(np.stack([predicted - margin, predicted + margin], axis=1), 1, count)


MEASURE, SIZE = "seconds_fit", "Nr"
FEWEST_TIMINGS = 5


def expected_cost(
    results: Results, table: CharacteristicsTable, size: float, *, confidence: float = 0.9
) -> tuple[Cost, ...]:
    """Seconds to train each algorithm on `size` interactions: a line through log seconds over log interactions.

    The interval is that of a new observation (Student's t): it holds what one more dataset of that size took, on the
    machine of the benchmark. Algorithms with fewer than `FEWEST_TIMINGS` timings have none, nor have tables
    without.
    """
    if MEASURE not in results.metrics or SIZE not in table.names or not size > 0:
        return ()
    sizes = dict(zip(table.datasets, table.values[:, table.names.index(SIZE)].tolist(), strict=True))
    rows = (
        results.frame.filter(pl.col(c.METRIC) == MEASURE, pl.col(c.VALUE) > 0)
        .group_by(c.ALGORITHM, c.DATASET, maintain_order=True)
        .agg(pl.col(c.VALUE).mean())
        .with_columns(pl.col(c.DATASET).replace_strict(sizes, default=None, return_dtype=pl.Float64).alias(SIZE))
        .filter(pl.col(SIZE) > 0)
    )
    costs = []
    for name in results.algorithms:
        of_algorithm = rows.filter(pl.col(c.ALGORITHM) == name)
        x, y = (np.log(of_algorithm.get_column(column).to_numpy()) for column in (SIZE, c.VALUE))
        if len(x) < FEWEST_TIMINGS or np.ptp(x) == 0:
            continue
        middle, spread = x.mean(), ((x - x.mean()) ** 2).sum()
        slope = ((x - middle) * (y - y.mean())).sum() / spread
        intercept = y.mean() - slope * middle
        residual = np.sqrt(((y - intercept - slope * x) ** 2).sum() / (len(x) - 2))
        place = np.log(size)
        width = t_quantile(0.5 + confidence / 2, len(x) - 2) * residual
        width *= np.sqrt(1 + 1 / len(x) + (place - middle) ** 2 / spread)
        at = intercept + slope * place
        costs.append(Cost(name, float(np.exp(at)), float(np.exp(at - width)), float(np.exp(at + width)), len(x)))
    return tuple(costs)
