"""Attacks on training data: fake users who push items up or nuke them, to measure robustness.

Source: ComPer (section V.B) injects fake profiles that nuke some items and takes the change of the average
hit ratio as robustness; the profiles are those of the shilling literature (Lam and Riedl, WWW 2004; Mobasher,
Burke, Bhaumik and Williams, ACM TOIT 7(4), 2007): a profile holds the target items, selected items and filler
items.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from recassay.core.errors import InputError, UsageError
from recassay.core.specs.specs import AttackKind, AttackSpec
from recassay.core.types import BoolArray, Float32Array, FloatArray, IdArray, IntArray, Interactions

FAKE_USER = "fake-user-"
_CHUNK = 4_000_000


def choose_targets(train: Interactions, kind: AttackKind, count: int, *, rng: np.random.Generator) -> IdArray:
    """`count` target items: to nuke, of the most popular fifth of trained items; to push, of the less popular
    half.

    An item that nobody is recommended cannot be nuked, and one that everybody is recommended cannot be
    pushed. Where a group is smaller than `count` it grows, in order of popularity, until it holds `count`
    items.
    """
    popularity = np.bincount(train.item, minlength=train.n_items)
    trained = np.flatnonzero(popularity)
    if count >= len(trained):
        what = f"{count} target items cannot be drawn from {len(trained)} trained items"
        raise UsageError(what, fix="draw fewer targets")
    ranked = trained[np.argsort(popularity[trained], kind="stable")]
    share = 0.2 if kind == "nuke" else 0.5
    group = max(round(share * len(ranked)), count)
    pool = ranked[-group:] if kind == "nuke" else ranked[:group]
    return np.sort(rng.choice(pool, size=count, replace=False)).astype(np.int32)


def attack(
    train: Interactions, spec: AttackSpec, *, rng: np.random.Generator, targets: IdArray | None = None
) -> Interactions:
    """`train` with fake users appended; real rows keep their place and content, item ids stay as they are.

    Explicit data (with weights, read as ratings; r_min and r_max are the lowest and highest in `train`):
    every profile rates all targets r_max to push and r_min to nuke. `random` rates uniformly drawn filler
    items as draws from N(mean, std) of all ratings, `average` from N(mean_i, std_i) of the item's own
    ratings; draws are clipped and rounded to the nearest rating in use. `bandwagon` adds selected items to
    random filler: the most popular ones at r_max to push; to nuke, the worst rated of the more popular half
    at r_min (reverse bandwagon).

    Implicit data (no weights) has no low rating, so the attack works through co-occurrence. To push, profiles
    hold the targets together with other items: these then co-occur with the targets and recommend them, and
    the targets' counts rise. `random` draws the other items uniformly, `average` in proportion to popularity
    (the make-up of the average profile), `bandwagon` takes the most popular ones and random filler, to reach
    the most users. To nuke, profiles never hold a target. Half of each is drawn from the items nearest to the
    targets in cosine over training users (as many as a profile has items), in proportion to that similarity;
    the rest, by the filler rule and from all other items, are rivals. That lowers the similarity of a target
    t to each neighbour j (c_tj / sqrt(n_t n_j): n_j grows, c_tj does not) and raises that of the rivals,
    which take the target's place in the lists.

    Fake events carry the times of real events drawn at random, so none is later than the last real one. The
    user table becomes text where it was not, so that the added ids can say what they are.
    """
    if not len(train):
        raise InputError("there is no training event to attack", fix="attack a training part with events")
    aims = choose_targets(train, spec.kind, spec.targets, rng=rng) if targets is None else np.unique(targets)
    if not len(aims) or aims[0] < 0 or aims[-1] >= train.n_items:
        raise UsageError(f"targets must be positions of the {train.n_items} items", fix="name at least one item")
    active = int(np.count_nonzero(np.bincount(train.user, minlength=train.n_users)))
    fakes = max(round(spec.size * active), 1)
    length = spec.profile_length or max(round(len(train) / active), 1)
    if train.weight is None:
        items = _implicit_profiles(train, spec, aims, fakes, length, rng)
        weight = None
    else:
        items, ratings = _explicit_profiles(train, spec, aims, fakes, length, rng)
        weight = np.concatenate([train.weight, ratings.ravel()])
    added = items.size
    fake = np.repeat(np.arange(fakes, dtype=np.int32) + train.n_users, items.shape[1])
    return replace(
        train,
        user=np.concatenate([train.user, fake]),
        item=np.concatenate([train.item, items.ravel()]),
        users=_with_fakes(train.users, fakes),
        weight=weight,
        time=None
        if train.time is None
        else np.concatenate([train.time, train.time[rng.integers(0, len(train), added)]]),
    )


def _explicit_profiles(
    train: Interactions, spec: AttackSpec, targets: IdArray, fakes: int, length: int, rng: np.random.Generator
) -> tuple[IdArray, Float32Array]:
    """Items and ratings of the fake profiles: targets, then selected, then filler items."""
    weight = train.weight
    assert weight is not None
    scale = np.unique(weight)
    extreme = scale[0] if spec.kind == "nuke" else scale[-1]
    count = np.bincount(train.item, minlength=train.n_items)
    known = np.maximum(count, 1)
    mean, deviation = float(weight.mean(dtype=np.float64)), float(weight.std(dtype=np.float64))
    item_mean = np.where(count, np.bincount(train.item, weight, train.n_items) / known, mean)
    squares = np.bincount(train.item, (weight - item_mean[train.item]) ** 2, train.n_items)
    item_deviation = np.where(count, np.sqrt(squares / known), deviation)

    selected = np.empty(0, dtype=np.int32)
    if spec.filler == "bandwagon":
        by_popularity = _most(count, targets)
        if spec.kind == "nuke":
            popular = by_popularity[: max(len(by_popularity) // 2, 1)]
            by_popularity = popular[np.argsort(item_mean[popular], kind="stable")]
        selected = by_popularity[: min(spec.selected, length)]
    candidates = _open(count > 0, targets, selected).astype(np.float64)
    filler = _distinct_items(candidates, fakes, length - len(selected), rng)
    fixed = np.concatenate([targets, selected]).astype(np.int32)
    items = np.hstack([np.broadcast_to(fixed, (fakes, len(fixed))), filler])
    if spec.filler == "average":
        drawn = rng.normal(item_mean[filler], item_deviation[filler])
    else:
        drawn = rng.normal(mean, deviation, filler.shape)
    ratings = np.hstack([np.full((fakes, len(fixed)), extreme), _on_scale(drawn, scale)])
    return items, ratings.astype(np.float32)


def _implicit_profiles(
    train: Interactions, spec: AttackSpec, targets: IdArray, fakes: int, length: int, rng: np.random.Generator
) -> IdArray:
    """Items of the fake profiles; see `attack` for what each kind and filler means."""
    count = np.bincount(train.item, minlength=train.n_items)
    fixed = np.empty(0, dtype=np.int32) if spec.kind == "nuke" else targets
    parts = [np.broadcast_to(fixed, (fakes, len(fixed)))]
    taken: IdArray = targets
    if spec.kind == "nuke":
        near = _neighbours(train, count, targets, most=length)
        parts.append(_distinct_items(near, fakes, length // 2, rng))
        taken = np.concatenate([targets, np.flatnonzero(near).astype(np.int32)])
        length -= parts[-1].shape[1]
    if spec.filler == "bandwagon":
        selected = _most(count, taken)[: min(spec.selected, length)]
        parts.append(np.broadcast_to(selected, (fakes, len(selected))))
        taken = np.concatenate([taken, selected])
        length -= len(selected)
    candidates = _open(count > 0, taken).astype(np.float64)
    parts.append(_distinct_items(candidates * count if spec.filler == "average" else candidates, fakes, length, rng))
    items = np.hstack(parts).astype(np.int32)
    if not items.shape[1]:
        raise InputError("no item is left for the fake profiles", fix="use fewer targets or more items")
    return items


def _neighbours(train: Interactions, count: IntArray, targets: IdArray, *, most: int) -> FloatArray:
    """The similarity to the targets, sum over t of c_tj / sqrt(n_j), of the nearest items; 0 for all others.

    At most `most` items and at most half of those that are not targets, so that rivals remain.
    """
    matrix = train.csr()
    chosen = np.zeros(train.n_items, dtype=np.float64)
    chosen[targets] = 1.0
    similarity: FloatArray = (matrix.T @ (matrix @ chosen)) / np.sqrt(np.maximum(count, 1))
    similarity[targets] = 0.0
    others = int(np.count_nonzero(count)) - len(targets)
    similarity[np.argsort(-similarity, kind="stable")[min(most, max(others // 2, 0)) :]] = 0.0
    return similarity


def _most(count: IntArray, excluded: IdArray) -> IdArray:
    """Items with training events by falling count, less `excluded`."""
    order = np.argsort(-count, kind="stable")
    return order[_open(count > 0, excluded)[order]].astype(np.int32)


def _open(allowed: BoolArray, *excluded: IdArray) -> BoolArray:
    free = allowed.copy()
    for items in excluded:
        free[items] = False
    return free


def _distinct_items(weights: FloatArray, rows: int, length: int, rng: np.random.Generator) -> IdArray:
    """`rows` draws of `length` different items, one after the other in proportion to `weights`; fewer if few
    exist.

    Drawing with replacement and skipping repeats is drawing without; a row whose draws repeat too much is
    drawn again by an exponential race over all items (the smallest of Exp(1) / weight win), which is the same
    distribution.
    """
    positive = np.flatnonzero(weights)
    length = max(min(length, len(positive)), 0)
    if not length:
        return np.empty((rows, 0), dtype=np.int32)
    shares = weights[positive]
    cumulative = np.cumsum(shares)
    cumulative /= cumulative[-1]
    width = 2 * length + 8
    drawn = np.empty((rows, length), dtype=np.int64)
    step = max(_CHUNK // max(width, len(positive)), 1)
    for start in range(0, rows, step):
        block = drawn[start : start + step]
        tries = np.searchsorted(cumulative, rng.random((len(block), width)), side="right")
        order = np.argsort(tries, axis=1, kind="stable")
        ordered = np.take_along_axis(tries, order, axis=1)
        new = np.ones_like(ordered, dtype=np.bool_)
        new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
        first = np.empty_like(new)
        np.put_along_axis(first, order, new, axis=1)
        rank = np.cumsum(first, axis=1)
        full = rank[:, -1] >= length
        block[full] = tries[full][(first & (rank <= length))[full]].reshape(-1, length)
        if not full.all():
            race = rng.exponential(size=(int(np.count_nonzero(~full)), len(positive))) / shares
            block[~full] = np.argpartition(race, length - 1, axis=1)[:, :length]
    return positive[drawn].astype(np.int32)


def _on_scale(drawn: FloatArray, scale: Float32Array) -> FloatArray:
    """Each value replaced by the nearest rating in use."""
    middles = (scale[1:].astype(np.float64) + scale[:-1]) / 2
    return scale[np.searchsorted(middles, drawn)].astype(np.float64)


def _with_fakes(users: pl.Series, fakes: int) -> pl.Series:
    text = users.cast(pl.String)
    prefix = FAKE_USER
    while text.str.starts_with(prefix).any():
        prefix = "another-" + prefix
    added = pl.Series(np.arange(1, fakes + 1)).cast(pl.String)
    return pl.concat([text, (prefix + added).alias(text.name)])
