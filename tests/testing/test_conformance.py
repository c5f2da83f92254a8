"""Every algorithm against every promise, and the suite itself against algorithms that break one."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import recassay.algorithms
from recassay.algorithms.baselines import MostPop
from recassay.algorithms.kernels.scoring import FactorRecommender, ScoreRecommender
from recassay.core import registry
from recassay.core.specs.search import Choice, Real
from recassay.core.types import Interactions, TopK
from recassay.testing import ALGORITHM_CHECKS, ConformanceError, analysis_checks, check_algorithm, checks

ADAPTERS = {"ExternalProcess"}
"""Algorithms only with something of the user's; their own tests run the suite on examples."""

CHANCE = {"Random", "RatingMF"}
"""What need not find held-out items: chance, and a predictor of ratings (the example has none to learn from)."""


def _found() -> dict[str, type[Any]]:
    """Every public class of the package that has what an algorithm has."""
    classes: dict[str, type[Any]] = {}
    for module in pkgutil.iter_modules(recassay.algorithms.__path__):
        if module.ispkg:
            continue
        for name, value in vars(importlib.import_module(f"recassay.algorithms.{module.name}")).items():
            is_algorithm = all(hasattr(value, part) for part in ("name", "source", "space", "fit", "memory_bytes"))
            if inspect.isclass(value) and is_algorithm and not name.startswith("_") and name not in ADAPTERS:
                classes[value.name] = value
    return classes


FOUND = _found()


@pytest.mark.slow
@pytest.mark.parametrize("check", ALGORITHM_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", sorted(FOUND))
def test_promises(name: str, check: checks.Check) -> None:
    if name in CHANCE and check is checks.check_learns:
        with pytest.raises(ConformanceError, match="where chance finds"):
            check(FOUND[name])
        return
    check(FOUND[name])


def test_every_algorithm_is_registered_and_in_the_suite() -> None:
    registered = registry.algorithms.names()
    if not registered:
        pytest.skip("no algorithm is announced by an entry point in this installation")
    ours = [name for name in registered if registry.algorithms.origin(name).startswith("recassay ")]
    in_packages = {name for name in ours if ".neural" in str(registry.algorithms.get(name).__module__)}
    assert sorted(FOUND) == sorted(set(ours) - in_packages)


def test_every_check_is_in_the_list() -> None:
    written = {name for name, value in vars(checks).items() if name.startswith("check_") and inspect.isfunction(value)}
    assert written - {"check_algorithm", "check_external", "check_form"} == {
        check.__name__ for check in ALGORITHM_CHECKS
    }


class Popular(MostPop):
    """A good algorithm to break in one place."""

    name = "Broken"

    def changed(self, top: TopK, exclude: Any) -> TopK:
        return top

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Any:
        model = super().fit(train, rng=rng)
        outer = self

        class Model:
            def recommend(self, users: Any, k: int, *, exclude: Any) -> TopK:
                return outer.changed(model.recommend(users, k, exclude=exclude), exclude)

        return Model()


class Float64Scores(Popular):
    def changed(self, top: TopK, exclude: Any) -> TopK:
        return TopK(top.users, top.items, top.scores.astype(np.float64))


class Unsorted(Popular):
    def changed(self, top: TopK, exclude: Any) -> TopK:
        return TopK(top.users, top.items, -top.scores)


class Twice(Popular):
    def changed(self, top: TopK, exclude: Any) -> TopK:
        return TopK(top.users, np.repeat(top.items[:, :1], top.k, axis=1), top.scores)


class OtherUsers(Popular):
    def changed(self, top: TopK, exclude: Any) -> TopK:
        return TopK(top.users[::-1].copy(), top.items, top.scores)


class NotANumber(Popular):
    def changed(self, top: TopK, exclude: Any) -> TopK:
        return TopK(top.users, top.items, np.full_like(top.scores, np.nan))


class Shorter(Popular):
    def changed(self, top: TopK, exclude: Any) -> TopK:
        return top.cut(max(1, top.k - 1))


class ByBatch(Popular):
    def changed(self, top: TopK, exclude: Any) -> TopK:
        return TopK(top.users, np.roll(top.items, len(top.users), axis=1), top.scores)


class Moody(Popular):
    asked = 0

    def changed(self, top: TopK, exclude: Any) -> TopK:
        Moody.asked += 1
        return TopK(top.users, np.roll(top.items, Moody.asked, axis=1), top.scores)


class ShowsSeen(MostPop):
    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Any:
        model = super().fit(train, rng=rng)

        class Model:
            def recommend(self, users: Any, k: int, *, exclude: Any) -> TopK:
                return model.recommend(users, k, exclude=None)

        return Model()


class GlobalChance(MostPop):
    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Any:
        scores = np.random.rand(train.n_items).astype(np.float32)  # noqa: NPY002
        return ScoreRecommender(lambda users: np.tile(scores, (len(users), 1)), n_items=train.n_items, rng=rng)


class Writes(MostPop):
    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Any:
        train.item.sort()
        return super().fit(train, rng=rng)


class Hungry(MostPop):
    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Any:
        kept = [np.ones((4_000, 4_000)) for _ in range(2)]
        assert len(kept) == 2
        return super().fit(train, rng=rng)


class NoNumber(MostPop):
    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        return 0


class UnknownParameter(MostPop):
    space = {"depth": Real(0.0, 1.0, 0.5)}  # noqa: RUF012


class OutOfRange(MostPop):
    space = {"depth": Choice((1, 2), 3)}  # noqa: RUF012

    def __init__(self, depth: int = 3) -> None:
        self.depth = depth


class TwoDefaults(MostPop):
    space = {"depth": Choice((1, 2), 1)}  # noqa: RUF012

    def __init__(self, depth: int = 2) -> None:
        self.depth = depth


class Nameless(MostPop):
    name = " "


class OtherShared(MostPop):
    @staticmethod
    def shared(train: Interactions) -> int:
        return 1

    def fit(self, train: Interactions, *, rng: np.random.Generator, shared: int = 0) -> Any:
        if shared:
            ones = np.arange(train.n_items, dtype=np.float32)
            return ScoreRecommender(lambda users: np.tile(ones, (len(users), 1)), n_items=train.n_items, rng=rng)
        return super().fit(train, rng=rng)


class OtherEnd(MostPop):
    def fit_steps(self, train: Interactions, *, rng: np.random.Generator) -> Any:
        yield self.fit(train, rng=rng)
        ones = np.arange(train.n_items, dtype=np.float32)
        yield ScoreRecommender(lambda users: np.tile(ones, (len(users), 1)), n_items=train.n_items, rng=rng)


class NoSteps(MostPop):
    def fit_steps(self, train: Interactions, *, rng: np.random.Generator) -> Any:
        yield from ()


class LearnsNothing(MostPop):
    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Any:
        flat = np.zeros((train.n_items, 1), dtype=np.float32)
        return FactorRecommender(np.zeros((train.n_users, 1), dtype=np.float32), flat, rng=rng)


BROKEN: list[tuple[Callable[[], Any], str]] = [
    (Float64Scores, "gives scores as float64"),
    (Unsorted, "lists a better score after a worse one"),
    (Twice, "lists an item twice"),
    (OtherUsers, "answers for other users"),
    (NotANumber, "not a number"),
    (Shorter, "answers with lists of shape"),
    (ByBatch, "another list when the batch is another"),
    (Moody, "different answers for one seed|second time"),
    (ShowsSeen, "excluded items \\(seen in training\\)"),
    (GlobalChance, "different answers for one seed"),
    (Writes, "writes into an array"),
    (Hungry, "took .* bytes to fit"),
    (NoNumber, "not a positive whole number"),
    (UnknownParameter, "'depth', which its constructor does not take"),
    (OutOfRange, "outside its own range"),
    (TwoDefaults, "its constructor says 2"),
    (Nameless, "has no text in its attribute 'name'"),
    (OtherShared, "other lists with what `shared` prepared"),
    (OtherEnd, "ends `fit_steps` with another model"),
    (NoSteps, "yields no model"),
    (LearnsNothing, "where chance finds"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("broken", "sentence"), BROKEN, ids=lambda value: getattr(value, "__name__", ""))
def test_a_broken_promise_is_named(broken: Callable[[], Any], sentence: str) -> None:
    raised = []
    for check in ALGORITHM_CHECKS:
        if broken is Writes and check is not checks.check_inputs_kept:
            continue
        try:
            check(broken)
        except ConformanceError as error:
            raised.append(str(error))
    assert any(re.search(sentence, text) for text in raised), raised


def test_a_good_algorithm_passes_whole_and_checks_can_be_skipped() -> None:
    check_algorithm(MostPop)
    with pytest.raises(ConformanceError):
        check_algorithm(LearnsNothing)
    check_algorithm(LearnsNothing, skip={"check_learns"})


def test_two_results_with_other_tables_are_not_the_same():
    def result(value: float) -> Any:
        frames = {"values": pl.DataFrame({"value": [value]})}
        return SimpleNamespace(frames=lambda: frames, to_dict=dict)

    assert analysis_checks._same(result(1.0), result(1.0))
    assert not analysis_checks._same(result(1.0), result(2.0))
