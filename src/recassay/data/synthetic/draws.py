"""Drawing items for events so that no user meets an item twice: redraw what collides, then finish exactly.

An event is a user at a time. Its item is drawn from the user's distribution over the catalogue, and drawn
again while the user already has it: sampling without replacement in the order of the events. The rare
event that still collides after many rounds (a user who has nearly all the items they like) gets its item
from the exact distribution over what is left, by the Gumbel top-k rule.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from recassay.core.errors import UsageError
from recassay.core.pairs import contained
from recassay.core.types import BoolArray, FloatArray, IdArray, IntArray

_ROUNDS = 40
_BLOCK_CELLS = 4_000_000
_CACHE_CELLS = 32_768
_BELOW_ONE = 1 - 1e-12


@dataclass(slots=True)
class SeenPairs:
    """The user-item pairs drawn so far: sorted arrays of keys, each several times longer than the next."""

    n_items: int
    tiers: list[IntArray] = field(default_factory=list)

    def keys(self, users: IdArray, items: IdArray) -> IntArray:
        """user * n_items + item."""
        return users.astype(np.int64) * self.n_items + items

    def contains(self, keys: IntArray) -> BoolArray:
        """Which of `keys` (sorted, for speed) are here."""
        present = np.zeros(len(keys), dtype=np.bool_)
        for tier in self.tiers:
            present |= contained(keys, tier)
        return present

    def add(self, keys: IntArray) -> None:
        """Take in sorted `keys` that are not here yet."""
        if len(keys) == 0:
            return
        self.tiers.append(keys)
        while len(self.tiers) > 1 and len(self.tiers[-2]) < 4 * len(self.tiers[-1]):
            merged = np.concatenate((self.tiers[-2], self.tiers[-1]))
            merged.sort(kind="stable")
            self.tiers[-2:] = [merged]

    def mask(self, users: IdArray) -> BoolArray:
        """users x items: what each of `users` already has."""
        taken = np.zeros((len(users), self.n_items), dtype=np.bool_)
        start = users.astype(np.int64) * self.n_items
        for tier in self.tiers:
            low = np.searchsorted(tier, start)
            count = np.searchsorted(tier, start + self.n_items) - low
            row = np.repeat(np.arange(len(users)), count)
            within = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
            taken[row, tier[low[row] + within] - start[row]] = True
        return taken


class MixtureSampler:
    """Draws from P(item | user) = sum_c weights[user, c] * components[c, item]."""

    def __init__(self, weights: FloatArray, components: FloatArray) -> None:
        self.weights, self.components = weights, components
        self._weight_ladder, self._component_ladder = _ladder(weights), _ladder(components)

    def draw(self, users: IdArray, rng: np.random.Generator) -> IdArray:
        """One item for each of `users`, independent of each other."""
        component = _climb(self._weight_ladder, users, self.weights.shape[1], rng)
        return _climb(self._component_ladder, component, self.components.shape[1], rng)

    def probabilities(self, users: IdArray) -> FloatArray:
        """users x items, added up component by component in blocks that stay in the processor's cache.

        Not a matrix product: its last bits may depend on the number of threads, and with them the data.
        """
        n_items = self.components.shape[1]
        block = np.zeros((len(users), n_items))
        rows = max(1, _CACHE_CELLS // n_items)
        for first in range(0, len(users), rows):
            part = block[first : first + rows]
            weights = self.weights[users[first : first + rows]]
            for component, shares in enumerate(self.components):
                part += weights[:, component, None] * shares
        return block


def draw_distinct(users: IdArray, sampler: MixtureSampler, seen: SeenPairs, rng: np.random.Generator) -> IdArray:
    """An item for each event of `users`, in their order, that is not yet in `seen`, which grows by them."""
    by_user = np.argsort(users, kind="stable")
    users = users[by_user]
    items = np.empty(len(users), dtype=np.int32)
    pending = np.arange(len(users))
    for _ in range(_ROUNDS):
        if len(pending) == 0:
            break
        # Of pairs that are new, the first event of each is accepted; all others are drawn again.
        drawn = sampler.draw(users[pending], rng)
        keys = seen.keys(users[pending], drawn)
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        accepted = ~seen.contains(keys)
        accepted[1:] &= keys[1:] != keys[:-1]
        items[pending[order[accepted]]] = drawn[order[accepted]]
        seen.add(keys[accepted])
        pending = np.sort(pending[order[~accepted]])
    # What still collides is drawn exactly, some users at a time: a row of all items for each of them.
    owners, first_event = np.unique(users[pending], return_index=True)
    rows_at_once = max(1, _BLOCK_CELLS // seen.n_items)
    for block in np.split(pending, first_event[rows_at_once::rows_at_once]) if len(owners) else []:
        items[block] = _draw_exactly(users[block], sampler, seen, rng)
    in_order = np.empty_like(items)
    in_order[by_user] = items
    return in_order


def _draw_exactly(users: IdArray, sampler: MixtureSampler, seen: SeenPairs, rng: np.random.Generator) -> IdArray:
    """Gumbel top-k (Kool et al. 2019): the k largest log P + Gumbel noise are draws without replacement."""
    owners, row, count = np.unique(users, return_inverse=True, return_counts=True)
    with np.errstate(divide="ignore"):
        score = np.log(sampler.probabilities(owners))
    score += rng.gumbel(size=score.shape)
    score[seen.mask(owners)] = -np.inf
    # The best items of every user in order; the events of a user take them one after the other.
    most = int(count.max())
    best = np.argpartition(-score, most - 1, axis=1)[:, :most]
    best = np.take_along_axis(best, np.argsort(-np.take_along_axis(score, best, axis=1), axis=1), axis=1)
    order = np.argsort(row, kind="stable")
    rank = np.empty(len(users), dtype=np.int64)
    rank[order] = np.arange(len(users)) - np.repeat(np.cumsum(count) - count, count)
    items = best[row, rank].astype(np.int32)
    if not np.isfinite(score[row, items]).all():
        what = "a synthetic user has more interactions than there are items for them"
        raise UsageError(what, fix="ask for fewer interactions, more items, or a smaller new_items")
    seen.add(np.sort(seen.keys(users, items)))
    return items


def _ladder(rows: FloatArray) -> FloatArray:
    """All rows' cumulative shares in one ascending array: row r climbs from r to r + 1."""
    ladder = np.cumsum(rows, axis=1)
    ladder /= ladder[:, -1:]
    ladder += np.arange(len(rows))[:, None]
    return ladder.ravel()


def _climb(ladder: FloatArray, rows: IdArray, width: int, rng: np.random.Generator) -> IdArray:
    """A column for each of `rows`, drawn by inverting that row's cumulative shares.

    The search is many times faster on (nearly) sorted values, which ascending rows give by themselves. Past
    some thousand rows, a draw just below 1 can round up to the next row; it counts as the last column.
    """
    height = rng.random(len(rows))
    height *= _BELOW_ONE
    height += rows
    if (rows[1:] >= rows[:-1]).all():
        step = np.searchsorted(ladder, height, side="right")
    else:
        order = np.argsort(height)
        step = np.empty(len(rows), dtype=np.int64)
        step[order] = np.searchsorted(ladder, height[order], side="right")
    step -= rows.astype(np.int64) * width
    return np.minimum(step, width - 1).astype(np.int32)
