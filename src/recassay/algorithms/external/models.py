"""Models of other libraries as algorithms: a class with `fit(matrix)` and `recommend(...)` in the style of implicit."""

from __future__ import annotations

import copy
import inspect
from typing import Any, ClassVar, TypeGuard

import numpy as np
from scipy.sparse import csr_array, csr_matrix

from recassay.algorithms.kernels.scoring import block_rows, scoring_bytes
from recassay.core.errors import RecAssayError, UsageError, listing
from recassay.core.specs.search import SearchSpace
from recassay.core.types import BoolArray, Float32Array, IdArray, Interactions, Recommender, TopK

_NOTHING = float(np.finfo(np.float32).min)
"""The score that implicit gives to a place it could not fill."""


class ImplicitStyle:
    """An algorithm out of a model class (or a configured instance) in the style of the library `implicit`.

    The model has `fit(matrix)` (users x items, scipy CSR, float32 ones) and `recommend(users, user_items, N=...)`
    which answers with (item ids, scores), both users x N, best first; a place it cannot fill holds id -1 or the lowest
    float. A class is made anew with `parameters` for every fit; an instance is copied. Where the model takes
    `random_state`, it gets a number drawn from `rng`. Where `recommend` takes `filter_already_liked_items`, it is used
    for exclusions that the model can make itself; all others are made here, out of longer lists.
    """

    name: ClassVar[str] = "ImplicitStyle"
    space: ClassVar[SearchSpace] = {}
    source: ClassVar[str] = "A model of another library"
    model: ClassVar[Any] = None

    def __init__(self, model: Any = None, **parameters: Any) -> None:
        self._model = type(self).model if model is None else model
        self._parameters = parameters
        if not is_implicit_style(self._model):
            raise UsageError(
                f"{self._model!r} has no fit(matrix) and recommend(users, user_items, N=...)",
                fix="give a class or an instance that has both",
            )
        if parameters and not isinstance(self._model, type):
            raise UsageError(
                f"parameters ({listing(parameters, most=None)}) for a model that is already made",
                fix="give the class, or set them on the instance",
            )

    def fit(self, train: Interactions, *, rng: np.random.Generator) -> Recommender:
        """Make a model and fit it to the binary matrix of `train`."""
        seed = int(rng.integers(2**31))
        if isinstance(self._model, type):
            takes_seed = "random_state" in inspect.signature(self._model).parameters
            model = self._model(**({"random_state": seed} if takes_seed else {}) | self._parameters)
        else:
            model = copy.deepcopy(self._model)
            if hasattr(model, "random_state"):
                model.random_state = seed
        history = csr_matrix(train.csr())
        quiet = {"show_progress": False} if _takes(model.fit, "show_progress") else {}
        model.fit(history, **quiet)
        return _Answers(model, history, self.name)

    def memory_bytes(self, n_users: int, n_items: int, n_interactions: int) -> int:
        """A guess, since the model cannot be asked: 256 float32 for every id, and the matrix four times."""
        return 4 * 256 * (n_users + n_items) + 64 * n_interactions + 2 * scoring_bytes(n_items)


def implicit_style(
    model: type, *, name: str | None = None, space: SearchSpace | None = None, source: str | None = None
) -> type[ImplicitStyle]:
    """An algorithm class for `model`, whose constructor's arguments become the algorithm's parameters.

    `name`, `space` and `source` are taken from attributes of the model where they are not given.
    """
    described = {
        "name": name or getattr(model, "name", None) or model.__name__,
        "space": getattr(model, "space", {}) if space is None else space,
        "source": source or getattr(model, "source", None) or f"{model.__module__}.{model.__qualname__}",
        "model": model,
        "__doc__": f"`{model.__qualname__}`, adapted; see `ImplicitStyle`.",
    }
    return type(model.__name__, (ImplicitStyle,), described)


def is_implicit_style(model: Any) -> TypeGuard[Any]:
    """Whether `model` has `fit` and a `recommend` that takes `N`."""
    if not callable(getattr(model, "fit", None)):
        return False
    return callable(getattr(model, "recommend", None)) and _takes(model.recommend, "N")


class _Answers:
    """A fitted model, asked for lists that are long enough to drop the excluded items."""

    def __init__(self, model: Any, history: csr_matrix, name: str) -> None:
        self.name = name
        self._model, self._history = model, history
        self._filters = _takes(model.recommend, "filter_already_liked_items")

    def recommend(self, users: IdArray, k: int, *, exclude: csr_array | None) -> TopK:
        """The k best items for each of `users`; see `Recommender`."""
        if k < 1:
            raise UsageError(f"lists of {k} items were asked for", fix="ask for at least one item")
        items = np.full((len(users), k), -1, dtype=np.int32)
        scores = np.full((len(users), k), -np.inf, dtype=np.float32)
        rows = block_rows(self._history.shape[1])
        for start in range(0, len(users), rows):
            part = slice(start, start + rows)
            items[part], scores[part] = self._block(users[part], k, None if exclude is None else exclude[users[part]])
        return TopK(users=users, items=items, scores=scores)

    def _block(self, users: IdArray, k: int, exclude: csr_array | None) -> tuple[IdArray, Float32Array]:
        n_items = self._history.shape[1]
        own = self._history[users]
        barred = np.zeros((len(users), n_items), dtype=bool)
        if exclude is not None:
            barred[np.repeat(np.arange(len(users)), np.diff(exclude.indptr)), exclude.indices] = True
        options: dict[str, bool] = {}
        extra = barred.sum(axis=1)
        if self._filters:
            seen = own.toarray() > 0
            options["filter_already_liked_items"] = bool((barred | ~seen).all()) and exclude is not None
            if options["filter_already_liked_items"]:
                extra = (barred & ~seen).sum(axis=1)
        wanted = min(k + int(extra.max(initial=0)), n_items)
        ids, values = self._model.recommend(users, own, N=wanted, **options)
        return _kept(self._checked(ids, len(users), n_items), np.asarray(values, dtype=np.float32), k, barred)

    def _checked(self, ids: Any, n_users: int, n_items: int) -> IdArray:
        answer = np.asarray(ids)
        if answer.ndim != 2 or len(answer) != n_users:
            raise RecAssayError(
                f"answers {n_users} users with ids of shape {answer.shape}",
                where=self.name,
                fix="recommend must return (ids, scores), both users x N",
            )
        if answer.size and (answer.max() >= n_items or answer.dtype.kind not in "iu"):
            raise RecAssayError("lists ids that are no positions of items", where=self.name)
        return answer.astype(np.int32)


def _kept(ids: IdArray, values: Float32Array, k: int, barred: BoolArray) -> tuple[IdArray, Float32Array]:
    """The first k of every row that are there and not barred, by falling score."""
    absent = (ids < 0) | ~(values > _NOTHING) | np.take_along_axis(barred, np.maximum(ids, 0), axis=1)
    values = np.where(absent, -np.inf, values)
    order = np.argsort(-values, axis=1, kind="stable")[:, :k]
    short = ((0, 0), (0, k - order.shape[1]))
    chosen = np.take_along_axis(np.where(absent, -1, ids), order, axis=1)
    return (
        np.pad(chosen, short, constant_values=-1).astype(np.int32),
        np.pad(np.take_along_axis(values, order, axis=1), short, constant_values=-np.inf),
    )


def _takes(function: Any, argument: str) -> bool:
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    return argument in parameters
