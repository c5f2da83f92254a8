"""A recommender cell: one algorithm on one dataset, tuned on the validation part, judged on the test part."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import polars as pl
from scipy.sparse import csr_array

from recassay.core.errors import InputError
from recassay.core.seeds import derived_rng
from recassay.core.specs.search import defaults
from recassay.core.system.plain import plain
from recassay.core.types import Recommender, TopK
from recassay.metrics.evaluate import EvaluationResult, evaluate, whole_ranking_values
from recassay.metrics.judgements import folding, judge
from recassay.metrics.make import make_metric
from recassay.metrics.protocol import has_user_values
from recassay.metrics.recommend import recommend_all
from recassay.protocol.targets import judgements
from recassay.recommenders.attacked import hit_ratio_shift
from recassay.recommenders.list_rows import list_rows
from recassay.recommenders.payload import CellJob, SplitJob
from recassay.recommenders.references import refuse_other_data
from recassay.recommenders.space import highest, settle, stops_itself
from recassay.recommenders.splits import prepare_split, refuse_too_many_events
from recassay.recommenders.work import Validation, Work, users_of
from recassay.runner.energy import read_counters, spent
from recassay.runner.jobs import PROPOSED, Emit
from recassay.runner.memory import children_peak_bytes, peak_bytes, reset_peak
from recassay.store.files import write_cell_files
from recassay.store.records import TRIALS

if TYPE_CHECKING:
    from recassay.recommenders.tune import Tuning


def prepare(payload: Mapping[str, Any], emit: Emit) -> Mapping[str, Any]:
    """The job that makes a split (`SplitJob`).

    A dataset whose size is known and that would not fit is refused before it is read.
    """
    job = SplitJob.of(payload)
    refuse_too_many_events(job.dataset, job.base, job.memory, "budget.memory_gb is")
    return asdict(prepare_split(job.folder, job.split, job.dataset, job.base))


def predict(payload: Mapping[str, Any], emit: Emit) -> Mapping[str, Any]:
    """The job of a dry run: the memory that a cell's algorithm declares, at its defaults and at the upper corner."""
    work = Work(CellJob.of(payload), emit)
    fixed, space = settle(work.kind, work.spec.settings, work.spec.algorithm)
    at_defaults, at_most = fixed | defaults(space), fixed | highest(space)
    return {
        "memory": work.declared_memory(at_defaults),
        "most_memory": max(work.declared_memory(chosen) or 0 for chosen in (at_defaults, at_most)),
        "gpu_memory": work.declared_memory(at_defaults, "gpu_memory_bytes"),
        **dict(zip(("users", "items", "interactions"), work.sizes, strict=True)),
        "trials": work.spec.tuning.trials if space else 0,
    }


def run_trial(payload: Mapping[str, Any], emit: Emit) -> Mapping[str, Any]:
    """The job of one trial: as `run_cell`, with the `number` of the trial and the `trials` of the rounds before it.

    Emits its parameters (`PROPOSED`) before the trial and `{"trial": ...}` after it; the record says how many trials
    there are to run (none where there is nothing to tune).
    """
    counters, job = read_counters(), CellJob.of(payload)
    tuning = tuning_of(Work(job, emit))
    if job.number < tuning.rounds.trials:
        trial = tuning.one(job.number, job.trials, lambda parameters: emit({PROPOSED: plain(parameters)}))
        emit({"trial": plain(trial.to_dict())})
    return {"trials": tuning.rounds.trials, "joules": spent(counters, read_counters()).joules}


def tuning_of(work: Work) -> Tuning:
    """The search of a cell over the parameters that its settings leave open."""
    from recassay.recommenders.tune import Tuning

    spec = work.spec
    fixed, space = settle(work.kind, spec.settings, spec.algorithm)
    objective = make_metric(spec.tuning.metric)
    stops = stops_itself(work.kind)
    validation = Validation(work, fixed, objective) if spec.tuning.trials and (space or stops) else None
    return Tuning(
        space,
        validation.stages if validation is not None else lambda parameters, number: iter(()),
        trials=spec.tuning.trials,
        higher_is_better=objective.higher_is_better,
        seed=spec.search_seed,
        names=(spec.dataset, spec.algorithm),
        pruning=spec.tuning.staged,
        once=stops,
        parallel=spec.tuning.parallel,
        seconds=spec.tuning.seconds,
    )


def run_cell(payload: Mapping[str, Any], emit: Emit) -> Mapping[str, Any]:
    """The job of a cell: tune on train and validation, fit on both, recommend, judge on test, write scores and lists.

    The payload is a `CellJob`. Emits `{"trial": ...}` for each new trial.
    """
    begin, counters = time.perf_counter(), read_counters()
    job = CellJob.of(payload)
    work = Work(job, emit)
    spec, names = work.spec, (work.spec.dataset, work.spec.algorithm)
    fixed, _ = settle(work.kind, spec.settings, spec.algorithm)
    tuned = tuning_of(work).run(job.trials, lambda trial: emit({"trial": plain(trial.to_dict())}))
    seconds_tune = time.perf_counter() - begin
    parameters = fixed | tuned.parameters
    predicted = work.refuse_over_budget(parameters)
    whole_peak = peak_bytes()
    reset_peak()

    train, test = work.split.refit(), work.split.test
    refuse_other_data(work.kind, train)
    if not len(test):
        raise InputError("the test part is empty", fix="use another split or a weaker filter")
    # What judges is taken before the algorithm gets its data: whatever it does with them, its lists meet the same test.
    seen = train.csr()
    barred = work.split.barred(seen)
    begin, before_fit = time.perf_counter(), read_counters()
    recommender = work.kind(**parameters).fit(train.read_only(), rng=derived_rng(spec.seed, "fit", *names, "final"))
    seconds_fit = time.perf_counter() - begin
    begin = time.perf_counter()
    target, judged = spec.split.protocol.target, None
    if target == "all":
        top = recommend_all(recommender, users_of(test), spec.depth, exclude=barred, n_items=train.n_items)
    else:
        asked, metrics = judgements(work.split, target, "test"), [make_metric(label) for label in spec.metrics]
        after = folding(recommender, spec.algorithm)
        judged, top = judge(after, asked, metrics, train=train, depth=spec.depth)
    seconds_predict, after_lists = time.perf_counter() - begin, read_counters()
    if (top.items < 0).all():
        raise InputError(
            f"it recommends nothing to any of the {len(top.users):,} judged users (items that a user has already seen "
            "are left out of the lists)",
            fix="recommend items that the user does not have in the training data",
        )
    memory = max(filter(None, (peak_bytes(), children_peak_bytes())), default=None)
    if judged is None:
        judged = _judge_test(work, recommender, top, seen, barred)
    shifted = hit_ratio_shift(work.kind(**parameters), spec, work.split.refit(), test, top) if spec.comper else {}
    files = write_cell_files(work.folder, job.id, per_user=judged.per_user, lists=list_rows(top, train))
    record = {
        "parameters": parameters,
        "validation": tuned.value,
        "seconds_tune": seconds_tune,
        "seconds_fit": seconds_fit,
        "seconds_predict": seconds_predict,
        "memory": memory,
        "peak_memory": max(filter(None, (whole_peak, memory, peak_bytes())), default=None),
        "predicted_memory": predicted,
        "energy": spent(counters, read_counters()).record(spent(before_fit, after_lists)),
        "counts": {
            **judged.counts,
            **{f"undefined {label}": n for label, n in judged.undefined().items() if n},
            **({TRIALS: len(tuned.trials)} if tuned.trials else {}),
        },
        "metrics": judged.mean() | shifted,
        "files": files,
    }
    return plain(record)


def _judge_test(
    work: Work, recommender: Recommender, top: TopK, seen: csr_array, barred: csr_array | None
) -> EvaluationResult:
    """The metrics on the lists, and those that read the whole order (without a cut-off) on whole lists."""
    test, metrics = work.split.test, [make_metric(label) for label in work.spec.metrics]
    whole = [m for m in metrics if has_user_values(m) and getattr(m, "whole_ranking", False) and m.k is None]
    judged = evaluate(top, test, metrics, train=seen)
    if not whole:
        return judged
    values = whole_ranking_values(recommender, users_of(test), test.csr(), whole, train=seen, exclude=barred)
    columns = [pl.Series(label, value).fill_nan(None) for label, value in values.items()]
    return replace(judged, per_user=judged.per_user.with_columns(columns))
