"""Tuning: Optuna's TPE, asked trial by trial, so that trial n is a function of the trials before it and nothing else.

Every proposal starts a new sampler with a seed derived from names and the number of the trial, and shows it the earlier
trials. A tuning that was killed and goes on from its stored trials therefore makes the same proposals as one that was
never disturbed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.trial import TrialState

from recassay.core.errors import RecAssayError
from recassay.core.seeds import derived_rng
from recassay.core.specs.search import Parameter, Real, SearchSpace, Whole, defaults
from recassay.core.specs.study import PATIENCE, PRUNE_AFTER
from recassay.recommenders.stage import Stage
from recassay.runner.jobs import JobFailure, reason_of, status_of
from recassay.store import TrialRecord

GIVE_UP_AFTER = 5
"""An algorithm whose first trials fail this often in a row is given up."""

_STATES = {
    "complete": TrialState.COMPLETE,
    "pruned": TrialState.PRUNED,
    "failed": TrialState.FAIL,
    "over_budget": TrialState.FAIL,
}

StagedFit = Callable[[Mapping[str, Any], int], Iterator[Stage]]
"""From parameters and a trial's number to the stages of training (often a single one)."""


@dataclass(frozen=True, slots=True)
class TuningRecord:
    """The best parameters and their objective; both None where there was nothing to vary."""

    parameters: dict[str, Any]
    value: float | None
    trials: tuple[TrialRecord, ...]


def tune(
    space: SearchSpace,
    fit: StagedFit,
    *,
    trials: int,
    higher_is_better: bool,
    seed: int,
    names: tuple[str, ...],
    history: Sequence[TrialRecord] = (),
    pruning: bool = True,
    once: bool = False,
    record: Callable[[TrialRecord], None] = lambda _: None,
) -> TuningRecord:
    """Try `trials` parameter sets from `space`, the defaults first, and return the best by the objective of `fit`.

    `history` are the trials that are already known; `record` is told of every new one. A trial that raises is kept as
    failed and the search goes on; where none succeeds the first reason is raised. Parameters that were tried before get
    the value they had. Ties go to the earlier trial.

    Where stages are models of their own, a trial counts with its best stage, whose settled parameters become the
    trial's, and ends early when `PATIENCE` stages in a row bring nothing better. With `once` there is one trial for
    that even where `space` is empty.
    """
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    wanted = trials if space else min(trials, int(once))
    known = list(history[:wanted])
    while len(known) < wanted:
        if len(known) >= GIVE_UP_AFTER and all(_failed(trial) for trial in known):
            break
        trial = _one_trial(space, fit, known, higher_is_better, seed, names, pruning)
        record(trial)
        known.append(trial)
    if not known:
        return TuningRecord(defaults(space), None, ())
    best = _best(known, higher_is_better)
    return TuningRecord(dict(best.parameters), best.value, tuple(known))


def propose(
    space: SearchSpace, known: Sequence[TrialRecord], *, higher_is_better: bool, seed: int, names: tuple[str, ...]
) -> optuna.Trial:
    """Trial number `len(known)`, with its parameters in `.params`."""
    number = len(known)
    draw = int(derived_rng(seed, "tuning", *names, str(number)).integers(2**31))
    study = optuna.create_study(
        direction="maximize" if higher_is_better else "minimize",
        sampler=optuna.samplers.TPESampler(seed=draw),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=PRUNE_AFTER),
    )
    distributions = {name: _distribution(parameter) for name, parameter in space.items()}
    for trial in known:
        study.add_trial(_frozen(trial, distributions))
    if number == 0:
        study.enqueue_trial(defaults(space))
    return study.ask(distributions)


def _one_trial(
    space: SearchSpace,
    fit: StagedFit,
    known: Sequence[TrialRecord],
    higher_is_better: bool,
    seed: int,
    names: tuple[str, ...],
    pruning: bool,
) -> TrialRecord:
    begin = time.perf_counter()
    asked = propose(space, known, higher_is_better=higher_is_better, seed=seed, names=names)
    parameters, number = dict(asked.params), len(known)
    same = next((t for t in known if t.state in ("complete", "pruned") and _proposed(t, space) == parameters), None)
    if same is not None:
        return TrialRecord(number, same.state, same.parameters, same.value, None, same.stages, 0.0)
    sign = 1.0 if higher_is_better else -1.0
    stages: list[float] = []
    settled: Mapping[str, Any] = {}
    state, reason, best = "complete", None, 0
    try:
        for stage in fit(parameters, number):
            if not math.isfinite(stage.value):
                raise RecAssayError("the objective is nowhere defined on the validation part")
            stages.append(float(stage.value))
            asked.report(stages[-1], len(stages) - 1)
            if not stage.settled or sign * stages[-1] > sign * stages[best] or len(stages) == 1:
                best, settled = len(stages) - 1, stage.settled
            if pruning and asked.should_prune():
                state = "pruned"
                break
            if stage.settled and len(stages) - 1 - best >= PATIENCE:
                break
    except Exception as error:
        status = status_of(error)
        state, reason = "over_budget" if status == "over_budget" else "failed", reason_of(error)
        if status == "memory":
            reason = f"out of memory: {reason}"
    if state == "complete" and not stages:
        state, reason = "failed", "fit_steps gave no recommender"
    return TrialRecord(
        number=number,
        state=state,  # type: ignore[arg-type]
        parameters=parameters | dict(settled),
        value=stages[best] if stages and reason is None else None,
        reason=reason,
        stages=tuple(stages) if len(stages) > 1 else (),
        seconds=time.perf_counter() - begin,
    )


def _proposed(trial: TrialRecord, space: SearchSpace) -> dict[str, Any]:
    """The trial's parameters that were searched for."""
    return {name: value for name, value in trial.parameters.items() if name in space}


def _failed(trial: TrialRecord) -> bool:
    return trial.state in ("failed", "over_budget")


def _best(known: Sequence[TrialRecord], higher_is_better: bool) -> TrialRecord:
    complete = [trial for trial in known if trial.state == "complete" and trial.value is not None]
    if not complete:
        first = next(trial for trial in known if _failed(trial))
        status = "over_budget" if all(trial.state == "over_budget" for trial in known) else "failed"
        if (first.reason or "").startswith("out of memory"):
            status = "memory"
        raise JobFailure(status, f"{first.reason} (all {len(known)} trials failed)")
    sign = 1.0 if higher_is_better else -1.0
    return max(complete, key=lambda trial: (sign * (trial.value or 0.0), -trial.number))


def _distribution(parameter: Parameter) -> BaseDistribution:
    if isinstance(parameter, Real):
        return FloatDistribution(parameter.low, parameter.high, log=parameter.log)
    if isinstance(parameter, Whole):
        return IntDistribution(parameter.low, parameter.high, log=parameter.log, step=parameter.step)
    return CategoricalDistribution(parameter.options)


def _frozen(trial: TrialRecord, distributions: dict[str, BaseDistribution]) -> optuna.trial.FrozenTrial:
    stages = trial.stages or (() if trial.value is None else (trial.value,))
    return optuna.trial.create_trial(
        state=_STATES[trial.state],
        params={name: value for name, value in trial.parameters.items() if name in distributions},
        distributions=distributions,
        value=trial.value,
        intermediate_values=dict(enumerate(stages)),
    )
