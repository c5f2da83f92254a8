"""Tuning: Optuna's TPE, asked trial by trial, so that trial n is a function of the trials before it and nothing else.

Where N trials run side by side, it is a function of the trials of the rounds before its own (`runner.work`). Every
proposal starts a new sampler with a seed derived from names and the number of the trial, and shows it those trials. A
tuning that was killed and goes on from its stored trials therefore makes the same proposals as one that was never
disturbed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np
import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.trial import TrialState

from recassay.core.errors import NotApplicableError, RecAssayError
from recassay.core.seeds import derived_rng
from recassay.core.specs.search import Parameter, Real, SearchSpace, Whole, defaults
from recassay.core.specs.study import PATIENCE, PRUNE_AFTER
from recassay.recommenders.work import Stage
from recassay.runner.jobs import NOT_WRITTEN, JobFailure, reason_of, status_of
from recassay.runner.work import Rounds, failed
from recassay.store import TrialRecord

STARTING_TRIALS = 10
"""Trials before TPE knows enough to propose; they vary the defaults, which were chosen on many datasets."""

SLOW_STAGES = 2
"""Stages of a training after which no trial is pruned yet."""

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


@dataclass(frozen=True, slots=True)
class Tuning:
    """What a search is asked for: a space, the objective, a number of trials, and the names from which chance derives.

    With `once` there is one trial even where `space` is empty, for an algorithm whose training says when to stop.
    `parallel` trials are proposed together; none begins after `seconds` of trials.
    """

    space: SearchSpace
    fit: StagedFit
    trials: int
    higher_is_better: bool
    seed: int
    names: tuple[str, ...]
    pruning: bool = True
    once: bool = False
    parallel: int = 1
    seconds: float | None = None

    @property
    def rounds(self) -> Rounds:
        """The trials that there is something to try in."""
        return Rounds(self.trials if self.space else min(self.trials, int(self.once)), self.parallel, self.seconds)

    def run(
        self, history: Sequence[TrialRecord] = (), record: Callable[[TrialRecord], None] = lambda _: None
    ) -> TuningRecord:
        """Try parameter sets from the space, the defaults first, and return the best by the objective.

        `history` are the trials that are already known; `record` gets every new one. A trial that raises is kept
        as failed and the search goes on; where none succeeds the first reason is raised. Parameters that were tried
        before get the value they had. Ties go to the earlier trial.

        Where stages are models of their own, a trial counts with its best stage, whose settled parameters become the
        trial's, and ends early when `PATIENCE` stages in a row bring nothing better.
        """
        rounds, earlier = self.rounds, {trial.number: trial for trial in history}
        known: dict[int, TrialRecord] = {}
        while numbers := rounds.open(known):
            for number in numbers:
                if number in earlier:
                    known[number] = earlier[number]
                    continue
                known[number] = self.one(number, [known[n] for n in range(rounds.seen_by(number))])
                record(known[number])
        if not known:
            return TuningRecord(defaults(self.space), None, ())
        best = _best(list(known.values()), self.higher_is_better)
        return TuningRecord(dict(best.parameters), best.value, tuple(known.values()))

    def one(
        self,
        number: int,
        known: Sequence[TrialRecord],
        proposed: Callable[[Mapping[str, Any]], None] = lambda _: None,
    ) -> TrialRecord:
        """Trial `number` after the trials of the rounds before; `proposed` gets its parameters before it is run."""
        begin = time.perf_counter()
        asked = self._propose(number, known)
        parameters = dict(asked.params)
        proposed(parameters)
        done = ("complete", "pruned")
        for trial in known:
            searched = {name: value for name, value in trial.parameters.items() if name in self.space}
            if trial.state in done and searched == parameters:
                return replace(trial, number=number, seconds=0.0)
        return _tried(self, number, asked, begin)

    def _propose(self, number: int, known: Sequence[TrialRecord]) -> optuna.Trial:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        draw = int(derived_rng(self.seed, "tuning", *self.names, str(number)).integers(2**31))
        study = optuna.create_study(
            direction="maximize" if self.higher_is_better else "minimize",
            sampler=optuna.samplers.TPESampler(seed=draw),
            # A small rate begins slowly: the first stages of a training say little about its best one.
            pruner=optuna.pruners.MedianPruner(n_startup_trials=PRUNE_AFTER, n_warmup_steps=SLOW_STAGES),
        )
        distributions = {name: _distribution(parameter) for name, parameter in self.space.items()}
        for trial in known:
            study.add_trial(_frozen(trial, distributions))
        if number < STARTING_TRIALS:
            # The first keeps all defaults; the others keep each with chance 1/2, and never all of them.
            kept = np.ones(len(self.space), dtype=bool)
            if number:
                rng = derived_rng(self.seed, "starting trials", *self.names, str(number))
                kept = rng.random(len(kept)) < 1 / 2
                kept[int(rng.integers(len(kept)))] = False
            study.enqueue_trial(dict(compress(defaults(self.space).items(), kept)))
        return study.ask(distributions)


def _tried(tuning: Tuning, number: int, asked: optuna.Trial, begin: float) -> TrialRecord:
    """Fit with the parameters that were asked for; what came of it."""
    parameters = dict(asked.params)
    sign = 1.0 if tuning.higher_is_better else -1.0
    stages: list[float] = []
    settled: Mapping[str, Any] = {}
    on_all: Callable[[], float] | None = None
    value: float | None = None
    state, reason, best = "complete", None, 0
    try:
        for stage in tuning.fit(parameters, number):
            if not math.isfinite(stage.value):
                raise RecAssayError("the objective is nowhere defined on the validation part")
            stages.append(float(stage.value))
            asked.report(stages[-1], len(stages) - 1)
            if not stage.settled or sign * stages[-1] > sign * stages[best] or len(stages) == 1:
                best, settled, on_all = len(stages) - 1, stage.settled, stage.on_all
            if tuning.pruning and asked.should_prune():
                state = "pruned"
                break
            if len(stages) - 1 - best >= PATIENCE:
                break
        if stages:
            value = stages[best] if on_all is None or state == "pruned" else float(on_all())
    except NotApplicableError:
        raise
    except Exception as error:
        status = status_of(error)
        if status == NOT_WRITTEN:
            raise
        state, reason = "over_budget" if status == "over_budget" else "failed", reason_of(error)
        if status == "memory":
            reason = f"out of memory: {reason}"
    if state == "complete" and not stages:
        state, reason = "failed", "fit_steps gave no recommender"
    return TrialRecord(
        number=number,
        state=state,  # type: ignore[arg-type]
        parameters=parameters | dict(settled),
        value=value,
        reason=reason,
        stages=tuple(stages) if len(stages) > 1 else (),
        seconds=time.perf_counter() - begin,
    )


def _best(known: Sequence[TrialRecord], higher_is_better: bool) -> TrialRecord:
    complete = [trial for trial in known if trial.state == "complete" and trial.value is not None]
    if not complete:
        first = next(trial for trial in known if failed(trial))
        status = "over_budget" if all(trial.state == "over_budget" for trial in known) else "failed"
        if (first.reason or "").startswith("out of memory"):
            status = "memory"
        every = f" (all {len(known)} trials failed)" if len(known) > 1 else ""
        raise JobFailure(status, f"{first.reason}{every}")
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
        distributions={name: kind for name, kind in distributions.items() if name in trial.parameters},
        value=trial.value,
        intermediate_values=dict(enumerate(stages)),
    )
