"""Fit the hierarchical model to a results table, and ask it the questions that people ask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache

import numpy as np

from recassay.analysis.inference.families import family_numbers
from recassay.analysis.inference.hierarchical import DRAWS, HierarchicalDraws, fit_hierarchical, representatives
from recassay.analysis.model.cells import Cells, read_cells
from recassay.analysis.model.result import ModelResult, PredictedCell, Sampling, Shares, TippingPoint
from recassay.analysis.model.scale import Scale, choose_scale
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.choices import PRACTICALLY_EQUAL
from recassay.core.errors import NotApplicableError, UsageError
from recassay.core.seeds import derived_rng
from recassay.core.tables.results import Results
from recassay.core.tables.scores import PairedScores, UserScores
from recassay.core.types import FloatArray

LEAST_DATASETS = 3


def fit_model(
    results: Results,
    metric: str,
    *,
    higher_is_better: bool | None = None,
    users: PairedScores | None = None,
    families: str | Mapping[str, str] | None = None,
    within: float = PRACTICALLY_EQUAL,
    confidence: float = 0.95,
    draws: int = DRAWS,
    seed: int = 0,
) -> ModelResult:
    """The hierarchical model of `inference.hierarchical` on one metric of a table that may have holes.

    Scores are logits (or logarithms: see `scale.choose_scale`). The noise of a cell is the variance of its seeds or
    folds, pooled over the table and divided by their number, and where the users of a study are known the covariance of
    the algorithms' means over them, both brought to the scale by its derivative. Datasets of one of the `families` (a
    mapping by dataset, or `auto`: by the start of their names) share a part of what is theirs.
    """
    if not 0 < within < 1:
        raise UsageError(f"within is {within}", fix="give a relative difference between 0 and 1, such as 0.02")
    cells = read_cells(results, metric, higher_is_better)
    if not np.nan_to_num(cells.values).any():
        raise NotApplicableError(f"every value of {cells.metric} is 0: nothing was measured")
    scale, kept = choose_scale(cells.values, cells.higher_is_better, cells.metric)
    scores = scale.forward(kept)
    repeated, over_users = _noise(cells, scale, kept, users)
    numbers = family_numbers(cells.datasets, families)
    fitted = _fitted(
        scores.tobytes(),
        (repeated + over_users).tobytes(),
        numbers.tobytes(),
        scores.shape,
        draws,
        seed=seed,
        metric=cells.metric,
    )
    same = representatives(scores)
    groups = [
        tuple(name for name, kind in zip(cells.algorithms, same, strict=True) if kind == a) for a in np.unique(same)
    ]
    return ModelResult(
        metric=cells.metric,
        higher_is_better=cells.higher_is_better,
        algorithms=cells.algorithms,
        datasets=cells.datasets,
        scale=scale,
        level=fitted.level,
        new=fitted.new,
        shares=Shares(
            algorithm=float(fitted.level.var(axis=1, ddof=1).mean()),
            dataset=float(np.mean(fitted.shared)),
            interaction=float(np.mean(fitted.interaction)),
            repeats=float(repeated.mean()),
            users=float(over_users.mean()),
            datasets=len(cells.datasets),
        ),
        predicted=tuple(_predicted(cells, scale, fitted, confidence=confidence)),
        tipping=tuple(_tipping(cells, scale, fitted)),
        identical=tuple(group for group in groups if len(group) > 1),
        negligible=fitted.negligible,
        failing=fitted.failing,
        families=None if families is None else len(np.unique(numbers)),
        sampling=Sampling(fitted.r_hat, fitted.effective, fitted.error),
        within=within,
        confidence=confidence,
        seed=seed,
    )


@lru_cache(maxsize=2)
def _fitted(
    scores: bytes, noise: bytes, families: bytes, shape: tuple[int, ...], draws: int, seed: int, metric: str
) -> HierarchicalDraws:
    """The draws of a table; kept for the next question about the same one (`plan` asks after `model`)."""
    table, variances = (np.frombuffer(content).reshape(shape) for content in (scores, noise))
    numbers = np.frombuffer(families, dtype=np.int64)
    return fit_hierarchical(table, variances, families=numbers, draws=draws, rng=derived_rng(seed, "model", metric))


def _noise(cells: Cells, scale: Scale, values: FloatArray, users: PairedScores | None) -> tuple[FloatArray, FloatArray]:
    """The variances of the scores as measurements: by repeated runs, and by the users they were averaged over.

    What the users of a dataset do to all algorithms alike is part of the dataset; the rest is each algorithm's own.
    """
    slope = np.nan_to_num(scale.slope(values))
    repeated, over_users = np.zeros(values.shape), np.zeros(values.shape)
    more = cells.repeats > 1
    if more.any():
        freedom = cells.repeats[more] - 1
        pooled = float((freedom * (cells.deviations[more] * slope[more]) ** 2).sum() / freedom.sum())
        repeated[:] = pooled / np.maximum(cells.repeats, 1)
    paired: Sequence[UserScores] = ()
    if users is not None:
        with suppress(NotApplicableError):  # a metric of all lists together has no scores of users
            paired = users(cells.metric)[0]
    for scores in paired:
        at = [i for i, name in enumerate(cells.algorithms) if name in scores.algorithms]
        if scores.dataset in cells.datasets and len(at) > 1 and scores.users > 1:
            j = cells.datasets.index(scores.dataset)
            observed = scores.values[[scores.algorithms.index(cells.algorithms[i]) for i in at]]
            scaled = np.cov(observed) / scores.users * np.outer(slope[j, at], slope[j, at])
            common = (scaled.sum() - np.trace(scaled)) / max(len(at) * (len(at) - 1), 1)
            over_users[j, at] = np.maximum(np.diagonal(scaled) - common, 0.0)
    return repeated, over_users


def _predicted(cells: Cells, scale: Scale, fitted: HierarchicalDraws, confidence: float) -> Iterator[PredictedCell]:
    """The cells that nobody ran, as the model expects them."""
    ends = (0.5 - confidence / 2, 0.5, 0.5 + confidence / 2)
    for j, a in zip(*np.nonzero(np.isnan(cells.values)), strict=True):
        low, middle, high = np.sort(scale.backward(np.quantile(fitted.cells[:, j, a], ends)))
        yield PredictedCell(cells.algorithms[a], cells.datasets[j], float(middle), float(low), float(high))


def _tipping(cells: Cells, scale: Scale, fitted: HierarchicalDraws) -> Iterator[TippingPoint]:
    """By how much missing cells would have to differ from what is expected of them to change who has the best mean.

    The leader's would have to be lower by its lead times the datasets over their number, another's higher by as much.
    Cells that are missing because an algorithm is weak there are worse than the model expects: it knows only what was
    run. This says how much worse they could be.
    """
    missing, n = np.isnan(cells.values), len(cells.datasets)
    expected = fitted.cells.mean(axis=0)
    mean = expected.mean(axis=0)
    first, second = np.argsort(-mean, kind="stable")[:2]
    for a in np.flatnonzero(missing.any(axis=0)):
        holes = missing[:, a]
        rival = second if a == first else first
        shift = (mean[rival] - mean[a]) * n / holes.sum()
        middle = float(expected[holes, a].mean())
        before, after = (float(scale.backward(np.array(at))) for at in (middle, middle + shift))
        leads = cells.algorithms[second if a == first else a]
        yield TippingPoint(cells.algorithms[a], int(holes.sum()), before, after, leads)


def _run(results: Results, spec: AnalysisSpec) -> ModelResult:
    result = fit_model(
        results,
        spec.metric,
        higher_is_better=spec.higher_is_better,
        users=spec.known("users"),
        confidence=1 - spec.alpha,
        seed=spec.seed,
    )
    if len(result.datasets) < LEAST_DATASETS:
        raise NotApplicableError(f"{len(result.datasets)} datasets say nothing of other datasets")
    return result


ANALYSIS = Analysis(
    name="model",
    question="Which {algorithm} is best for {datasets} like these, by how much, and what more would tell?",
    source="Gelman et al., Bayesian Data Analysis, 3rd edition, sections 3.6 and 5.6",
    run=_run,
)
