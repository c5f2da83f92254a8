"""Trials of a cell on the validation part."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from recassay.core.errors import InputError
from recassay.core.seeds import derived_rng
from recassay.core.specs.study import LIST_DEPTH
from recassay.core.types import IdArray, Interactions, Recommender
from recassay.metrics.evaluate import evaluate
from recassay.metrics.protocol import Metric
from recassay.metrics.recommend import recommend_all
from recassay.recommenders.work import Stage, Work

USERS_A_STAGE = 2000
"""Users on whom a stage of training is judged; where there are more, only the best stage of a trial meets them all."""


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
        self.truth: csr_array = self.valid.csr()
        self.users = users_of(self.valid)
        self.sampled = len(self.users) > USERS_A_STAGE
        if self.sampled:
            rng = derived_rng(work.spec.search_seed, "validation", work.spec.dataset)
            self.some_users = np.sort(rng.choice(self.users, USERS_A_STAGE, replace=False))
            self.some_truth = self.valid.take(np.isin(self.valid.user, self.some_users)).csr()
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

    def _judge(self, recommender: Recommender, users: IdArray, truth: csr_array) -> float:
        depth = self.objective.k or LIST_DEPTH
        top = recommend_all(recommender, users, depth, exclude=self.barred, n_items=self.train.n_items)
        return evaluate(top, truth, [self.objective], train=self.seen).mean()[self.objective.label]


def users_of(part: Interactions) -> IdArray:
    """The users of a part, each once."""
    return np.unique(part.user).astype(np.int32)
