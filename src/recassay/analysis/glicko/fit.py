"""Glicko-2 ratings of algorithms: every dataset is a rating period in which all play all (Glickman 2012).

The order in which the datasets follow each other is a choice: as given, by name, or by a property of the dataset.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from recassay.analysis.glicko.result import GlickoResult
from recassay.analysis.glicko.system import CALMER, SETTLED, TAU, round_robin, tournament, win_probability
from recassay.analysis.inference.bootstrap import intervals
from recassay.analysis.inference.distributions import normal_quantile
from recassay.analysis.inference.pair_rows import blocks
from recassay.core import columns as c
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.choices import FEWEST_DATASETS
from recassay.core.errors import InputError, UsageError
from recassay.core.names import did_you_mean
from recassay.core.seeds import derived_rng
from recassay.core.tables.matrix import Matrix, MissingCells
from recassay.core.tables.results import Results
from recassay.core.types import FloatArray, IntArray
from recassay.core.words import listing

ORDERS = 200
"""Random orders of the datasets that the spread of the final ratings is taken over; fewer for very large tables."""


GAMES = 50_000_000
"""Games that are played for that spread, at most (and at least 20 orders)."""

REPLICATES = 500
"""Benchmarks drawn from the datasets for the intervals; fewer for very large tables, at least 100."""

CONFIDENCE = 0.95
LARGEST_TAU, MOST_ORDERS = 10.0, 100_000


def rate_algorithms(
    matrix: Matrix,
    *,
    given: Sequence[str] | None = None,
    order: str | Sequence[str] = "given",
    properties: Mapping[str, Mapping[str, float]] | None = None,
    tau: float | None = None,
    tie: float = 0.0,
    orders: int | None = None,
    seed: int = 0,
) -> GlickoResult:
    """Glicko-2 over the datasets of a matrix: each is a rating period, all play all, the better value wins.

    `order` names how the datasets follow each other (see `dataset_order`); `given` is the order of the table.
    """
    names = dataset_order(matrix, order, given=given, properties=properties)
    place = {name: d for d, name in enumerate(matrix.datasets)}
    return rate_table(
        matrix.values[:, [place[name] for name in names]],
        matrix.algorithms,
        names,
        metric=matrix.metric,
        higher_is_better=matrix.higher_is_better,
        order_name=order if isinstance(order, str) else "listed",
        tau=tau,
        tie=tie,
        orders=orders,
        seed=seed,
        missing=matrix.missing,
    )


def rate_table(
    values: FloatArray,
    algorithms: Sequence[str],
    datasets: Sequence[str],
    *,
    metric: str,
    higher_is_better: bool = True,
    order_name: str = "listed",
    tau: float | None = None,
    tie: float = 0.0,
    orders: int | None = None,
    seed: int = 0,
    missing: MissingCells | None = None,
) -> GlickoResult:
    """The tournament over the columns of `values` (algorithms x datasets) in their order.

    As the result depends on the order, the tournament is also played in `orders` random ones (None: 200, fewer for very
    large tables). Where a value is NaN the algorithm plays no game on that dataset: its rating stays and its deviation
    grows.

    The 95 % intervals of the ratings come from a bootstrap over datasets and orders: as many datasets drawn with
    replacement, in random order, played again. Glicko-2's own deviation takes the games of one dataset for independent;
    they are not, and rating -/+ 1.96 deviations is too narrow from five players on. It is the interval where it is the
    wider one, since no dependence makes ratings surer. None below five datasets.

    All games of a period hang on one score each, so with thirty players and more a single odd dataset looks like thirty
    surprises, and with tau 0.5 the volatility can run away. `tau` None takes the largest of 0.5, 0.2, 0.1, 0.05 and
    0.02 with which it stays below 1 in every order; `settled` says whether it did.
    """
    if orders is None:
        orders = int(np.clip(GAMES // (len(algorithms) ** 2 * len(datasets)), 20, ORDERS))
    if (tau is not None and not 0 < tau <= LARGEST_TAU) or not 0 <= tie < np.inf or not 1 <= orders <= MOST_ORDERS:
        raise UsageError(
            f"tau {tau}, tie {tie}, {orders} random orders",
            fix=f"tau is above 0 and at most {LARGEST_TAU:g} (usual: 0.3 to 1.2), tie a number from 0 on, "
            f"orders from 1 to {MOST_ORDERS:,}",
        )
    scores = round_robin(values, higher_is_better=higher_is_better, tie=tie)
    shuffled = np.argsort(derived_rng(seed, "glicko orders", metric).random((orders, len(datasets))), axis=1)
    for attempt in (TAU, *CALMER) if tau is None else (tau,):
        history = tournament(scores, np.arange(len(datasets))[None, :], tau=attempt)[0]
        calm = bool(history[:, 2].max() < SETTLED)
        if not calm and tau is None and attempt != CALMER[-1]:
            continue
        final, settled = _final_ratings(scores, shuffled, attempt)
        settled = settled and calm
        if settled:
            break
    bounds = None
    if len(datasets) >= FEWEST_DATASETS:
        bounds = _intervals(scores, history[-1], attempt, derived_rng(seed, "glicko bootstrap", metric))
    places = np.argsort(np.argsort(-final, axis=1, kind="stable"), axis=1, kind="stable") + 1.0
    quantiles = [0.025, 0.5, 0.975]
    return GlickoResult(
        metric=metric,
        higher_is_better=higher_is_better,
        algorithms=tuple(algorithms),
        datasets=tuple(datasets),
        order_name=order_name,
        history=history,
        bounds=bounds,
        wins=win_probability(history[-1, 0], history[-1, 1]),
        spread=np.quantile(final, quantiles, axis=0),
        rank_spread=np.quantile(places, quantiles, axis=0, method="inverted_cdf"),
        tau=attempt,
        tie=tie,
        n_orders=orders,
        settled=settled,
        missing=missing or MissingCells(),
    )


def _intervals(scores: FloatArray, final: FloatArray, tau: float, rng: np.random.Generator) -> FloatArray:
    """Algorithms x 2: the expanded percentile interval over drawn benchmarks, or Glicko-2's own where that is wider."""
    datasets, players = scores.shape[:2]
    count = int(np.clip(GAMES // (players**2 * datasets), 100, REPLICATES))
    drawn, _ = _final_ratings(scores, rng.integers(datasets, size=(count, datasets)), tau)
    ends = intervals(drawn, datasets, CONFIDENCE)
    half_width = float(normal_quantile(0.5 + CONFIDENCE / 2)) * final[1]
    return np.stack(
        [np.minimum(ends[:, 0], final[0] - half_width), np.maximum(ends[:, 1], final[0] + half_width)], axis=1
    )


def _final_ratings(scores: FloatArray, orders: IntArray, tau: float) -> tuple[FloatArray, bool]:
    """Final ratings, orders x players, and whether all settled; as many orders at once as fit into 32 MiB."""
    final = np.empty((len(orders), scores.shape[1]))
    settled = True
    for part in blocks(len(orders), scores.shape[1] ** 2):
        history = tournament(scores, orders[part], tau=tau)
        final[part] = history[:, -1, 0]
        settled = settled and bool(history[:, :, 2].max() < SETTLED)
    return final, settled


def _run(results: Results, spec: AnalysisSpec) -> GlickoResult:
    matrix = spec.matrix(results)
    return rate_algorithms(matrix, given=given_order(results, matrix), seed=spec.seed)


def given_order(results: Results, matrix: Matrix) -> list[str]:
    """The datasets of a matrix in the order in which the table first names them for its metric."""
    rows = results.frame.filter(pl.col(c.METRIC) == matrix.metric, pl.col(c.DATASET).is_in(matrix.datasets))
    return rows.get_column(c.DATASET).unique(maintain_order=True).to_list()


ANALYSIS = Analysis(
    name="glicko",
    question="How strong is each {algorithm} when it plays every other one on each {dataset}?",
    source="Glickman 2012; Cardoso et al. sections 2.4 and 4.3",
    run=_run,
    aside=1,
)


NAMED_ORDERS = ("given", "name", "difficulty", "discrimination", "deviation")
"""The orders that need no table of properties."""


def classical_properties(matrix: Matrix) -> dict[str, FloatArray]:
    """What the matrix itself says of its datasets, in the sense of classical test theory.

    difficulty: minus the mean value (of a metric whose higher values are better); discrimination: the correlation of a
    dataset's values with the mean of the standardised other datasets (item-rest correlation; 0 where undefined);
    deviation: the standard deviation over algorithms.
    """
    up = matrix.upward
    spread = up.std(axis=0)
    standard = (up - up.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    rest = standard.sum(axis=1, keepdims=True) - standard
    rest_spread = rest.std(axis=0)
    covariance = (standard * (rest - rest.mean(axis=0))).mean(axis=0)
    correlation = np.where(rest_spread > 0, covariance / np.where(rest_spread > 0, rest_spread, 1.0), 0.0)
    return {"difficulty": -up.mean(axis=0), "discrimination": correlation, "deviation": spread}


def dataset_order(
    matrix: Matrix,
    order: str | Sequence[str],
    *,
    given: Sequence[str] | None = None,
    properties: Mapping[str, Mapping[str, float]] | None = None,
) -> list[str]:
    """The datasets in their order of play; a property sorts from least to most (Cardoso et al., section 5.2).

    `order`: `given` (as the table names them; sorted names when `given` is not known), `name`, a property, or the names
    themselves, each once. `properties[dataset][property]` comes from an IRT model (such
    as difficulty, discrimination, difficulty_deviation) and goes before those of the matrix itself.
    """
    if properties is not None and not set(properties) & set(matrix.datasets):
        raise InputError(
            f"the properties are of other datasets ({listing(properties)})",
            fix=f"give those of {listing(matrix.datasets)}",
        )
    if not isinstance(order, str):
        unknown = [name for name in order if name not in matrix.datasets]
        if unknown or len(set(order)) < len(order) or not order:
            what = f"unknown datasets {listing(unknown)}" if unknown else "a dataset is listed twice, or none is"
            raise UsageError(f"order: {what}", fix="list each dataset of the table once")
        left = [name for name in matrix.datasets if name not in order]
        if left:
            raise UsageError(
                f"order: {len(left)} of the {len(matrix.datasets)} datasets are not listed ({listing(left)})",
                fix="list each dataset of the table once, or give a table of those you want",
            )
        return list(order)
    if order == "given":
        return list(given) if given is not None else list(matrix.datasets)
    if order == "name":
        return sorted(matrix.datasets)
    if properties is not None and any(order in row for row in properties.values()):
        lacking = [name for name in matrix.datasets if order not in properties.get(name, {})]
        if lacking:
            raise InputError(f"{order} is not known of {listing(lacking)}", fix="add these datasets to the properties")
        value = {name: float(properties[name][order]) for name in matrix.datasets}
    else:
        computed = classical_properties(matrix)
        if order not in computed:
            known = [*NAMED_ORDERS, *sorted({p for row in (properties or {}).values() for p in row})]
            raise UsageError(f"unknown order {order!r}", fix=did_you_mean(order, known))
        value = dict(zip(matrix.datasets, computed[order].tolist(), strict=True))
    return sorted(matrix.datasets, key=lambda name: (value[name], name))
