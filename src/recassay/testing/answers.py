"""What the checks share: one way to fit and to ask, and what a well-formed answer is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import numpy as np

from recassay.core.errors import RecAssayError
from recassay.core.seeds import derived_rng
from recassay.core.types import Algorithm, IdArray, Interactions, Recommender, TopK

Subject = TypeVar("Subject")


class ConformanceError(RecAssayError, AssertionError):
    """An algorithm, a metric or an analysis breaks a promise of its protocol."""


def check_form(algorithm: Algorithm, top: TopK, users: IdArray, k: int, n_items: int) -> None:
    """Lists of the promised shape and types, no item twice, scores that never rise, -1 only at the end."""
    shape = (len(users), k)
    require(top.items.shape == shape, f"answers with lists of shape {top.items.shape}, not {shape}", algorithm)
    require(np.array_equal(top.users, users), "answers for other users than it was asked for", algorithm)
    require(top.items.dtype == np.int32, f"lists items as {top.items.dtype}, not int32", algorithm)
    require(top.scores.dtype == np.float32, f"gives scores as {top.scores.dtype}, not float32", algorithm)
    require(not np.isnan(top.scores).any(), "gives a score that is not a number", algorithm)
    require(
        bool(((top.items >= -1) & (top.items < n_items)).all()), "lists an item that is not in the catalogue", algorithm
    )
    listed = top.items >= 0
    require(bool((listed[:, :-1] >= listed[:, 1:]).all()), "lists an item after the end of a list (-1)", algorithm)
    require(bool(np.isneginf(top.scores[~listed]).all()), "gives a score other than -inf to item -1", algorithm)
    require(bool(np.isfinite(top.scores[listed]).all()), "gives an infinite score to a listed item", algorithm)
    require(bool((top.scores[:, :-1] >= top.scores[:, 1:]).all()), "lists a better score after a worse one", algorithm)
    ordered = np.sort(top.items, axis=1)
    twice = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    require(not twice.any(), "lists an item twice for one user", algorithm)


def alike(first: TopK, second: TopK) -> bool:
    """Whether two answers agree, up to rounding: items must agree where the scores of the whole list do to the bit."""
    if first.items.shape != second.items.shape:
        return False
    same_scores = (first.scores == second.scores).all(axis=1)
    if not np.array_equal(first.items[same_scores], second.items[same_scores]):
        return False
    finite = np.isfinite(first.scores)
    if not np.array_equal(finite, np.isfinite(second.scores)):
        return False
    return bool(np.allclose(first.scores[finite], second.scores[finite], rtol=1e-3, atol=1e-5))


def fitted(algorithm: Algorithm, train: Interactions) -> Recommender:
    """The algorithm's model of `train`, always with a generator in the same state."""
    return algorithm.fit(train, rng=fresh_rng())


def ten_unseen(model: Recommender, train: Interactions) -> TopK:
    """Ten unseen items for everyone."""
    return model.recommend(everyone(train), 10, exclude=train.csr())


def answer(algorithm: Algorithm, train: Interactions) -> TopK:
    """Ten unseen items for everyone, from a fresh model."""
    return ten_unseen(fitted(algorithm, train), train)


def everyone(train: Interactions) -> IdArray:
    """All users of the id table."""
    return np.arange(train.n_users, dtype=np.int32)


def fresh_rng() -> np.random.Generator:
    """The generator that every fit of the suite gets, always in the same state."""
    return derived_rng(7, "conformance")


def label(part: object) -> str:
    """What to call an algorithm, a metric or an analysis in a message."""
    return str(getattr(part, "label", None) or getattr(part, "name", None) or type(part).__name__)


def require(kept: object, broken: str, part: object) -> None:
    """Raise `ConformanceError` with the sentence `broken` unless the promise is kept."""
    if not kept:
        raise ConformanceError(broken, where=label(part))


def run_checks(checks: Iterable[Callable[[Subject], None]], subject: Subject, skip: Collection[str] = ()) -> None:
    """Run every check but those named in `skip`; the first broken promise raises."""
    for check in checks:
        if check.__name__ not in skip:
            check(subject)


def is_text(value: object) -> bool:
    """Whether a declaration says something."""
    return isinstance(value, str) and bool(value.strip())


@contextmanager
def inputs_kept(part: object, what: str = "an array") -> Iterator[None]:
    """What is given is read-only; an error that says so is a broken promise."""
    try:
        yield
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        raise ConformanceError(f"writes into {what} that it was given", where=label(part)) from error


@contextmanager
def disturbed_chance(seed: int) -> Iterator[None]:
    """The global generator in another state, and as it was afterwards: nothing may depend on it."""
    state = np.random.get_state()  # noqa: NPY002
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002
