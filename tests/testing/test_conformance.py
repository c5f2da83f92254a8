"""Every algorithm against every promise, and the suite itself against algorithms that break one."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import recassay.algorithms
import recassay.algorithms.sequential
from recassay.algorithms.baselines import MostPop
from recassay.algorithms.kernels.scoring import FactorRecommender, ScoreRecommender
from recassay.algorithms.linear import EASE
from recassay.algorithms.sequential.rules import MarkovChain
from recassay.api.study.check import TUNE, CheckResult
from recassay.core import registry
from recassay.core.histories import Histories
from recassay.core.specs.search import Choice, Real
from recassay.core.types import Interactions, TopK
from recassay.testing import (
    ALGORITHM_CHECKS,
    ConformanceError,
    analysis_checks,
    check_algorithm,
    check_external,
    checks,
    learnable_tastes,
)
from recassay.testing.answers import alike, check_form, disturbed_chance
from recassay.testing.rules import BrokenRule, try_rules

ADAPTERS = {"ExternalProcess"}
"""Algorithms only with something of the user's; their own tests run the suite on examples."""

CHANCE = {"Random", "RatingMF"}
"""What need not find held-out items: chance, and a predictor of ratings (the example has none to learn from)."""


def _found() -> dict[str, type[Any]]:
    """Every public class of the package that has what an algorithm has."""
    classes: dict[str, type[Any]] = {}
    modules = [*pkgutil.iter_modules(recassay.algorithms.__path__, "recassay.algorithms.")]
    modules += pkgutil.iter_modules(recassay.algorithms.sequential.__path__, "recassay.algorithms.sequential.")
    for module in modules:
        if module.ispkg:
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
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


def test_what_an_algorithm_in_an_environment_of_its_own_is_not_asked() -> None:
    left_out = [check.__name__ for check in ALGORITHM_CHECKS if check not in checks.EXTERNAL_CHECKS]
    assert left_out == [
        "check_repeatable_lists", "check_batches", "check_prefix", "check_fold_in", "check_histories", "check_times",
        "check_one_user", "check_one_item", "check_no_users_asked", "check_inputs_kept", "check_memory", "check_shared",
        "check_stages",
    ]  # fmt: skip
    assert set(checks.EXTERNAL_CHECKS) < set(ALGORITHM_CHECKS)


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


class NoSource(MostPop):
    source = ""


class PartsOfBytes(MostPop):
    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> float:
        return 1e12 + 0.5


class Forces(MostPop):
    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Any:
        train.time.flags.writeable = True
        train.time[0] += 1
        return super().fit(train, rng=rng)


class Fails(MostPop):
    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Any:
        raise ValueError("no luck")


class AnyArguments(MostPop):
    space = {"depth": Real(0.0, 1.0, 0.5)}  # noqa: RUF012

    def __init__(self, *several: int, **more: float) -> None:
        self.more = more


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


class ByLength(Popular):
    def changed(self, top: TopK, exclude: Any) -> TopK:
        return TopK(top.users, np.roll(top.items, top.k // 5, axis=1), top.scores)


class OwnSeen(MostPop):
    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Any:
        model = super().fit(train, rng=rng)

        class Model:
            def recommend(self, users: Any, k: int, *, exclude: Any) -> TopK:
                return model.recommend(users, k, exclude=train.csr())

        return Model()


class NobodysLists(Popular):
    def changed(self, top: TopK, exclude: Any) -> TopK:
        return top if len(top.users) else top.cut(6)


class LessForMore(MostPop):
    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        return 10**12 // n_users


class TooLow(MostPop):
    space = {"depth": Real(0.5, 1.0, 0.25)}  # noqa: RUF012

    def __init__(self, depth: float = 0.25) -> None:
        self.depth = depth


class TooHigh(TooLow):
    space = {"depth": Real(0.1, 0.2, 0.25)}  # noqa: RUF012


class NeedsDepth(MostPop):
    def __init__(self, depth: int) -> None:
        self.depth = depth


class FoldsOtherwise(EASE):
    """Gives a user and the history of the user different lists, by the first item of a history."""

    name = "Broken"

    def fit(self, train: Interactions, *, rng: np.random.Generator, **more: Any) -> Any:
        model = super().fit(train, rng=rng)

        class Model:
            recommend = model.recommend

            def recommend_from(self, histories: Histories, k: int, *, exclude: Any) -> TopK:
                return self.changed(model, histories, k, exclude)

            def changed(self, model: Any, histories: Histories, k: int, exclude: Any) -> TopK:
                return model.recommend_from(histories.last(1), k, exclude=exclude)

        return Model()


class FoldsRoughly(FoldsOtherwise):
    """Says so, and depends on the order all the same."""

    folds_in_exactly = False

    def fit(self, train: Interactions, *, rng: np.random.Generator, **more: Any) -> Any:
        model = super().fit(train, rng=rng)
        type(model).changed = lambda self, inner, histories, k, exclude: inner.recommend_from(
            histories.last(8), k, exclude=exclude
        )
        return model


class SaysItReadsOrder(EASE):
    """Does not."""

    name = "Broken"
    reads_order = True


class FoldsInBatches(FoldsOtherwise):
    """Leaves `exclude` out of account where one history is asked for."""

    def fit(self, train: Interactions, *, rng: np.random.Generator, **more: Any) -> Any:
        model = super().fit(train, rng=rng)
        type(model).changed = lambda self, inner, histories, k, exclude: inner.recommend_from(
            histories, k, exclude=None if len(histories) == 1 else exclude
        )
        return model


class ReadsRows(MarkovChain):
    """Takes events in the order of their rows."""

    name = "Broken"

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Any:
        return super().fit(replace(train, time=None), rng=rng)


BROKEN: list[tuple[Callable[..., None], Callable[[], Any], str]] = [
    (checks.check_prefix, ByLength, "another beginning when a longer list"),
    (checks.check_excludes, OwnSeen, "excluded items \\(only in `exclude`\\)"),
    (checks.check_no_users_asked, NobodysLists, "shape \\(0, 6\\) for no users and 7 items"),
    (checks.check_memory, LessForMore, "less memory for a hundred times the data"),
    (checks.check_declaration, TooLow, "has the default 0.25 of 'depth' outside"),
    (checks.check_declaration, TooHigh, "has the default 0.25 of 'depth' outside"),
    (checks.check_declaration, lambda: NeedsDepth(1), "cannot be made without the argument 'depth'"),
    (checks.check_declaration, NoSource, "has no text in its attribute 'source'"),
    (checks.check_memory, PartsOfBytes, "not a positive whole number"),
    (checks.check_inputs_kept, Forces, "changes train.time"),
    (checks.check_lists, Float64Scores, "gives scores as float64"),
    (checks.check_lists, Unsorted, "lists a better score after a worse one"),
    (checks.check_lists, Twice, "lists an item twice"),
    (checks.check_lists, OtherUsers, "answers for other users"),
    (checks.check_lists, NotANumber, "not a number"),
    (checks.check_lists, Shorter, "answers with lists of shape"),
    (checks.check_batches, ByBatch, "another list when the batch is another"),
    (checks.check_deterministic, Moody, "different answers for one seed|second time"),
    (checks.check_excludes, ShowsSeen, "excluded items \\(seen in training\\)"),
    (checks.check_deterministic, GlobalChance, "different answers for one seed"),
    (checks.check_inputs_kept, Writes, "writes into an array"),
    (checks.check_memory, Hungry, "took .* bytes to fit"),
    (checks.check_memory, NoNumber, "not a positive whole number"),
    (checks.check_declaration, UnknownParameter, "'depth', which its constructor does not take"),
    (checks.check_declaration, OutOfRange, "outside its own range"),
    (checks.check_declaration, TwoDefaults, "its constructor says 2"),
    (checks.check_declaration, Nameless, "has no text in its attribute 'name'"),
    (checks.check_shared, OtherShared, "other lists with what `shared` prepared"),
    (checks.check_stages, OtherEnd, "ends `fit_steps` with another model"),
    (checks.check_stages, NoSteps, "yields no model"),
    (checks.check_learns, LearnsNothing, "where chance finds"),
    (checks.check_fold_in, FoldsOtherwise, "another list than the user's own history"),
    (checks.check_fold_in, FoldsRoughly, "when a history is in another order"),
    (checks.check_fold_in, SaysItReadsOrder, "the same lists when all histories are turned round"),
    (checks.check_histories, FoldsInBatches, "gives a history another list when the batch is another"),
    (checks.check_times, ReadsRows, "when the rows of training stand in another order"),
]


@pytest.mark.parametrize(("check", "broken", "sentence"), BROKEN, ids=lambda value: getattr(value, "__name__", ""))
def test_a_broken_promise_is_named(check: Callable[..., None], broken: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(ConformanceError, match=sentence):
        check(broken)


def test_a_good_algorithm_passes_whole_and_checks_can_be_skipped() -> None:
    check_algorithm(MostPop)
    with pytest.raises(ConformanceError):
        check_algorithm(LearnsNothing)
    check_algorithm(LearnsNothing, skip={"check_learns"})
    with pytest.raises(ConformanceError, match="where chance finds"):
        check_external(LearnsNothing)
    with pytest.raises(ValueError, match="no luck"):
        checks.check_inputs_kept(Fails)
    check_external(NoNumber)  # how much memory it needs is not asked there
    checks.check_declaration(AnyArguments)


def test_two_results_with_other_tables_are_not_the_same():
    def result(value: float, *more: str, **told: float) -> Any:
        frames = {name: pl.DataFrame({"value": [value]}) for name in ("values", *more)}
        return SimpleNamespace(frames=lambda: frames, to_dict=lambda: told)

    assert analysis_checks._same(result(1.0), result(1.0))
    assert not analysis_checks._same(result(1.0), result(2.0))
    assert not analysis_checks._same(result(1.0), result(1.0, "more"))
    assert not analysis_checks._same(result(1.0, "one", "other"), result(1.0, "other", "one"))
    assert analysis_checks._same(result(1.0, best=2.0), result(1.0, best=2.0))
    assert not analysis_checks._same(result(1.0, best=2.0), result(1.0, best=3.0))


FORMS = [
    ([[0, 1, -1]], [[2.0, 1.0, -np.inf]], None),
    ([[0, 0, -1]], [[2.0, 1.0, -np.inf]], "lists an item twice for one user"),
    ([[0, 5, -1]], [[2.0, 1.0, -np.inf]], "lists an item that is not in the catalogue"),
    ([[0, -2, -1]], [[2.0, 1.0, -np.inf]], "lists an item that is not in the catalogue"),
    ([[0, -1, 1]], [[2.0, -np.inf, -np.inf]], "lists an item after the end of a list (-1)"),
    ([[0, 1, -1]], [[2.0, 1.0, 0.0]], "gives a score other than -inf to item -1"),
    ([[0, 1, -1]], [[np.inf, 1.0, -np.inf]], "gives an infinite score to a listed item"),
    ([[0, 1, -1]], [[1.0, 2.0, -np.inf]], "lists a better score after a worse one"),
    ([[0, 1, -1]], [[1.0, np.nan, -np.inf]], "gives a score that is not a number"),
    ([[0, 4, -1]], [[1.0, 1.0, -np.inf]], None),
]


@pytest.mark.parametrize(("items", "scores", "sentence"), FORMS)
def test_the_form_of_lists(items, scores, sentence) -> None:
    users = np.array([3], dtype=np.int32)
    top = TopK(users, np.array(items, dtype=np.int32), np.array(scores, dtype=np.float32))
    if sentence is None:
        check_form(MostPop(), top, users, 3, 5)
        return
    with pytest.raises(ConformanceError, match=re.escape(sentence)):
        check_form(MostPop(), top, users, 3, 5)


def test_items_and_scores_have_their_types() -> None:
    users = np.array([3], dtype=np.int32)
    items, scores = np.array([[0]], dtype=np.int32), np.array([[1.0]], dtype=np.float32)
    with pytest.raises(ConformanceError, match="lists items as int64, not int32"):
        check_form(MostPop(), TopK(users, items.astype(np.int64), scores), users, 1, 5)
    with pytest.raises(ConformanceError, match=re.escape("answers with lists of shape (1, 1), not (1, 2)")):
        check_form(MostPop(), TopK(users, items, scores), users, 2, 5)


def test_answers_are_alike_up_to_rounding() -> None:
    def top(items, scores):
        return TopK(np.array([0], dtype=np.int32), np.array([items]), np.array([scores], dtype=np.float32))

    first = top([0, 1], [1.0, 0.5])
    assert alike(first, first)
    assert not alike(first, top([1, 0], [1.0, 0.5])), "equal scores, other items"
    assert alike(first, top([1, 0], [1.0005, 0.5])), "scores that differ in rounding may change the order"
    assert not alike(first, top([0, 1], [1.01, 0.5]))
    assert not alike(first, top([0, -1], [1.0, -np.inf]))
    assert not alike(top([0, -1], [1.0, -np.inf]), first)
    assert not alike(first, top([0], [1.0]))


@pytest.mark.parametrize(("hits", "learns"), [(95, False), (96, True)])
def test_learning_is_twice_what_chance_finds(hits, learns) -> None:
    """240 users with 3 held-out items each; 10 of 151 open items are listed: twice chance are 95.4 hits."""
    relevant = learnable_tastes()[1].csr().toarray() > 0

    class Knows(MostPop):
        def fit(self, train: Interactions, *, rng: np.random.Generator) -> Any:
            return self

        def recommend(self, users: Any, k: int, *, exclude: Any) -> TopK:
            closed = relevant | (exclude.toarray() > 0)
            items = np.argsort(closed[users], axis=1, kind="stable")[:, :k].astype(np.int32)
            items[:hits, 0] = relevant[users[:hits]].argmax(axis=1)
            return TopK(users, items, np.tile(-np.arange(k, dtype=np.float32), (len(users), 1)))

    if learns:
        checks.check_learns(Knows)
        return
    with pytest.raises(ConformanceError, match=r"finds 0.132 of the held-out items .*, where chance finds 0.066"):
        checks.check_learns(Knows)


def test_places_without_an_item_are_no_hits() -> None:
    """Item 0 is held out for many; a list that is empty does not find it."""

    class ListsNothing(Popular):
        def changed(self, top: TopK, exclude: Any) -> TopK:
            return TopK(top.users, np.full_like(top.items, -1), np.full_like(top.scores, -np.inf))

    with pytest.raises(ConformanceError, match=r"finds 0.000 of the held-out items"):
        checks.check_learns(ListsNothing)


def test_rules_are_told_with_the_line_that_broke_them(tmp_path) -> None:
    def kept(kind: Any) -> None:
        """It is
        kept."""

    def broken(kind: Any) -> None:
        """It holds."""
        raise ConformanceError("is wrong", where="Mine")

    def of_a_method(kind: Any) -> None:
        raise ConformanceError("recommend lists nothing", where="Mine")

    def raising(kind: Any) -> None:
        """It runs."""
        code = "def fit():\n\n    raise ValueError('no luck')\n\n\nfit()"
        exec(compile(code, str(tmp_path / "mine.py"), "exec"), {})  # noqa: S102

    rules, found = try_rules(MostPop, [kept, broken, of_a_method, raising], "mine.py")
    assert rules == ["It is kept."]
    assert [(one.rule, one.sentence()) for one in found] == [
        ("It holds.", "It is wrong"),
        ("of_a_method", "Its recommend lists nothing"),
        ("It runs.", "It raises ValueError: no luck (mine.py, line 3)"),
    ]
    assert try_rules(MostPop, [raising], "other.py")[1][0].where == ""

    def told(words: str) -> str:
        def breaks(kind: Any) -> None:
            raise ConformanceError(words, where="Mine")

        return try_rules(MostPop, [breaks], "mine.py")[1][0].problem

    assert [told(f"{name} fails") for name in ("fit", "score", "memory_bytes", "fits")] == [
        "Its fit fails", "Its score fails", "Its memory_bytes fails", "It fits fails"
    ]  # fmt: skip


def test_a_check_says_whether_an_algorithm_is_ready() -> None:
    ready = CheckResult("Mine", ("depth", "reg"), ("It has a name.",), (), 1.25)
    assert ready.verdict() == ["Mine is ready: it keeps all 1 rules (1.2 s; tuning varies depth, reg)."]
    plain = CheckResult("Mine", (), ("It has a name.",), (), 1.25, "It finds little")
    assert plain.verdict() == [
        "Mine is ready: it keeps all 1 rules (1.2 s; nothing is tuned).",
        TUNE,
        "Caution: It finds little. It may run; its parameters may not suit so small a dataset.",
    ]
    rule = BrokenRule("It holds.", "It is wrong", "mine.py, line 3")
    broken = CheckResult("Mine", (), ("It has a name.",), (rule,), 1.25)
    assert broken.verdict() == [
        "Mine breaks 1 of 2 rules.", "It is wrong (mine.py, line 3). Rule: It holds.",
    ]  # fmt: skip
    assert (ready.to_dict()["ready"], broken.to_dict()["ready"]) == (True, False)
    assert broken.to_frame().rows() == [
        ("It holds.", False, "It is wrong", "mine.py, line 3"), ("It has a name.", True, "", ""),
    ]  # fmt: skip


@pytest.mark.parametrize(("promised", "kept"), [(10_000_000, False), (22_000_000, True)])
def test_a_promise_of_memory_covers_half_of_what_is_taken(promised, kept) -> None:
    """Forty million bytes are taken."""

    class Taking(MostPop):
        def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
            return promised

        def fit(self, train: Interactions, *, rng: np.random.Generator) -> Any:
            taken = np.ones(5_000_000)
            assert taken.size
            return super().fit(train, rng=rng)

    if kept:
        checks.check_memory(Taking)
        return
    with pytest.raises(ConformanceError, match=r"took 4\d,\d{3},\d{3} bytes to fit .* and said 10,000,000"):
        checks.check_memory(Taking)


class OnlyUnseen(MostPop):
    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Any:
        model = super().fit(train, rng=rng)

        class Model:
            def recommend(self, users: Any, k: int, *, exclude: Any) -> TopK:
                return model.recommend(users, k if exclude is not None else k + 1, exclude=exclude)

        return Model()


class UsedUp(OtherShared):
    @staticmethod
    def shared(train: Interactions) -> Any:
        return [0]

    def fit(self, train: Interactions, *, rng: np.random.Generator, shared: Any = None) -> Any:
        if shared is None:
            return super().fit(train, rng=rng)
        shared[0] += 1
        return super().fit(train, rng=rng, shared=shared[0] - 1)


class OtherSecondTime(Popular):
    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Any:
        self.asked = 0
        return super().fit(train, rng=rng)

    def changed(self, top: TopK, exclude: Any) -> TopK:
        self.asked += 1
        return TopK(top.users, np.roll(top.items, self.asked, axis=1), top.scores)


class OnlyWithHistory(MostPop):
    side = "user"

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Any:
        names = train.n_users if self.side == "user" else train.n_items
        if len(np.unique(getattr(train, self.side))) < 0.9 * names:
            raise ZeroDivisionError
        return super().fit(train, rng=rng)


class OnlyWithItems(OnlyWithHistory):
    side = "item"


@pytest.mark.parametrize(
    ("check", "broken", "sentence"),
    [
        (checks.check_lists, OnlyUnseen, r"lists of shape \(240, 11\), not \(240, 10\)"),
        (checks.check_shared, UsedUp, "gives other lists with what `shared` prepared"),
        (checks.check_repeatable_lists, OtherSecondTime, "when it is asked a second time"),
    ],
)
def test_a_promise_that_is_broken_the_second_time_or_with_seen_items(check, broken, sentence) -> None:
    with pytest.raises(ConformanceError, match=sentence):
        check(broken)


class ScoresOfChance(Popular):
    def changed(self, top: TopK, exclude: Any) -> TopK:
        return TopK(top.users, top.items, top.scores + np.float32(np.random.rand()))  # noqa: NPY002


class ItemsOfChance(Popular):
    def changed(self, top: TopK, exclude: Any) -> TopK:
        return TopK(top.users, np.roll(top.items, np.random.randint(1000), axis=1), top.scores)  # noqa: NPY002


@pytest.mark.parametrize("broken", [ScoresOfChance, ItemsOfChance])
def test_one_seed_gives_the_same_items_and_the_same_scores(broken) -> None:
    with pytest.raises(ConformanceError, match="gives two different answers for one seed"):
        checks.check_deterministic(broken)


PARTS = ("users", *(f"train.{name}" for name in ("user", "item", "weight", "time")),
         *(f"exclude.{name}" for name in ("data", "indices", "indptr")))  # fmt: skip


@pytest.mark.parametrize("part", PARTS)
def test_whatever_was_given_must_be_the_same_afterwards(part) -> None:
    def force(array: Any) -> None:
        array.flags.writeable = True
        array[-1] += 1

    class Forced(MostPop):
        def fit(self, train: Interactions, *, rng: np.random.Generator) -> Any:
            model = super().fit(train, rng=rng)

            class Model:
                def recommend(self, users: Any, k: int, *, exclude: Any) -> TopK:
                    top = model.recommend(users, k, exclude=exclude)
                    owner, _, name = part.rpartition(".")
                    force(users if not owner else getattr({"train": train, "exclude": exclude}[owner], name))
                    return top

            return Model()

    with pytest.raises(ConformanceError, match=rf"^MostPop: changes {part}$"):
        checks.check_inputs_kept(Forced)


def test_users_and_items_without_an_event_are_tried() -> None:
    checks.check_items_without_history(OnlyWithHistory)
    checks.check_users_without_history(OnlyWithItems)
    with pytest.raises(ZeroDivisionError):
        checks.check_users_without_history(OnlyWithHistory)
    with pytest.raises(ZeroDivisionError):
        checks.check_items_without_history(OnlyWithItems)


def test_the_global_generator_is_as_it_was_before_a_check() -> None:
    np.random.seed(5)  # noqa: NPY002
    expected = np.random.RandomState(5).rand(2)
    with disturbed_chance(1):
        assert np.random.rand() == np.random.RandomState(1).rand()  # noqa: NPY002
    with pytest.raises(ConformanceError), disturbed_chance(2):
        raise ConformanceError("broken", where="Mine")
    assert np.random.rand(2).tolist() == expected.tolist()  # noqa: NPY002
