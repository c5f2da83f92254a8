"""What every algorithm promises, one check a promise.

A check takes the class of an algorithm (or a function without arguments that makes one) and raises `ConformanceError`
with a plain sentence where the promise is broken.
"""

from __future__ import annotations

import inspect
import tracemalloc
from collections.abc import Callable, Collection
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from recassay.core.histories import FoldsIn, Histories
from recassay.core.specs.search import Choice
from recassay.core.types import Algorithm, Interactions, Recommender, TopK, read_only_matrix
from recassay.testing.answers import (
    alike,
    answer,
    check_form,
    disturbed_chance,
    everyone,
    fitted,
    fresh_rng,
    inputs_kept,
    is_text,
    require,
    run_checks,
    ten_unseen,
)
from recassay.testing.examples import example_interactions, learnable_tastes

MakeAlgorithm: TypeAlias = Callable[[], Algorithm]
Check: TypeAlias = Callable[[MakeAlgorithm], None]

MEMORY_SLACK = 2 << 20
"""Bytes of an actual peak that a memory estimate need not explain: small arrays, the interpreter's own objects."""


def check_algorithm(make: MakeAlgorithm, *, skip: Collection[str] = ()) -> None:
    """Run every check of `ALGORITHM_CHECKS` but those named in `skip`; the first broken promise raises."""
    run_checks(ALGORITHM_CHECKS, make, skip)


def check_external(make: MakeAlgorithm) -> None:
    """The checks of `EXTERNAL_CHECKS`: a dozen fits, for an algorithm of which each fit starts another process."""
    run_checks(EXTERNAL_CHECKS, make)


def check_declaration(make: MakeAlgorithm) -> None:
    """It has a name, a source, and a search space whose keys are constructor arguments, defaults within range."""
    algorithm = make()
    for attribute in ("name", "source"):
        require(is_text(getattr(algorithm, attribute, None)), f"has no text in its attribute {attribute!r}", algorithm)
    arguments = inspect.signature(type(algorithm)).parameters
    open_ended = any(argument.kind is argument.VAR_KEYWORD for argument in arguments.values())
    for name, argument in arguments.items():
        several = argument.kind in (argument.VAR_KEYWORD, argument.VAR_POSITIONAL)
        optional = several or argument.default is not argument.empty
        require(optional, f"cannot be made without the argument {name!r}", algorithm)
    for name, parameter in algorithm.space.items():
        known = name in arguments or open_ended
        require(known, f"may be tuned in {name!r}, which its constructor does not take", algorithm)
        if isinstance(parameter, Choice):
            inside = parameter.default in parameter.options
        else:
            inside = parameter.low <= parameter.default <= parameter.high
        require(inside, f"has the default {parameter.default!r} of {name!r} outside its own range", algorithm)
        if name in arguments:
            default = arguments[name].default
            require(
                default == parameter.default,
                f"says {parameter.default!r} is the default of {name!r}, and its constructor says {default!r}",
                algorithm,
            )


def check_deterministic(make: MakeAlgorithm) -> None:
    """Two fits with generators in one state give the same lists and scores, whatever the global generator does."""
    train, _ = learnable_tastes()
    answers = []
    for disturbance in (1, 2):
        with disturbed_chance(disturbance):
            answers.append(answer(make(), train))
    require(
        np.array_equal(answers[0].items, answers[1].items) and np.array_equal(answers[0].scores, answers[1].scores),
        "gives two different answers for one seed",
        make(),
    )


def check_repeatable_lists(make: MakeAlgorithm) -> None:
    """One fitted model asked twice gives the same lists."""
    train, _ = learnable_tastes()
    model = fitted(make(), train)
    first, second = (ten_unseen(model, train) for _ in range(2))
    require(np.array_equal(first.items, second.items), "changes its lists when it is asked a second time", make())


def check_batches(make: MakeAlgorithm) -> None:
    """The list of a user does not depend on who else is asked for, nor on the order."""
    train, _ = learnable_tastes()
    model, exclude = fitted(make(), train), train.csr()
    whole = ten_unseen(model, train)
    some = np.arange(0, train.n_users, 13, dtype=np.int32)[::-1].copy()
    alone = [model.recommend(some[place : place + 1], 10, exclude=exclude) for place in range(len(some))]
    one_by_one = TopK(some, np.concatenate([t.items for t in alone]), np.concatenate([t.scores for t in alone]))
    together = TopK(some, whole.items[some], whole.scores[some])
    require(alike(together, one_by_one), "gives a user another list when the batch is another", make())


def check_lists(make: MakeAlgorithm) -> None:
    """Lists have the promised shape and types, no item twice, scores that never rise, and -1 only at the end."""
    _check_forms(make(), learnable_tastes()[0], 10)


def check_excludes(make: MakeAlgorithm) -> None:
    """Items in the user's row of `exclude` are never listed, be they seen in training or not."""
    train, test = learnable_tastes()
    algorithm = make()
    model = fitted(algorithm, train)
    for what, exclude in (("seen in training", train.csr()), ("only in `exclude`", test.csr())):
        top = model.recommend(everyone(train), 20, exclude=exclude)
        row, _ = np.nonzero(top.items >= 0)
        listed = csr_array((np.ones(len(row)), (row, top.items[top.items >= 0])), shape=exclude.shape)
        overlap = int(listed.multiply(exclude).sum())
        require(overlap == 0, f"lists {overlap} excluded items ({what})", algorithm)


def check_prefix(make: MakeAlgorithm) -> None:
    """The first 5 of a list of 20 are the list of 5."""
    train, _ = learnable_tastes()
    model, exclude = fitted(make(), train), train.csr()
    short, long = (model.recommend(everyone(train), k, exclude=exclude) for k in (5, 20))
    require(alike(short, long.cut(5)), "gives another beginning when a longer list is asked for", make())


def check_users_without_history(make: MakeAlgorithm) -> None:
    """A user without a single event gets a list, possibly an empty one, and nobody fails."""
    train, _ = learnable_tastes()
    _check_forms(make(), train.take(train.user % 5 > 0), 10)


def check_items_without_history(make: MakeAlgorithm) -> None:
    """Items without a single event do no harm."""
    train, _ = learnable_tastes()
    _check_forms(make(), train.take(train.item % 5 > 0), 10)


def check_fold_in(make: MakeAlgorithm) -> None:
    """Asked with the histories of training, it gives the lists of their users; the order of events changes a list
    where the algorithm `reads_order`, and only there."""
    train, _ = learnable_tastes()
    algorithm = make()
    model = fitted(algorithm, train)
    if not isinstance(model, FoldsIn):
        return
    require(getattr(algorithm, "folds_in", True), "says folds_in = False, and can be asked with a history", algorithm)
    histories, exclude, whole = Histories.of(train, everyone(train)), train.csr(), ten_unseen(model, train)
    folded = model.recommend_from(histories, 10, exclude=exclude)
    check_form(algorithm, folded, everyone(train), 10, train.n_items)
    if getattr(algorithm, "folds_in_exactly", True):
        require(alike(whole, folded), "gives a user another list than the user's own history", algorithm)
    common = np.mean([len(np.intersect1d(a, b)) for a, b in zip(whole.items, folded.items, strict=True)])
    require(common >= 5, f"shares {common:.1f} of 10 items between a user's list and that of its history", algorithm)
    backwards = Histories(histories.items[::-1].copy(), histories.starts[-1] - histories.starts[::-1])
    turned = model.recommend_from(backwards, 10, exclude=None)
    same = alike(
        model.recommend_from(histories, 10, exclude=None), TopK(turned.users, turned.items[::-1], turned.scores[::-1])
    )
    reads_order = bool(getattr(algorithm, "reads_order", False))
    require(same or reads_order, "gives another list when a history is in another order", algorithm)
    require(not same or not reads_order, "gives the same lists when all histories are turned round", algorithm)


def check_histories(make: MakeAlgorithm) -> None:
    """A history may be empty, of one item, repeat an item, be longer than any of training, or hold an item that nobody
    had; its list does not depend on who else is asked for, and leaves out what `exclude` says."""
    train = example_interactions(np.array([0, 0, 1, 1, 2, 2, 3]), np.array([0, 1, 1, 2, 2, 0, 3]), n_users=6, n_items=7)
    algorithm = make()
    model = fitted(algorithm, train)
    if not isinstance(model, FoldsIn):
        return
    kinds = [[], [1], [1, 1, 2, 1], [0, 1, 2, 3] * 100, [6], [0, 6]]
    exclude = csr_array((np.ones(3), ([0, 1, 5], [2, 0, 5])), shape=(len(kinds), train.n_items))
    rows = np.arange(len(kinds), dtype=np.int32)
    with inputs_kept(algorithm):
        model.recommend_from(_histories(kinds), 2, exclude=read_only_matrix(exclude))
    for barred in (None, exclude):
        together = model.recommend_from(_histories(kinds), 12, exclude=barred)
        check_form(algorithm, together, rows, 12, train.n_items)
        for row, history in enumerate(kinds):
            alone = model.recommend_from(_histories([history]), 12, exclude=None if barred is None else barred[[row]])
            mine = TopK(alone.users, together.items[[row]], together.scores[[row]])
            require(alike(alone, mine), "gives a history another list when the batch is another", algorithm)
            left_out = exclude[[row]].indices if barred is not None else ()
            require(not np.isin(alone.items, left_out).any(), "lists an excluded item after a history", algorithm)
    nobody = model.recommend_from(_histories([]), 3, exclude=None)
    require(nobody.items.shape == (0, 3), f"answers with shape {nobody.items.shape} for no history", algorithm)


def check_times(make: MakeAlgorithm) -> None:
    """Where an algorithm `reads_order`, times say what came first: the order of the rows changes nothing."""
    algorithm = make()
    if not getattr(algorithm, "reads_order", False):
        return
    train, _ = learnable_tastes()
    mixed = train.take(fresh_rng().permutation(len(train)))
    same = alike(answer(algorithm, train), answer(make(), mixed))
    require(same, "gives other lists when the rows of training stand in another order", algorithm)


def _histories(lists: list[list[int]]) -> Histories:
    items, starts = np.array([*chain(*lists)], dtype=np.int32), np.cumsum([0, *map(len, lists)]).astype(np.int64)
    for array in (items, starts):
        array.flags.writeable = False
    return Histories(items, starts)


def check_one_user(make: MakeAlgorithm) -> None:
    """A single user with three of five items."""
    _check_small(make, user=[0, 0, 0], item=[0, 2, 4], n_users=1, n_items=5, k=2)


def check_one_item(make: MakeAlgorithm) -> None:
    """A catalogue of one item, which some of the users have."""
    _check_small(make, user=[0, 2], item=[0, 0], n_users=4, n_items=1, k=1)


def check_long_lists(make: MakeAlgorithm) -> None:
    """A list longer than the catalogue ends in -1, with score -inf."""
    _check_small(make, user=[0, 0, 1, 1, 2, 3, 3], item=[0, 1, 1, 2, 3, 0, 4], n_users=5, n_items=5, k=12)


def check_repeated_events(make: MakeAlgorithm) -> None:
    """An event that occurs several times in the training data does no harm."""
    _check_small(make, user=[0, 0, 0, 1, 1, 2, 2], item=[0, 0, 1, 1, 1, 2, 0], n_users=3, n_items=4, k=2)


def check_no_users_asked(make: MakeAlgorithm) -> None:
    """Asking for nobody gives an empty answer of the right shape."""
    train, _ = learnable_tastes()
    top = fitted(make(), train).recommend(np.empty(0, dtype=np.int32), 7, exclude=train.csr())
    require(
        top.items.shape == (0, 7), f"answers with shape {top.items.shape} for no users and 7 items, not (0, 7)", make()
    )


def check_inputs_kept(make: MakeAlgorithm) -> None:
    """Training data, users and exclusions are read-only arrays, and are the same afterwards."""
    train, _ = learnable_tastes()
    exclude, users = train.csr(), everyone(train)
    arrays: dict[str, Any] = {"users": users}
    arrays |= {f"train.{name}": getattr(train, name) for name in ("user", "item", "weight", "time")}
    arrays |= {f"exclude.{name}": getattr(exclude, name) for name in ("data", "indices", "indptr")}
    before = {name: np.array(given) for name, given in arrays.items()}
    for array in arrays.values():
        array.flags.writeable = False
    algorithm = make()
    with inputs_kept(algorithm):
        fitted(algorithm, train).recommend(users, 10, exclude=exclude)
    for name, given in arrays.items():
        require(np.array_equal(before[name], given), f"changes {name}", algorithm)


def check_memory(make: MakeAlgorithm) -> None:
    """`memory_bytes` is a positive whole number that grows with the data and covers half of a measured peak."""
    train, _ = learnable_tastes(n_groups=10, users_per_group=80, items_per_group=80)
    algorithm = make()
    if not hasattr(algorithm, "memory_bytes"):  # then it is measured when it runs
        return
    sizes = (train.n_users, train.n_items, len(train))
    promised = algorithm.memory_bytes(*sizes)
    require(
        isinstance(promised, int) and promised > 0, f"needs {promised!r} bytes, not a positive whole number", algorithm
    )
    larger = algorithm.memory_bytes(*(100 * size for size in sizes))
    require(larger >= promised, "needs less memory for a hundred times the data", algorithm)
    fitted(algorithm, train)
    tracemalloc.start()
    try:
        fitted(algorithm, train)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    require(
        peak <= 2 * promised + MEMORY_SLACK,
        f"took {peak:,} bytes to fit {sizes[0]} users, {sizes[1]} items and {sizes[2]} events, and said {promised:,}",
        algorithm,
    )


def check_shared(make: MakeAlgorithm) -> None:
    """What `shared` prepares changes no list, and is good for several fits."""
    algorithm = make()
    if not hasattr(algorithm, "shared"):
        return
    train, _ = learnable_tastes()
    prepared = algorithm.shared(train)
    alone = answer(algorithm, train)
    for _ in range(2):
        model = make().fit(train, rng=fresh_rng(), shared=prepared)  # type: ignore[call-arg]
        helped = ten_unseen(model, train)
        require(alike(alone, helped), "gives other lists with what `shared` prepared than without it", algorithm)


def check_stages(make: MakeAlgorithm) -> None:
    """`fit_steps` yields at least one model, and the last equals `fit`."""
    algorithm = make()
    if not hasattr(algorithm, "fit_steps"):
        return
    train, _ = learnable_tastes()
    last: Recommender | None = None
    for model in algorithm.fit_steps(train, rng=fresh_rng()):
        last = model
        ten_unseen(model, train)
    require(last is not None, "yields no model from `fit_steps`", algorithm)
    if last is not None:
        staged = ten_unseen(last, train)
        require(alike(answer(make(), train), staged), "ends `fit_steps` with another model than `fit`", algorithm)


def check_learns(make: MakeAlgorithm) -> None:
    """On tastes that can be learned it finds at least twice the held-out items that chance would."""
    train, test = learnable_tastes()
    top = answer(make(), train)
    truth = test.csr().toarray() > 0
    hits = np.take_along_axis(truth, np.maximum(top.items, 0), axis=1) & (top.items >= 0)
    recall = float(hits.sum() / truth.sum())
    open_items = train.n_items - len(train) / train.n_users
    chance = top.k / open_items
    require(
        recall >= 2 * chance,
        f"finds {recall:.3f} of the held-out items on learnable data, where chance finds {chance:.3f}",
        make(),
    )


ALGORITHM_CHECKS: tuple[Check, ...] = (
    check_declaration,
    check_lists,
    check_deterministic,
    check_repeatable_lists,
    check_batches,
    check_prefix,
    check_excludes,
    check_users_without_history,
    check_items_without_history,
    check_fold_in,
    check_histories,
    check_times,
    check_one_user,
    check_one_item,
    check_long_lists,
    check_repeated_events,
    check_no_users_asked,
    check_inputs_kept,
    check_memory,
    check_shared,
    check_stages,
    check_learns,
)


EXTERNAL_CHECKS: tuple[Check, ...] = (
    check_declaration,
    check_lists,
    check_deterministic,
    check_excludes,
    check_users_without_history,
    check_items_without_history,
    check_long_lists,
    check_repeated_events,
    check_learns,
)
"""What an algorithm in an environment of its own is asked: that what comes back is right, and can be trusted."""


def _check_small(make: MakeAlgorithm, *, user: list[int], item: list[int], n_users: int, n_items: int, k: int) -> None:
    train = example_interactions(np.array(user), np.array(item), n_users=n_users, n_items=n_items)
    _check_forms(make(), train, k)


def _check_forms(algorithm: Algorithm, train: Interactions, k: int) -> None:
    """Lists for everyone, of all items and of unseen ones."""
    model, users = fitted(algorithm, train), everyone(train)
    for exclude in (None, train.csr()):
        check_form(algorithm, model.recommend(users, k, exclude=exclude), users, k, train.n_items)
