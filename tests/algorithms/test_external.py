"""Adapters: models in the style of implicit, files of recommendations, plugins from a user's own file."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest

import recassay
from recassay.algorithms.baselines import MostPop
from recassay.algorithms.external.models import Wrapped, broken_rules, wrap
from recassay.algorithms.external.plugins import as_algorithm, load_plugin
from recassay.core.errors import InputError, RecAssayError, UsageError
from recassay.core.histories import FoldsIn, Histories
from recassay.core.specs.search import Real
from recassay.core.types import Interactions
from recassay.recommenders.references import (
    ListedAlgorithm,
    listed_algorithm,
    load_algorithm,
    refuse_other_data,
    refuse_other_split,
)
from recassay.testing import ALGORITHM_CHECKS, check_algorithm, check_external, example_interactions, learnable_tastes
from recassay.testing.checks import Check, check_fold_in, check_histories
from support.made import everyone


class PopularModel:
    """What implicit's models look like from outside."""

    def __init__(self, power: float = 1.0, random_state: int | None = None) -> None:
        self.power, self.random_state = power, random_state

    def fit(self, matrix: Any, show_progress: bool = True) -> None:
        assert not show_progress
        assert matrix.format == "csr"
        self.score = np.asarray(matrix.sum(axis=0)).ravel() ** self.power

    def recommend(
        self, userid: Any, user_items: Any, N: int = 10, filter_already_liked_items: bool = True
    ) -> tuple[Any, Any]:
        scores = np.tile(self.score, (len(userid), 1))
        if filter_already_liked_items:
            scores[user_items.toarray() > 0] = np.finfo(np.float32).min
        order = np.argsort(-scores, axis=1, kind="stable")[:, :N]
        return order, np.take_along_axis(scores, order, axis=1)


class PlainModel(PopularModel):
    """The same without a filter."""

    def recommend(self, userid: Any, user_items: Any, N: int = 10) -> tuple[Any, Any]:  # type: ignore[override]
        return super().recommend(userid, user_items, N, False)


class WrongShape(PopularModel):
    def recommend(self, userid: Any, user_items: Any, N: int = 10) -> tuple[Any, Any]:  # type: ignore[override]
        return np.zeros(N, dtype=int), np.zeros(N)


class WrongIds(PopularModel):
    def recommend(self, userid: Any, user_items: Any, N: int = 10) -> tuple[Any, Any]:  # type: ignore[override]
        return np.full((len(userid), N), 10**6), np.zeros((len(userid), N))


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.mark.parametrize("model", [PopularModel, PlainModel])
@pytest.mark.parametrize("check", ALGORITHM_CHECKS, ids=lambda check: check.__name__)
def test_an_adapted_model_keeps_every_promise(check: Check, model: type) -> None:
    check(wrap(model))


@pytest.mark.parametrize("model", [PopularModel, PlainModel])
def test_adapted_lists_have_the_scores_of_ours(model: type) -> None:
    train, test = learnable_tastes()
    for exclude in (None, train.csr(), test.csr()):
        theirs = wrap(model)().fit(train, rng=rng()).recommend(everyone(train), 10, exclude=exclude)
        ours = MostPop().fit(train, rng=rng()).recommend(everyone(train), 10, exclude=exclude)
        np.testing.assert_array_equal(theirs.scores, ours.scores)


def test_parameters_and_instances_reach_the_model() -> None:
    train, _ = learnable_tastes()
    squared = wrap(PopularModel, name="Squared")(power=2.0)
    top = squared.fit(train, rng=rng()).recommend(everyone(train), 3, exclude=None)
    made = PopularModel(power=2.0)
    same = wrap(made)().fit(train, rng=rng()).recommend(everyone(train), 3, exclude=None)
    assert squared.name == "Squared"
    np.testing.assert_array_equal(top.scores, same.scores)
    assert top.scores[0, 0] == np.bincount(train.item).max() ** 2
    assert made.random_state is None
    assert not hasattr(made, "score")


class AfterTheLast:
    """The neighbours of the last item, by number: a class of one's own that reads histories."""

    reads_order = True
    shape = 0

    def fit(self, train: Interactions) -> None:
        self.train = train

    def score(self, users: Any) -> Any:
        return self.score_after(Histories.of(self.train, users))

    def score_after(self, histories: Histories) -> Any:
        scores = np.zeros((len(histories), self.train.n_items + self.shape), dtype=np.float32)
        last = histories.last(1)
        rows = np.flatnonzero(last.lengths())
        scores[rows] = -np.abs(np.arange(scores.shape[1]) - last.items[:, None])
        return scores


def test_a_class_of_ones_own_may_be_asked_after_histories() -> None:
    train, _ = learnable_tastes()
    kind = wrap(AfterTheLast)
    model = kind().fit(train, rng=rng())
    assert isinstance(model, FoldsIn)
    assert not isinstance(wrap(PopularModel)().fit(train, rng=rng()), FoldsIn)
    asked = Histories(np.array([3, 20, 9], dtype=np.int32), np.array([0, 2, 3]))
    top = model.recommend_from(asked, 3, exclude=asked.csr(train.n_items))
    assert [set(row) for row in top.items[:, :2].tolist()] == [{19, 21}, {8, 10}]
    check_histories(kind)
    check_fold_in(kind)
    AfterTheLast.shape = 1
    try:
        with pytest.raises(RecAssayError, match=r"score_after\(histories\) answers with shape \(2, 161\)"):
            model.recommend_from(asked, 3, exclude=None)
    finally:
        AfterTheLast.shape = 0


def test_what_is_no_model_is_refused() -> None:
    train, _ = learnable_tastes()
    with pytest.raises(InputError, match=r"it has no method fit\(train\); it has neither recommend"):
        wrap(object)
    with pytest.raises(UsageError, match="for a model that is already made"):
        wrap(PopularModel())(power=2.0)
    for model, message in ((WrongShape, "answers 128 users with lists of other"), (WrongIds, "lists item 1000000")):
        with pytest.raises(RecAssayError, match=message):
            wrap(model)().fit(train, rng=rng()).recommend(everyone(train), 10, exclude=None)


@pytest.mark.filterwarnings("ignore:Method expects CSR input")  # raised by implicit of its own matrix
def test_a_model_of_implicit_itself() -> None:
    neighbours = pytest.importorskip("implicit.nearest_neighbours", reason="implicit is not installed")
    check_algorithm(wrap(neighbours.CosineRecommender))


@pytest.mark.filterwarnings("ignore")
def test_a_scorer_of_lenskit_itself() -> None:
    knn = pytest.importorskip("lenskit.knn", reason="lenskit is not installed")
    check_external(wrap(knn.ItemKNNScorer(feedback="implicit")))


class Answer:
    """What LensKit answers for one user."""

    def __init__(self, ids: list[int], scores: list[float]) -> None:
        self._ids, self._scores = np.array(ids), np.array(scores)

    def ids(self) -> np.ndarray:
        return self._ids

    def scores(self) -> np.ndarray:
        return self._scores


class FakePipeline:
    """Stands for LensKit's: remembers what it was trained on, and ranks by it."""

    def __init__(self, scorer: Any = None) -> None:
        self.scorer = scorer

    def train(self, data: Any) -> None:
        self.events = data


def lenskit_recommend(pipeline: FakePipeline, users: list[int], n: int, n_jobs: int) -> Any:
    assert n_jobs == 1
    assert all(type(user) is int for user in users)
    for user in reversed(users):  # in an order of its own
        ids, scores = [3, 4, 0, 2, 1][: n + 1], [9.0, np.nan, 5.0 + user, 2.0, 1.0][: n + 1]
        yield SimpleNamespace(user_id=user), Answer(ids, scores)


@pytest.mark.parametrize("whole", [True, False], ids=["a pipeline", "a scorer"])
def test_a_model_of_lenskit_by_what_is_asked_of_it(whole: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def topn(scorer: Any) -> FakePipeline:
        made.append(FakePipeline(scorer))
        return made[-1]

    parts = {
        "lenskit": {}, "lenskit.batch": {"recommend": lenskit_recommend},
        "lenskit.data": {"from_interactions_df": lambda frame: list(frame.itertuples(index=False, name=None))},
        "lenskit.pipeline": {"Pipeline": FakePipeline, "topn_pipeline": topn},
    }  # fmt: skip
    for name, content in parts.items():
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(**content))
    monkeypatch.setattr(FakePipeline, "__module__", "lenskit.pipeline")
    scorer = type("Scorer", (), {"__module__": "lenskit.knn"})
    twice = example_interactions(np.array([0, 1, 2, 1]), np.array([0, 1, 2, 1]), n_users=3, n_items=5)
    kind = wrap(FakePipeline() if whole else scorer())
    assert kind.source.startswith("lenskit.")
    model = kind().fit(twice, rng=rng())
    top = model.recommend(np.array([2, 0], dtype=np.int32), 3, exclude=twice.csr())
    assert top.items.tolist() == [[3, 0, 1], [3, 2, 1]]
    assert top.scores.tolist() == [[9.0, 7.0, 1.0], [9.0, 2.0, 1.0]]
    assert len(made) == (0 if whole else 1)
    if not whole:
        assert type(made[0].scorer).__name__ == "Scorer"
        assert made[0].events == [(0, 0), (1, 1), (2, 2)]


class Ten:
    """The smallest algorithm: most popular first, as scores."""

    def fit(self, train: Interactions) -> None:
        self.counts = np.bincount(train.item, minlength=train.n_items)

    def score(self, users: np.ndarray) -> np.ndarray:
        return np.tile(self.counts, (len(users), 1))


class TenLists(Ten):
    """The same as lists of item positions, without scores."""

    score = None  # type: ignore[assignment]

    def recommend(self, users: np.ndarray, k: int) -> list[list[int]]:
        return [np.argsort(-self.counts, kind="stable")[:k].tolist() for _ in users]


@pytest.mark.parametrize("model", [Ten, TenLists])
@pytest.mark.parametrize("check", ALGORITHM_CHECKS, ids=lambda check: check.__name__)
def test_the_smallest_algorithm_keeps_every_promise(check: Check, model: type) -> None:
    check(wrap(model))


def test_the_smallest_algorithm_is_most_popular() -> None:
    train, test = learnable_tastes()
    ours = MostPop().fit(train, rng=rng()).recommend(everyone(train), 10, exclude=test.csr())
    scored = wrap(Ten)().fit(train, rng=rng()).recommend(everyone(train), 10, exclude=test.csr())
    np.testing.assert_array_equal(scored.scores, ours.scores)
    listed = wrap(TenLists)().fit(train, rng=rng()).recommend(everyone(train), 10, exclude=test.csr())
    counts = np.bincount(train.item, minlength=train.n_items)
    np.testing.assert_array_equal(counts[listed.items], ours.scores)


def test_every_broken_rule_is_named_at_once() -> None:
    class Broken:
        space: ClassVar = {"factors": Real(1.0, 2.0, 1.5)}

        def __init__(self, size: int) -> None: ...
        def recommend(self, users: Any) -> None: ...

    with pytest.raises(InputError) as refused:
        wrap(Broken)
    message = str(refused.value)
    assert "it has no method fit(train)" in message
    assert "tuning may vary 'factors', which its constructor does not take" in message
    assert "it cannot be made without the argument 'size'" in message


class Scoring:
    """Answers with what it was made with."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer

    def fit(self, train: Interactions) -> None:
        self.train = train

    def score(self, users: np.ndarray) -> Any:
        return self.answer


class Listing(Scoring):
    score: ClassVar = None

    def recommend(self, *asked: Any) -> Any:
        return self.answer


class Two(Scoring):
    """One method more than is needed: lists go before scores."""

    def recommend(self, users: Any, k: int) -> None: ...


class One(Scoring):
    def recommend(self, users: Any, *, k: int = 10) -> None: ...


def needy(self: Any, *, size: int, depth: int = 1) -> None: ...


def unmade() -> None:
    raise ValueError("no file")


@pytest.mark.parametrize(
    ("model", "space", "broken"),
    [
        (unmade, None, ["it cannot be called without arguments: ValueError: no file"]),
        (lambda: Scoring(), None, []),
        (Scoring, {"answer": Real(0.0, 1.0, 0.5)}, []),
        (Scoring, 3, ["its space is int, not a mapping from argument to range"]),
        (Scoring(), {"answer": Real(0.0, 1.0, 0.5)}, ["an instance cannot be tuned: wrap its class to use space"]),
        (Scoring, {"size": Real(0.0, 1.0, 0.5)}, ["tuning may vary 'size', which its constructor does not take"]),
        (type("Open", (Scoring,), {"__init__": lambda self, *more, **settings: None}), {"size": Real(0.0, 1.0, 0.5)},
         []),
        (type("Needy", (Scoring,), {"__init__": needy}), None,
         ["it cannot be made without the argument 'size': give it a default"]),
        (type("Tuned", (Scoring,), {"space": {"size": Real(0.0, 1.0, 0.5)}}), {}, []),
        (Listing, None, []),
        (Two, None, []),
        (Two(), None, []),
        (One(), None, ["its recommend does not take (users, k)"]),
        (type("Narrow", (Scoring,), {"recommend": lambda self, users: None}), None,
         ["its recommend does not take (users, k)"]),
        (type("Empty", (), {"fit": lambda self, train: None}), None,
         ["it has neither recommend(users, k) nor score(users)"]),
    ],
)  # fmt: skip
def test_what_keeps_a_model_from_being_an_algorithm(model: Any, space: Any, broken: list[str]) -> None:
    assert broken_rules(model, space=space) == broken


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (
            Scoring(np.zeros((2, 5))),
            r"score\(users\) answers with shape \(2, 5\); answer with one row per user and one",
        ),
        (Scoring(np.full((128, 5), np.nan)), "answers with a score that is not a number"),
        (Listing([[0, 1]]), r"recommend answers 3 users with 1 lists"),
        (Listing(["ab", "cd", "ef"]), "answers 3 users with lists of other things than item positions"),
        (Listing([[0], [1], [5]]), "recommend lists item 5, and the catalogue has positions 0 to 4"),
        (Listing(([[0], [1], [2]], [[1.0, 2.0]] * 3)), r"gives items of shape \(3, 1\) and scores of shape \(3, 2\)"),
    ],
)
def test_answers_of_another_form_are_refused(model: Any, words: str) -> None:
    train = small()
    with pytest.raises(RecAssayError, match=words):
        wrap(model)().fit(train, rng=rng()).recommend(everyone(train), 2, exclude=None)


def test_lists_of_a_model_are_sorted_filled_and_freed_of_what_is_excluded() -> None:
    ragged = [[3, 0], [4], []]
    train = small()
    top = wrap(Listing(ragged))().fit(train, rng=rng()).recommend(everyone(train), 3, exclude=train.csr())
    assert top.items.tolist() == [[3, -1, -1], [4, -1, -1], [-1, -1, -1]]
    assert top.scores[0].tolist() == [0.0, -np.inf, -np.inf]
    scored = (np.array([[0, 1, 2]] * 3), np.array([[1.0, 3.0, 2.0]] * 3))
    top = wrap(Listing(scored))().fit(train, rng=rng()).recommend(everyone(train), 2, exclude=None)
    assert top.items.tolist() == [[1, 2]] * 3
    assert top.scores.tolist() == [[3.0, 2.0]] * 3
    assert wrap(Listing(scored), source="mine").source == "mine"
    tuned = type("Tuned", (Scoring,), {"space": {"answer": Real(0.0, 1.0, 0.5)}})
    assert (set(wrap(tuned).space), wrap(tuned, space={}).space) == ({"answer"}, {}), "what is said goes first"
    assert wrap(Scoring).source.endswith("test_external.Scoring")


def test_two_lists_are_no_pair_of_items_and_scores() -> None:
    train, users = small(), np.array([0, 1], dtype=np.int32)
    for answer in ([[3, 1], [4, 2]], np.array([[3, 1], [4, 2]])):
        top = wrap(Listing(answer))().fit(train, rng=rng()).recommend(users, 2, exclude=None)
        assert top.items.tolist() == [[3, 1], [4, 2]]
        assert top.scores.tolist() == [[0.0, -1.0]] * 2
    three = wrap(Listing(([3], [1, 4], [2])))().fit(train, rng=rng()).recommend(everyone(train), 2, exclude=None)
    assert three.items.tolist() == [[3, -1], [1, 4], [2, -1]]


def test_places_that_a_model_could_not_fill_are_left_out() -> None:
    lowest = float(np.finfo(np.float32).min)
    unfilled = (
        np.array([[0, 1, 2], [3, -(2**32), 4], [4, 4, 4]]),
        [[lowest, 2.0, np.nan], [1.0, 9.0, 3.0], [lowest] * 3],
    )
    train = small()
    for k in (2, 3, 4):
        top = wrap(Listing(unfilled))().fit(train, rng=rng()).recommend(everyone(train), k, exclude=None)
        assert top.items.tolist() == [[1] + [-1] * (k - 1), [4, 3] + [-1] * (k - 2), [-1] * k]
        assert top.scores.tolist() == [[2.0] + [-np.inf] * (k - 1), [3.0, 1.0] + [-np.inf] * (k - 2), [-np.inf] * k]


def test_items_of_equal_scores_stay_as_the_model_lists_them() -> None:
    order = np.random.default_rng(3).permutation(60)
    train = example_interactions(np.array([0, 1, 2]), np.array([0, 1, 2]), n_users=3, n_items=60)
    equal = (np.tile(order, (3, 1)), np.ones((3, 60)))
    model = type("Equal", (Listing,), {"name": "Even", "answer": equal, "__init__": lambda self: None})
    kind = wrap(model)
    assert kind.name == "Even"
    top = kind().fit(train, rng=rng()).recommend(everyone(train), 50, exclude=None)
    assert top.items.tolist() == [order[:50].tolist()] * 3


class Seeded(Listing):
    """Tells what it was made and fitted with."""

    name, source, made, fitted = " ", "a paper", [], []

    def __init__(self, random_state: int | None = None, size: int = 1) -> None:
        self.random_state = random_state
        self.made.append(self)

    def fit(self, train: Interactions, rng: np.random.Generator | None = None) -> Any:
        self.rng, self.asked = rng, []
        self.fitted.append(self.random_state)
        return Listed(self.asked)


class Listed:
    """What another object than the model answers with after training."""

    def __init__(self, asked: list[tuple[int, int]]) -> None:
        self.asked = asked

    def recommend(self, users: np.ndarray, k: int) -> np.ndarray:
        self.asked.append((len(users), k))
        return np.tile(np.arange(k), (len(users), 1))


def test_a_model_gets_a_seed_and_chance_where_it_takes_them() -> None:
    train, generator = small(), rng()
    Seeded.made.clear()
    Seeded.fitted.clear()
    kind = wrap(Seeded)
    assert (kind.name, kind.source, kind.space) == ("Seeded", "a paper", {})
    model = kind(size=3).fit(train, rng=generator)
    drawn, expected = Seeded.made[-1], int(rng().integers(2**31))
    assert (drawn.random_state, drawn.rng) == (expected, generator)
    kind(random_state=5).fit(train, rng=rng())
    assert Seeded.made[-1].random_state == 5
    ready = Seeded(random_state=9)
    wrap(ready, name="Ready")().fit(train, rng=rng())
    assert (ready.random_state, len(Seeded.made)) == (9, 3)
    assert Seeded.fitted == [expected, 5, expected], "of an instance a copy is fitted, with a seed of its own"
    # Two barred items per user at most: it is asked for as many more, and never for more than there are.
    barred = example_interactions(np.array([0, 1, 1]), np.array([0, 0, 1]), n_users=3, n_items=5).csr()
    assert model.recommend(everyone(train), 2, exclude=barred).items.tolist() == [[1, 2], [2, 3], [0, 1]]
    assert model.recommend(everyone(train), 4, exclude=barred).items.tolist()[1] == [2, 3, 4, -1]
    assert drawn.asked == [(3, 4), (3, 5)]


def test_a_function_that_makes_a_model_is_asked_for_one_per_fit() -> None:
    train = small()

    def make(answer: Any = None) -> Listing:
        return Listing([[2], [1], [0]] if answer is None else answer)

    kind = wrap(make, space={"answer": Real(0.0, 1.0, 0.5)})
    assert (kind.name, list(kind.space)) == ("make", ["answer"])
    for parameters, lists in (({}, [[2], [1], [0]]), ({"answer": [[4], [4], [4]]}, [[4], [4], [4]])):
        top = kind(**parameters).fit(train, rng=rng()).recommend(everyone(train), 1, exclude=None)
        assert top.items.tolist() == lists


class Complete:
    """An algorithm with all that one must have, and no more."""

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Any:
        return MostPop().fit(train, rng=rng)


def test_what_an_algorithm_does_not_declare_is_filled_in() -> None:
    made = as_algorithm(Complete, "mine.py:Complete")
    assert (made.name, made.space, made.source) == ("Complete", {}, "mine.py:Complete")
    assert issubclass(made, Complete)
    assert made.__module__ == Complete.__module__
    named = type("Named", (Complete,), {"name": "N", "space": {}, "source": "S"})
    assert as_algorithm(named, "mine.py:Named") is named
    strange = as_algorithm(type("Strange", (Complete,), {"name": 3, "source": "S"}), "x")
    assert (strange.name, strange.space, strange.source) == ("Strange", {}, "S")


@pytest.mark.parametrize(
    ("parts", "adapted"),
    [
        ({}, False),
        ({"recommend": lambda self, users, k, *, exclude: None}, False),
        ({"recommend": lambda self, users, k: None}, True),
        ({"score": lambda self, users: None}, True),
        ({"fit": lambda self, train: None, "score": lambda self, users: None}, True),
        ({"fit": lambda self, train: None, "recommend": lambda self, users, k, *, exclude: None}, True),
    ],
    ids=["fit with chance", "lists that exclude", "lists", "scores", "scores without chance", "lists without chance"],
)
def test_which_classes_are_algorithms_as_they_are(parts: dict[str, Any], adapted: bool) -> None:
    made = as_algorithm(type("Mine", (Complete,), parts), "mine.py:Mine")
    assert issubclass(made, Wrapped) == adapted
    assert issubclass(made, Complete) != adapted


def test_a_class_that_is_no_algorithm_is_told_all_it_lacks() -> None:
    with pytest.raises(
        InputError, match=r"^mine\.py:Mine: does not implement the interface: it has no method fit.*give"
    ):
        as_algorithm(type("Mine", (), {}), "mine.py:Mine")


@pytest.mark.usefixtures("in_process")
def test_check_lists_all_broken_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(
        "import numpy as np\n"
        "class Good:\n"
        "    name = 'Mine'\n"
        "    def fit(self, train):\n"
        "        self.gram = (train.csr().T @ train.csr()).toarray()\n"
        "        np.fill_diagonal(self.gram, 0)\n"
        "        self.seen = train.csr()\n"
        "    def score(self, users):\n"
        "        return self.seen[users] @ self.gram\n"
        "class Random(Good):\n"
        "    def score(self, users):\n"
        "        return np.random.random((len(users), self.gram.shape[0]))\n"
        "class Crash(Good):\n"
        "    def score(self, users):\n"
        "        return 1 / 0\n"
    )
    monkeypatch.chdir(tmp_path)
    good = recassay.check("./mine.py:Good")
    assert good.to_dict()["ready"]
    assert good.name == "Mine"
    assert good.verdict()[0].startswith("Mine is ready: it keeps all 8 rules")
    chance = recassay.check("./mine.py:Random")
    assert len(chance.broken) == 1
    assert any("two different answers for one seed" in broken.problem for broken in chance.broken)
    crash = recassay.check("./mine.py:Crash")
    assert {broken.where for broken in crash.broken} == {"mine.py, line 15"}
    assert crash.verdict()[0] == "Mine breaks 7 of 8 rules."


def small() -> Interactions:
    return example_interactions(np.array([0, 1, 2]), np.array([0, 1, 2]), n_users=3, n_items=5)


def lists(path: Path, table: str) -> ListedAlgorithm:
    path.write_text(table)
    return listed_algorithm(path)()


def test_lists_of_a_file_by_score(tmp_path: Path) -> None:
    table = "user,item,score\nu1,i3,0.5\nu0,i0,9\nu0,i4,2\nu0,i1,3\nu0,i1,1\nu9,i1,1\nu0,i77,1\nu1,i2,0.5\n"
    train = small()
    model = lists(tmp_path / "top.csv", table).fit(train, rng=rng())
    top = model.recommend(everyone(train), 3, exclude=None)
    assert top.items.tolist() == [[0, 1, 4], [3, 2, -1], [-1, -1, -1]]
    assert top.scores[0].tolist() == [9.0, 3.0, 2.0]
    without = model.recommend(np.array([1, 0], dtype=np.int32), 2, exclude=train.csr())
    assert without.items.tolist() == [[3, 2], [1, 4]]


def test_lists_of_a_file_by_rank(tmp_path: Path) -> None:
    ranked = lists(tmp_path / "top.tsv", "user\titem\trank\nu0\ti4\t2\nu0\ti3\t1\n").fit(small(), rng=rng())
    top = ranked.recommend(np.array([0], dtype=np.int32), 2, exclude=None)
    assert top.items.tolist() == [[3, 4]]
    assert top.scores.tolist() == [[-1.0, -2.0]]
    table = "user,item,score,rank\nu0,i4,5,2\nu0,i3,1,1\nu1,i2,7,1\n"
    both = lists(tmp_path / "both.csv", table).fit(small(), rng=rng())
    top = both.recommend(np.array([0, 1], dtype=np.int32), 2, exclude=None)
    assert top.items.tolist() == [[3, 4], [2, -1]]
    assert top.scores.tolist() == [[1.0, 1.0], [7.0, -np.inf]], "a user's scores have nothing to do with another's"


def test_a_file_without_rows_has_empty_lists(tmp_path: Path) -> None:
    train = small()
    top = (
        lists(tmp_path / "none.csv", "user,item,score\n")
        .fit(train, rng=rng())
        .recommend(everyone(train), 2, exclude=None)
    )
    assert top.items.tolist() == [[-1, -1]] * 3


def test_numeric_ids_and_parquet(tmp_path: Path) -> None:
    train = small()
    numbered = Interactions(train.user, train.item, pl.Series([10, 20, 30]), pl.Series([7, 8, 9, 11, 12]))
    pl.DataFrame({"user": [20, 20], "item": [12, 7], "score": [1, 2]}).write_parquet(tmp_path / "top.parquet")
    top = listed_algorithm(tmp_path / "top.parquet")().fit(numbered, rng=rng())
    assert top.recommend(np.array([1], dtype=np.int32), 2, exclude=None).items.tolist() == [[0, 4]]


@pytest.mark.parametrize(
    ("name", "table", "message"),
    [
        ("a.csv", "user,thing,score\nu0,i1,1\n", r"no column is recognised as the item among 'user', 'thing', 'score'"),
        ("c.csv", "user,item,score\nu0,i1,good\n", "the score column holds 'good' in data row 1"),
        ("d.csv", "user,item,score\nu0,i1,\n", "score is not a number in every row"),
        ("i.csv", "user,item,score,rank\nu0,i1,1,\nu0,i2,1,2\n", "rank is not a number in every row"),
        ("e.csv", "user,item,score\nx,y,1\n", "none of its 1 rows has a user .* such as u0 and i0"),
        ("f.csv", "user,item,score\nu0,i1,1.5\nu0,i2,inf\n", "give it finite numbers"),
        ("g.csv", "", "the file is empty"),
        ("h.csv", "algorithm,user,item,score\na,u0,i1,1\nb,u0,i1,1\n", r"holds the lists of 2 algorithms \(a, b\)"),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, name: str, table: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        lists(tmp_path / name, table).fit(small(), rng=rng())


def test_lists_of_which_more_than_half_of_the_items_are_unknown_are_refused(tmp_path: Path) -> None:
    """u9 is not in the data, so that its rows do not count."""
    half = "user,item,score\nu0,i1,4\nu0,i77,3\nu9,i78,9\nu9,i79,8\n"
    refuse_other_data(type(lists(tmp_path / "half.csv", half)), small())
    more = type(lists(tmp_path / "more.csv", half + "u1,i80,1\n"))
    with pytest.raises(InputError, match=r"2 of the 3 rows of known users name an item that the data lacks; .* 'i0'"):
        refuse_other_data(more, small())
    refuse_other_data(MostPop, small())


def test_lists_are_judged_on_the_split_that_they_name(tmp_path: Path) -> None:
    made = type(lists(tmp_path / "top.csv", "user,item,score\nu0,i1,4\n"))
    refuse_other_split(made, "b" * 64, "films")
    named = type("Named", (made,), {"lists": replace(made.lists, split="a" * 20, named_in="the column split")})
    refuse_other_split(named, "a" * 64, "films")
    with pytest.raises(InputError) as refused:
        refuse_other_split(named, "b" * 64, "films")
    assert refused.value.what == (
        "the lists were made for the split aaaaaaaaaaaa (named in the column split), and that of films here is "
        "bbbbbbbbbbbb: another dataset, or another protocol"
    )
    refuse_other_split(MostPop, "b" * 64, "films")


def test_no_file_or_an_unknown_kind(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        listed_algorithm(tmp_path / "none.csv")


def test_without_ranks_and_scores_the_order_of_rows_is_the_order_of_the_list(tmp_path: Path) -> None:
    model = lists(tmp_path / "top.csv", "user,item\nu0,i4\nu0,strange\nu0,i1\nu1,i0\n").fit(small(), rng=rng())
    assert model.recommend(everyone(small()), 3, exclude=None).items.tolist() == [[4, 1, -1], [0, -1, -1], [-1] * 3]


def test_a_file_made_from_a_model_passes_the_suite_where_it_has_lists(tmp_path: Path) -> None:
    train, _ = learnable_tastes()
    top = MostPop().fit(train, rng=rng()).recommend(everyone(train), 60, exclude=train.csr())
    rows, _ = np.nonzero(top.items >= 0)
    listed = top.items >= 0
    pl.DataFrame(
        {
            "user": train.users.gather(rows),
            "item": train.items.gather(top.items[listed]),
            "score": top.scores[listed],
        }
    ).write_parquet(tmp_path / "popular.parquet")
    made = load_algorithm("./popular.parquet", str(tmp_path))
    assert made.name == "popular"
    check_algorithm(made, skip={"check_one_item"})


GOOD = """
import recassay
from recassay.algorithms.baselines import MostPop

class Mine(MostPop):
    name = "Mine"
"""

ADAPTED = """
import numpy as np

class Theirs:
    def fit(self, matrix):
        self.score = np.asarray(matrix.sum(axis=0)).ravel()

    def recommend(self, userid, user_items, N=10):
        order = np.tile(np.argsort(-self.score)[:N], (len(userid), 1))
        return order, self.score[order]
"""


def test_a_plugin_of_ones_own_file(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(GOOD)
    (tmp_path / "theirs.py").write_text(ADAPTED)
    before = list(sys.path)
    mine = load_plugin("./mine.py:Mine", tmp_path)
    assert mine.name == "Mine"
    theirs = load_plugin(f"{tmp_path / 'theirs.py'}:Theirs", tmp_path / "elsewhere")
    assert theirs.name == "Theirs"
    check_algorithm(mine)
    check_algorithm(theirs)
    assert sys.path == before


def test_files_of_one_name_do_not_collide(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(GOOD.replace('"Mine"', f'"{folder}"'))
    assert [load_plugin(f"{folder}/mine.py:Mine", tmp_path).name for folder in ("a", "b")] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "reference", "message"),
    [
        (GOOD, "none.py:Mine", r"none\.py: there is no such file"),
        (GOOD, "mine.py:Min", r"mine\.py: has no class 'Min'.*Mine"),
        (GOOD, "mine.py", "names no class; write it as"),
        (GOOD, "../mine.py:Mine", "may not leave the folder"),
        ("x = 1\nimport no_such_library\n", "mine.py:Mine", r"mine\.py, line 2: fails .*No module named"),
        ("x = 1\n\ny = x / 0\n", "mine.py:Mine", r"mine\.py, line 3: fails .*ZeroDivisionError"),
        ("class Mine:\n  def fit(self:\n", "mine.py:Mine", r"mine\.py, line 2: fails .*SyntaxError"),
        ("class Mine:\n    name = 'x'\n", "mine.py:Mine", r"it has no method fit\(train\); it has neither"),
        ("Mine = 3\n", "mine.py:Mine", "has no class 'Mine'"),
    ],
)
def test_a_bad_plugin_is_explained(tmp_path: Path, text: str, reference: str, message: str) -> None:
    (tmp_path / "mine.py").write_text(text)
    with pytest.raises(RecAssayError, match=message) as caught:
        load_plugin(reference, tmp_path)
    assert "\n" not in str(caught.value)
