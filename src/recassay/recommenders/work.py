"""What a job of a cell works on: specification, algorithm, split and memory; and its trials on the validation part."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from recassay.core.errors import InputError, RecAssayError
from recassay.core.judgements import Judgements
from recassay.core.seeds import derived_rng
from recassay.core.specs.study import LIST_DEPTH
from recassay.core.types import IdArray, Interactions, Recommender, Split
from recassay.metrics.evaluate import evaluate
from recassay.metrics.judgements import folding, judge, no_histories
from recassay.metrics.protocol import Metric
from recassay.metrics.recommend import recommend_all
from recassay.protocol.targets import judgements
from recassay.recommenders.payload import CellJob
from recassay.recommenders.references import load_algorithm, refuse_other_split
from recassay.recommenders.splits import load_split, split_record
from recassay.runner.jobs import CHECKED, Emit, JobFailure
from recassay.runner.memory import resident_bytes


class Work:
    """What a cell works on; `emit` hears that the files of its split are sound."""

    def __init__(self, job: CellJob, emit: Emit) -> None:
        self.spec, self.folder = job.cell, job.folder
        self.kind = load_algorithm(job.reference, job.base)
        record = split_record(self.folder, self.spec.split.id)
        refuse_other_split(self.kind, record.fingerprint, self.spec.dataset)
        if self.spec.split.protocol.target != "all" and not getattr(self.kind, "folds_in", True):
            raise no_histories(self.spec.algorithm)
        self.sizes = record.sizes
        self.memory_limit, self.limit_in_words = job.memory, job.memory_in_words
        self._checked, self._emit = job.checked, emit

    @cached_property
    def split(self) -> Split:
        """The parts, read when they are first asked for."""
        place = (self.folder, self.spec.split.id)
        return load_split(*place, checked=self._checked, note=lambda state: self._emit({CHECKED: state}))

    def declared_memory(self, parameters: Mapping[str, Any], method: str = "memory_bytes") -> int | None:
        """What the algorithm says it needs on the final training part, None where it says nothing."""
        return declared_memory(self.kind(**parameters), self.sizes, method)

    def refuse_over_budget(self, parameters: Mapping[str, Any]) -> int | None:
        """The declared memory, unless it exceeds what the budget leaves beside what the process already holds."""
        return refuse_over_budget(self.kind(**parameters), self.sizes, self.memory_limit, self.limit_in_words)


def declared_memory(algorithm: Any, sizes: tuple[int, int, int], method: str = "memory_bytes") -> int | None:
    """What an algorithm says it needs for so many users, items and interactions, None where it says nothing."""
    if not hasattr(algorithm, method):
        return None
    needed = getattr(algorithm, method)(*sizes)
    if not isinstance(needed, (int, float, np.number)) or not 0 <= needed < float("inf"):
        raise RecAssayError(f"its {method} returned {needed!r}, which is not a number of bytes")
    return int(needed)


def refuse_over_budget(
    algorithm: Any, sizes: tuple[int, int, int], limit: int | None, limit_in_words: str
) -> int | None:
    """The declared memory, unless it exceeds what the `limit` leaves beside what the process already holds."""
    needed = declared_memory(algorithm, sizes)
    if needed is not None and limit is not None:
        held = resident_bytes()
        if needed + held > limit:
            instead = getattr(algorithm, "instead", None)
            raise JobFailure(
                "over_budget",
                f"would need about {(needed + held) / 1e9:,.3g} GB, and {limit_in_words} {limit / 1e9:.3g}"
                + (f" ({instead})" if instead else ""),
            )
    return needed


@dataclass(frozen=True, slots=True)
class Stage:
    """The objective after a stage of training.

    `settled` is what makes this stage a model of its own: the parameters (a number of epochs) with which a training
    from the start would end here. Empty where only the last stage is a model that can be asked for again.

    `on_all`, where it is given, computes the objective on all users: `value` is then an estimate on a sample of them,
    enough to see when training should stop.
    """

    value: float
    settled: Mapping[str, Any] = field(default_factory=dict)
    on_all: Callable[[], float] | None = None


USERS_A_STAGE = 2000
"""Users on whom a stage of training is judged; where there are more, only the best stage of a trial meets them all."""


Truth: TypeAlias = csr_array | Judgements
"""What trials are judged on: the relevant items of all users, or targets after histories."""


class Validation:
    """Trials on the validation part: what does not depend on parameters is computed once."""

    def __init__(self, work: Work, fixed: Mapping[str, Any], objective: Metric) -> None:
        self.work, self.fixed, self.objective = work, fixed, objective
        self.train, self.valid = work.split.train, work.split.valid
        self.given = self.train.read_only()
        if not len(self.valid):
            raise InputError(
                "tuning needs a validation part, and it is empty", fix="use another split, or tuning.trials = 0"
            )
        self.seen: csr_array = self.train.csr()
        self.barred = work.split.barred(self.seen)
        target = work.spec.split.protocol.target
        asked = None if target == "all" else judgements(work.split, target, "valid")
        self.users = users_of(self.valid) if asked is None else asked.judged()
        self.truth: Truth = self.valid.csr() if asked is None else asked
        self.sampled = len(self.users) > USERS_A_STAGE
        if self.sampled:
            rng = derived_rng(work.spec.search_seed, "validation", work.spec.dataset)
            self.some_users = np.sort(rng.choice(self.users, USERS_A_STAGE, replace=False))
            self.some_truth: Truth = (
                self.valid.take(np.isin(self.valid.user, self.some_users)).csr()
                if asked is None
                else asked.of_users(self.some_users)
            )
        self._shared: dict[str, Any] | None = None

    def stages(self, parameters: Mapping[str, Any], number: int) -> Iterator[Stage]:
        """The objective of a model of the training part, after each stage where the algorithm reports stages.

        An algorithm that names in `stopped_by` the parameter that counts its iterations is always followed by stages.
        """
        chosen = {**self.fixed, **parameters}
        self.work.refuse_over_budget(chosen)
        algorithm, spec = self.work.kind(**chosen), self.work.spec
        rng = derived_rng(spec.search_seed, "fit", spec.dataset, spec.algorithm, "trial", str(number))
        counter = getattr(algorithm, "stopped_by", None)
        steps = getattr(algorithm, "fit_steps", None) if spec.tuning.staged or counter else None
        if steps is not None:
            for recommender in steps(self.given, rng=rng, **self._shared_for(steps)):
                settled = {counter: recommender.iterations} if counter and counter not in parameters else {}
                on_all = partial(self._judge, recommender, self.users, self.truth)
                if self.sampled:
                    yield Stage(self._judge(recommender, self.some_users, self.some_truth), settled, on_all)
                else:
                    yield Stage(on_all(), settled)
        else:
            recommender = algorithm.fit(self.given, rng=rng, **self._shared_for(algorithm.fit))
            yield Stage(self._judge(recommender, self.users, self.truth))

    def _shared_for(self, method: Any) -> dict[str, Any]:
        if not hasattr(self.work.kind, "shared") or "shared" not in inspect.signature(method).parameters:
            return {}
        if self._shared is None:
            self._shared = {"shared": self.work.kind.shared(self.given)}
        return self._shared

    def _judge(self, recommender: Recommender, users: IdArray, truth: Truth) -> float:
        depth = self.objective.k or LIST_DEPTH
        if isinstance(truth, Judgements):
            after = folding(recommender, self.work.spec.algorithm)
            judged, _ = judge(after, truth, [self.objective], train=self.train, depth=depth)
            return judged.mean()[self.objective.label]
        top = recommend_all(recommender, users, depth, exclude=self.barred, n_items=self.train.n_items)
        return evaluate(top, truth, [self.objective], train=self.seen).mean()[self.objective.label]


def users_of(part: Interactions) -> IdArray:
    """The users of a part, each once."""
    return np.unique(part.user).astype(np.int32)
