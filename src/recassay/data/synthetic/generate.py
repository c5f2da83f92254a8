"""Synthetic interactions with a known truth: who would like what, and when.

The model is `recassay.data.synthetic.truth`'s; here the data are drawn from it, in bounded memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from recassay.core import columns
from recassay.core.seeds import derived_rng
from recassay.core.types import Float32Array, FloatArray, IdArray, Interactions
from recassay.data.synthetic.draws import SeenPairs, draw_distinct
from recassay.data.synthetic.truth import EPOCHS, RATING_NOISE, SyntheticSpec, SyntheticTruth

__all__ = ["SyntheticData", "SyntheticSpec", "SyntheticTruth", "generate"]

_CHUNK_EVENTS = 1_000_000
_DAY = 86_400


@dataclass(frozen=True, slots=True, eq=False)
class SyntheticData:
    """Interactions in the order of time, and the truth behind them; items nobody met stay in the table."""

    interactions: Interactions
    truth: SyntheticTruth


def generate(spec: SyntheticSpec) -> SyntheticData:
    """Draw the dataset that `spec` describes: exactly `n_interactions` of them, no user-item pair twice.

    Every user has at least `min_user_interactions` and at most 60 % of the items there at the start. The
    result is determined by the spec alone. Time and memory grow with the interactions, not with users
    times items.
    """
    truth = _draw_truth(spec)
    user, moment = _draw_events(spec)
    item = _draw_items(truth, user, moment)
    seconds = np.floor(moment * (spec.days * _DAY)).astype(np.int64) + spec.start_time
    interactions = Interactions(
        user=user,
        item=item,
        users=_ids(columns.USER, spec.n_users, spec),
        items=_ids(columns.ITEM, spec.n_items, spec),
        weight=_draw_ratings(truth, user, item) if spec.ratings else None,
        time=seconds,
    )
    return SyntheticData(interactions, truth)


def _draw_truth(spec: SyntheticSpec) -> SyntheticTruth:
    tastes = tastes_end = _shares(spec, "tastes", spec.n_users, spec.taste_breadth)
    if spec.taste_drift > 0:
        tastes_end = _shares(spec, "tastes end", spec.n_users, spec.taste_breadth)
    popularity = popularity_end = _power_law(spec, "popularity", spec.n_items, spec.popularity_exponent)
    if spec.popularity_drift > 0:
        popularity_end = _power_law(spec, "popularity end", spec.n_items, spec.popularity_exponent)
    rng = derived_rng(spec.seed, "synthetic", "births")
    birth = np.zeros(spec.n_items)
    n_new = int(spec.new_items * spec.n_items)
    birth[rng.permutation(spec.n_items)[:n_new]] = rng.integers(1, EPOCHS, n_new) / EPOCHS
    rng = derived_rng(spec.seed, "synthetic", "biases")
    return SyntheticTruth(
        spec=spec,
        tastes_start=tastes,
        tastes_end=tastes_end,
        item_factors=_shares(spec, "item factors", spec.n_items, spec.item_breadth),
        popularity_start=popularity,
        popularity_end=popularity_end,
        birth=birth,
        user_bias=rng.normal(0, 0.4, spec.n_users),
        item_bias=rng.normal(0, 0.4, spec.n_items),
    )


def _draw_events(spec: SyntheticSpec) -> tuple[IdArray, FloatArray]:
    """Who acts, and when (as a share of the span), in the order of time.

    Each user has the minimum of interactions, and a power-law share of the rest; an excess is dealt again.
    """
    rng = derived_rng(spec.seed, "synthetic", "events")
    share = _power_law(spec, "activity", spec.n_users, spec.activity_exponent)
    count = np.full(spec.n_users, spec.min_user_interactions, dtype=np.int64)
    while (left := spec.n_interactions - int(count.sum())) > 0:
        open_share = share * (count < spec.most_per_user)
        count += rng.multinomial(left, open_share / open_share.sum())
        np.minimum(count, spec.most_per_user, out=count)
    length = 1 - spec.user_turnover * rng.random(spec.n_users)
    begin = (1 - length) * rng.random(spec.n_users)
    user = np.repeat(np.arange(spec.n_users, dtype=np.int32), count)
    moment = rng.random(len(user))
    moment *= length[user]
    moment += begin[user]
    order = np.argsort(moment, kind="stable")
    return user[order], moment[order]


def _draw_items(truth: SyntheticTruth, user: IdArray, moment: FloatArray) -> IdArray:
    rng = derived_rng(truth.spec.seed, "synthetic", "items")
    seen = SeenPairs(truth.spec.n_items)
    item = np.empty(len(user), dtype=np.int32)
    ends = np.searchsorted(moment, np.arange(1, truth.n_epochs) / truth.n_epochs)
    begin = 0
    for epoch, end in enumerate([*ends.tolist(), len(user)]):
        sampler = truth.sampler(epoch)
        for first in range(begin, end, _CHUNK_EVENTS):
            part = slice(first, min(first + _CHUNK_EVENTS, end))
            item[part] = draw_distinct(user[part], sampler, seen, rng)
        begin = end
    return item


def _draw_ratings(truth: SyntheticTruth, user: IdArray, item: IdArray) -> Float32Array:
    rng = derived_rng(truth.spec.seed, "synthetic", "ratings")
    rating = np.empty(len(user), dtype=np.float32)
    for first in range(0, len(user), _CHUNK_EVENTS):
        part = slice(first, first + _CHUNK_EVENTS)
        exact = truth.expected_rating(user[part], item[part])
        rating[part] = np.clip(np.rint(exact + rng.normal(0, RATING_NOISE, len(exact))), 1, 5)
    return rating


def _shares(spec: SyntheticSpec, name: str, rows: int, breadth: float) -> FloatArray:
    """Rows of a symmetric Dirichlet distribution over the factors with total concentration `breadth`.

    Drawn in logarithms (gamma(a) ~ gamma(a + 1) * u^(1 / a)), since small concentrations underflow; kept
    off zero.
    """
    rng = derived_rng(spec.seed, "synthetic", name)
    concentration, shape = breadth / spec.n_factors, (rows, spec.n_factors)
    logarithm: FloatArray = np.log(rng.standard_gamma(concentration + 1, size=shape))
    logarithm -= rng.standard_exponential(size=shape) / concentration
    logarithm -= logarithm.max(axis=1, keepdims=True)
    share = np.exp(logarithm)
    share += 1e-9
    share /= share.sum(axis=1, keepdims=True)
    return share


def _power_law(spec: SyntheticSpec, name: str, size: int, exponent: float) -> FloatArray:
    """rank^-exponent with the ranks dealt at random, summing to 1."""
    rng = derived_rng(spec.seed, "synthetic", name)
    weight: FloatArray = np.power(1.0 + rng.permutation(size), -exponent)
    weight /= weight.sum()
    return weight


def _ids(name: str, size: int, spec: SyntheticSpec) -> pl.Series:
    """Ids 1 to `size`, or strings such as `u000001` that sort the same way."""
    numbers = pl.Series(name, np.arange(1, size + 1))
    if spec.id_kind == "integer":
        return numbers
    return (name[0] + numbers.cast(pl.String).str.zfill(len(str(size)))).alias(name)
