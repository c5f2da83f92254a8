"""The verb `adaptive`: the ranking of a whole grid for a fraction of its cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

import numpy as np

from recassay.analysis.adaptive.fit import (
    PROBE_RATIO,
    CellGrid,
    Question,
    Runner,
    decide,
    fit_adaptive,
    log_sizes,
    read_benchmark,
    replay,
    run_adaptive,
)
from recassay.analysis.adaptive.result import AdaptiveResult
from recassay.api.arguments import checked, refuse_no_time
from recassay.api.inputs import CharacteristicsLike, ResultsLike
from recassay.api.study.adaptive_study import published_prior
from recassay.api.tables import default_metric, known_characteristics, load_characteristics, load_results, study_folder
from recassay.core.choices import AdaptiveTarget, Advanced, Level, Range, Seconds
from recassay.core.errors import UsageError
from recassay.evidence.study import adaptive_journal


@checked
def adaptive(
    results_or_runner: ResultsLike | Runner,
    metric: str | None = None,
    *,
    target: AdaptiveTarget = "first",
    confidence: Level = 0.95,
    budget: Seconds | None = None,
    indifference: Annotated[float, Range(0.0)] = 1.0,
    rho: float = 0.97,
    algorithms: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    characteristics: CharacteristicsLike | None = None,
    classes: Mapping[str, str] | None = None,
    higher_is_better: bool | None = None,
    workers: int = 1,
    probe: Runner | None = None,
    probe_ratio: float = PROBE_RATIO,
    prior: bool = False,
    progress: Callable[[AdaptiveResult], None] | None = None,
    seed: Annotated[int, Advanced] = 0,
    wide: bool = False,
    transpose: bool = False,
) -> AdaptiveResult:
    """What the whole grid of algorithms and datasets would say, from the cells that tell most per second.

    Three uses. With a function that runs cells, it is called with batches of `(algorithm, dataset)` and returns a
    mapping of each to `(value, seconds)` (a value of None: it failed), until the target is certified. With a table that
    has every cell, such a run is replayed: what it would have cost, and what it would have said. With a table that has
    holes, or where `algorithms` and `datasets` name more than it has, it says how things stand and which cells to run
    next.

    Args:
        results_or_runner: a function that runs cells, or a results table (file, frame, folder of a study, loaded).
        metric: label such as `ndcg@10`; by default `ndcg@10` or `accuracy` where present, else the only metric.
        target: what is to be settled: `first`, `top3`, `order` (up to `indifference`), or `rho`.
        confidence: probability with which the target must hold.
        budget: time limit for the cells, in seconds; by default none.
        indifference: for `order`: mean ranks that do not matter.
        rho: for `rho`: least Spearman correlation with the order of the whole grid.
        algorithms: names of the whole grid; a table's own by default.
        datasets: names of the whole grid; a table's own by default.
        characteristics: characteristics of the datasets, of which the size is used.
        classes: by algorithm, a word such as `neural`; algorithms of one class are expected to cost alike.
        higher_is_better: direction of a metric that RecAssay does not know.
        workers: least cells of a batch.
        probe: beside a function that runs cells, one that looks at them in a cheaper way (a sample of the users, few
            epochs, no tuning) and returns the same; its looks are chosen like cells, by what they tell per second.
        probe_ratio: the share of a cell's seconds that a probe is expected to take; what they take is learned.
        prior: start from what published tables say about the algorithms; it counts less where the new cells disagree.
        progress: called with the result of every decision.
        seed: the same seed gives the same numbers.
        wide: the rows of the table are algorithms and its columns datasets, where the table does not say it.
        transpose: the rows of the table are datasets and its columns algorithms.
    """
    refuse_no_time(budget)
    question = Question(target=target, confidence=confidence, indifference=indifference, rho=rho)
    if probe is not None and not callable(results_or_runner):
        raise UsageError("a table cannot be probed", fix="give a function that runs cells, or leave probe out")
    if callable(results_or_runner):
        if algorithms is None or datasets is None:
            raise UsageError("the grid is not known", fix="name its algorithms and its datasets")
        known = None if characteristics is None else load_characteristics(characteristics).aligned(tuple(datasets))
        grid = CellGrid(
            metric or "value", tuple(algorithms), tuple(datasets),
            None if known is None else log_sizes(known),
            None if classes is None else tuple(classes.get(name, "other") for name in algorithms),
            higher_is_better is not False,
        )  # fmt: skip
        return run_adaptive(
            results_or_runner, grid, question, budget=budget, workers=workers, probe=probe, probe_ratio=probe_ratio,
            prior=published_prior(grid) if prior else None, progress=progress, seed=seed,
        )  # fmt: skip
    table = load_results(results_or_runner, metric=metric, wide=wide, transpose=transpose)
    folder = study_folder(results_or_runner)
    journal = None if folder is None else adaptive_journal(folder)
    if journal is not None and algorithms is None and datasets is None:
        return fit_adaptive(table, journal, metric=metric)
    benchmark = read_benchmark(
        table, metric or default_metric(table),
        characteristics=known_characteristics(results_or_runner, table, characteristics), classes=classes,
        higher_is_better=higher_is_better, algorithms=algorithms, datasets=datasets,
    )  # fmt: skip
    known_before = published_prior(benchmark.grid) if prior else None
    if not np.isnan(benchmark.values).any():
        return replay(
            benchmark, question, budget=budget, workers=workers, prior=known_before, progress=progress, seed=seed
        )
    spent = np.nansum(np.where(np.isnan(benchmark.values), 0.0, benchmark.seconds))
    return decide(
        benchmark.grid, question, benchmark.values, benchmark.seconds, prior=known_before,
        cells=workers, most_seconds=np.inf if budget is None else budget - float(spent), seed=seed,
    )  # fmt: skip
