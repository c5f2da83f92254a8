"""Any model as an algorithm: a small class of one's own, or a model in the style of implicit or LensKit.

`wrap` looks at what a class or an instance offers and adapts it. Leaving out seen items, cutting lists and breaking
ties are done here, so that a model of a user's own is `fit` and one more method.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import FunctionType
from typing import Any, ClassVar, TypeAlias

import numpy as np
from scipy.sparse import csr_array, csr_matrix

from recassay.algorithms.kernels.scoring import ScoreRecommender, block_rows
from recassay.core.errors import InputError, RecAssayError, UsageError
from recassay.core.histories import Histories
from recassay.core.ranking import select_top
from recassay.core.specs.search import SearchSpace
from recassay.core.types import BoolArray, Float32Array, IdArray, Interactions, Recommender, TopK
from recassay.core.words import listing

NOTHING = float(np.finfo(np.float32).min)
"""The score that implicit gives to a place it could not fill."""

INTERFACE = "give it fit(train) and either recommend(users, k) or score(users)"

Lists: TypeAlias = tuple[IdArray, Float32Array]
Fit: TypeAlias = Callable[[Any, Interactions, np.random.Generator, str], Recommender]
"""From a model, training data, chance and a name to lists."""


def wrap(
    model: Any, *, name: str | None = None, space: SearchSpace | None = None, source: str | None = None
) -> type[Any]:
    """An algorithm class for a model of one's own or of another library.

    Accepted are, as a class, as a function that makes one, or as an instance that is ready to be fitted:

    - `fit(train)` with `recommend(users, k)` (item positions, users x k, best first) or with `score(users)` (a matrix,
      users x items); `train` is an `Interactions`, and a `rng` is passed to `fit` where it takes one; with
      `score_after(histories)` (a matrix, histories x items, of a `Histories`) it may be asked after histories, and
      says by `reads_order = True` where their order counts;
    - a model of implicit: `fit(matrix)` and `recommend(users, user_items, N=...)`;
    - a LensKit pipeline or scorer.

    Seen items are left out, lists are cut and padded, and memory is measured, not declared.

    Args:
        model: the class or the instance.
        name: what results call it; by default its attribute `name`, else the name of its class.
        space: what tuning may vary: constructor arguments by name; by default its attribute `space`, else nothing.
        source: where it comes from; by default its attribute `source`, else its module and class.
    """
    kind = model if _makes(model) else type(model)
    try:
        problems = broken_rules(model, space=space)
    except RecAssayError:
        raise
    except Exception as error:
        problems = [f"its attributes cannot be read: {type(error).__name__}"]
    if problems:
        raise InputError("; ".join(problems), where=kind.__name__, fix=INTERFACE)
    adapter = _adapter(model)
    assert adapter is not None
    described = {
        "name": name or _text(model, "name") or kind.__name__,
        "space": dict(getattr(model, "space", {}) if space is None else space),
        "source": source or _text(model, "source") or f"{kind.__module__}.{kind.__qualname__}",
        "reads_order": bool(getattr(model, "reads_order", False)),
        "folds_in": _folds_in(model, adapter),
        "model": staticmethod(model) if isinstance(model, FunctionType) else model,
        "adapter": staticmethod(adapter),
        "__doc__": f"`{kind.__qualname__}`, adapted; see `wrap`.",
        "__module__": kind.__module__,
    }
    return type(kind.__name__, (Wrapped,), described)


def broken_rules(model: Any, *, space: SearchSpace | None = None) -> list[str]:
    """What keeps a class or an instance from being used as an algorithm, a sentence per rule; none where it can be."""
    problems = []
    if isinstance(model, FunctionType):
        try:
            model()
        except Exception as error:
            return [f"it cannot be called without arguments: {type(error).__name__}: {error}"]
    if _adapter(model) is None:
        if not callable(getattr(model, "fit", None)):
            problems.append("it has no method fit(train)")
        if not any(callable(getattr(model, method, None)) for method in ("recommend", "score")):
            problems.append("it has neither recommend(users, k) nor score(users)")
        elif not problems:
            problems.append("its recommend does not take (users, k)")
    declared = getattr(model, "space", {}) if space is None else space
    if not isinstance(declared, Mapping):
        problems.append(f"its space is {type(declared).__name__}, not a mapping from argument to range")
    elif declared and not _makes(model):
        problems.append("an instance cannot be tuned: wrap its class to use space")
    else:
        problems += [
            f"tuning may vary {key!r}, which its constructor does not take"
            for key in declared
            if not _takes(model, key) and not any(p.kind is p.VAR_KEYWORD for p in _parameters(model).values())
        ]
    if isinstance(model, type):
        problems += [
            f"it cannot be made without the argument {argument.name!r}: give it a default"
            for argument in _parameters(model).values()
            if argument.default is argument.empty
            and argument.kind not in (argument.VAR_KEYWORD, argument.VAR_POSITIONAL)
        ]
    return problems


class Wrapped:
    """What the classes that `wrap` makes share: making a model per fit, and handing on its answers."""

    name: ClassVar[str]
    space: ClassVar[SearchSpace]
    source: ClassVar[str]
    folds_in: ClassVar[bool]
    model: ClassVar[Any]
    adapter: ClassVar[Fit]

    def __init__(self, **parameters: Any) -> None:
        self._parameters = parameters
        if parameters and not _makes(type(self).model):
            raise UsageError(
                f"parameters ({listing(parameters, most=None)}) for a model that is already made",
                fix="wrap the class, or set them on the instance",
            )

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Recommender:
        """Make a model, fit it, and answer with what turns it into lists."""
        model, seed = type(self).model, int(rng.integers(2**31))
        if _makes(model):
            made = model(**({"random_state": seed} if "random_state" in _parameters(model) else {}) | self._parameters)
        else:
            made = copy.deepcopy(model)
            if hasattr(made, "random_state"):
                made.random_state = seed
        return type(self).adapter(made, train, rng, self.name)


def _folds_in(model: Any, adapter: Fit) -> bool:
    """Whether lists after histories can be made: by our own interface, and where there is the method for it."""
    return adapter is _fit_plain and hasattr(model() if isinstance(model, FunctionType) else model, "score_after")


def _adapter(model: Any) -> Fit | None:
    """What fits a model of this style and makes lists of it; None where the style is not known."""
    if isinstance(model, FunctionType):
        model = model()
    if (model if isinstance(model, type) else type(model)).__module__.startswith("lenskit."):
        return _fit_lenskit
    if not callable(getattr(model, "fit", None)):
        return None
    recommend = getattr(model, "recommend", None)
    if callable(recommend) and _takes(recommend, "N"):
        return _fit_implicit
    if callable(recommend) and _positional(recommend, bound=not isinstance(model, type)) >= 2:
        return _fit_plain
    return _fit_plain if callable(getattr(model, "score", None)) and recommend is None else None


def _fit_plain(model: Any, train: Interactions, rng: np.random.Generator, name: str) -> Recommender:
    answer = model.fit(train, **({"rng": rng} if _takes(model.fit, "rng") else {}))
    fitted = model if answer is None else answer

    def scored(method: str, what: str, row: str, asked: Any) -> Float32Array:
        scores = _real(getattr(fitted, method)(asked), f"{method}({what}) answers with scores", name)
        if scores.shape != (len(asked), train.n_items):
            raise RecAssayError(
                f"{method}({what}) answers with shape {scores.shape}",
                where=name,
                fix=f"answer with one row per {row} and one column per item: {(len(asked), train.n_items)}",
            )
        if np.isnan(scores).any():
            raise RecAssayError(f"{method}({what}) answers with a score that is not a number", where=name)
        return scores

    lists: Recommender
    if hasattr(fitted, "recommend"):
        lists = ListRecommender(fitted.recommend, train.n_items, name)
    else:
        lists = ScoreRecommender(partial(scored, "score", "users", "user"), n_items=train.n_items, rng=rng)
    if not callable(getattr(fitted, "score_after", None)):
        return lists
    return FoldingModel(lists, partial(scored, "score_after", "histories", "history"), rng)


class FoldingModel:
    """Lists of a model for its users, and after histories by scores of the whole catalogue."""

    def __init__(
        self, lists: Recommender, score: Callable[[Histories], Float32Array], rng: np.random.Generator
    ) -> None:
        self._lists, self._score, self._rng = lists, score, copy.deepcopy(rng)

    def recommend(self, users: IdArray, k: int, *, exclude: csr_array | None) -> TopK:
        """The k best items for each of `users`; see `Recommender`."""
        return self._lists.recommend(users, k, exclude=exclude)

    def recommend_from(self, histories: Histories, k: int, *, exclude: csr_array | None) -> TopK:
        """The k best items after each history; see `FoldsIn`."""
        rows = np.arange(len(histories), dtype=np.int32)
        return TopK(rows, *select_top(self._score(histories), k, exclude=exclude, rng=self._rng))


def _fit_implicit(model: Any, train: Interactions, rng: np.random.Generator, name: str) -> Recommender:
    history = csr_matrix(train.csr())
    model.fit(history, **({"show_progress": False} if _takes(model.fit, "show_progress") else {}))
    # Its own filter knows the seen items alone: what is excluded is dropped here, whatever it is.
    unfiltered = {"filter_already_liked_items": False} if _takes(model.recommend, "filter_already_liked_items") else {}

    def ask(users: IdArray, wanted: int) -> Any:
        return model.recommend(users, history[users], N=wanted, **unfiltered)

    return ListRecommender(ask, train.n_items, name)


def _fit_lenskit(model: Any, train: Interactions, rng: np.random.Generator, name: str) -> Recommender:
    import pandas as pd
    from lenskit.batch import recommend
    from lenskit.data import from_interactions_df
    from lenskit.pipeline import Pipeline, topn_pipeline

    pipeline = model if isinstance(model, Pipeline) else topn_pipeline(model)
    events = pd.DataFrame({"user_id": train.user, "item_id": train.item}).drop_duplicates()
    pipeline.train(from_interactions_df(events))

    def ask(users: IdArray, wanted: int) -> Lists:
        ids = np.full((len(users), wanted), -1, dtype=np.int32)
        scores = np.full((len(users), wanted), -np.inf, dtype=np.float32)
        place = {int(user): row for row, user in enumerate(users)}
        for key, answer in recommend(pipeline, users.tolist(), n=wanted, n_jobs=1):
            given = np.asarray(answer.scores(), dtype=np.float32)
            row, kept = place[int(key.user_id)], np.flatnonzero(np.isfinite(given))[:wanted]
            ids[row, : len(kept)] = answer.ids()[kept]
            scores[row, : len(kept)] = given[kept]
        return ids, scores

    return ListRecommender(ask, train.n_items, name)


class ListRecommender:
    """Lists from a model that makes lists itself: it is asked for so many items that the excluded ones can go."""

    def __init__(self, ask: Callable[[IdArray, int], Any], n_items: int, name: str) -> None:
        self._ask, self._n_items, self._name = ask, n_items, name

    def recommend(self, users: IdArray, k: int, *, exclude: csr_array | None) -> TopK:
        """The k best items for each of `users`; see `Recommender`."""
        top = TopK.empty(users, k)
        size = block_rows(self._n_items)
        for start in range(0, len(users), size):
            part = slice(start, start + size)
            block = users[part]
            barred = np.zeros((len(block), self._n_items), dtype=bool)
            if exclude is not None:
                rows = exclude[block]
                barred[np.repeat(np.arange(len(block)), np.diff(rows.indptr)), rows.indices] = True
            wanted = min(k + int(barred.sum(axis=1).max(initial=0)), self._n_items)
            ids, values = self._checked(self._ask(block, wanted), len(block))
            top.items[part], top.scores[part] = _kept(ids, values, k, barred)
        return top

    def _checked(self, answer: Any, n_users: int) -> Lists:
        """Ids and scores of an answer: a pair of both, or ids alone, whose scores are then their places."""
        ids, scores = answer if isinstance(answer, tuple) and len(answer) == 2 else (answer, None)
        table = _rectangle(ids)
        if table is None or len(table) != n_users:
            shape = "lists of other things than item positions" if table is None else f"{len(table)} lists"
            raise RecAssayError(
                f"recommend answers {n_users} users with {shape}",
                where=self._name,
                fix="return item positions, one row per user, best first (or a pair of positions and scores)",
            )
        if table.size and table.max() >= self._n_items:
            raise RecAssayError(
                f"recommend lists item {int(table.max())}, and the catalogue has positions 0 to {self._n_items - 1}",
                where=self._name,
                fix="return positions of items, as in train.item",
            )
        if scores is None:
            falling = -np.arange(table.shape[1], dtype=np.float32)
            return table, np.broadcast_to(falling, table.shape)
        values = _real(scores, "recommend gives scores", self._name)
        if values.shape != table.shape:
            raise RecAssayError(
                f"recommend gives items of shape {table.shape} and scores of shape {values.shape}", where=self._name
            )
        return table, values


def _real(values: Any, what: str, name: str) -> Float32Array:
    """Scores as real numbers; complex ones, times and texts are refused, though numpy would turn them into some."""
    given = np.asarray(values)
    if given.dtype.kind not in "biufO":
        raise RecAssayError(f"{what} of type {given.dtype}", where=name, fix="answer with real numbers")
    return given.astype(np.float32)


def _rectangle(ids: Any) -> IdArray | None:
    """Item positions as a rectangle, short lists filled with -1; None where they are not whole numbers."""
    if isinstance(ids, Sequence) and not isinstance(ids, (str, bytes)):
        longest = max((len(row) for row in ids), default=0)
        ids = np.array([[*row, *[-1] * (longest - len(row))] for row in ids]).reshape(len(ids), longest)
    table = np.asarray(ids)
    if table.ndim != 2 or (table.size and table.dtype.kind not in "iu"):
        return None
    return np.maximum(table, -1).astype(np.int32)


def _kept(ids: IdArray, values: Float32Array, k: int, barred: BoolArray) -> Lists:
    """The first k of every row that are there and not barred, by falling score."""
    absent = (ids < 0) | ~(values > NOTHING) | np.take_along_axis(barred, np.maximum(ids, 0), axis=1)
    values = np.where(absent, -np.inf, values)
    order = np.argsort(-values, axis=1, kind="stable")[:, :k]
    short = ((0, 0), (0, k - order.shape[1]))
    chosen = np.take_along_axis(np.where(absent, -1, ids), order, axis=1)
    return (
        np.pad(chosen, short, constant_values=-1).astype(np.int32),
        np.pad(np.take_along_axis(values, order, axis=1), short, constant_values=-np.inf).astype(np.float32),
    )


def _makes(model: Any) -> bool:
    """Whether calling it gives a model: a class or a function, rather than a model that is ready to be fitted."""
    return isinstance(model, (type, FunctionType))


def _parameters(function: Any) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}


def _takes(function: Any, argument: str) -> bool:
    return argument in _parameters(function)


def _positional(method: Any, *, bound: bool) -> int:
    """How many arguments a method takes by position, itself not counted."""
    kinds = [parameter.kind for parameter in _parameters(method).values()]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return 99
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(kind in plain for kind in kinds) - (0 if bound else 1)


def _text(model: Any, attribute: str) -> str | None:
    value = getattr(model, attribute, None)
    return value if isinstance(value, str) and value.strip() else None
