"""Claims over universes: which are made, what the universes say, where they fail, and the joint test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from recassay.analysis.verdict.claims import parse_claim
from recassay.core import ties
from recassay.core.content import content_order
from recassay.core.types import BoolArray, FloatArray, IntArray

RANGE = 100
"""Relabelled tables that the share of universes by chance is taken from."""

WORTH = 1 / 3
"""Choices describe the failures of a claim where it fails in at least this share of the universes with them."""

MOST = 3
"""Descriptions that are given of the failures of a claim."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A claim as it is made: that an algorithm beats another, or (no rival) all others."""

    algorithm: int
    rival: int | None
    named: bool

    def statement(self, names: Sequence[str]) -> str:
        """As people read it, such as `A is best` or `A > B`."""
        subject = names[self.algorithm]
        return f"{subject} is best" if self.rival is None else f"{subject} > {names[self.rival]}"


def named_claims(claims: Sequence[str], algorithms: Sequence[str]) -> list[Stated]:
    """The claims that were given as text (see `parse_claim`), each once."""
    place = {name: a for a, name in enumerate(algorithms)}
    parsed = dict.fromkeys(parse_claim(text, algorithms) for text in claims)
    return [Stated(place[claim.better], None if claim.worse is None else place[claim.worse], True) for claim in parsed]


def first_places(mean_ranks: FloatArray) -> BoolArray:
    """Which algorithms have the best mean rank (... x algorithms), ties all of them."""
    return np.asarray(mean_ranks <= np.nanmin(mean_ranks, axis=-1, keepdims=True) + 1e-9)


def overall_ranks(mean_ranks: FloatArray) -> FloatArray:
    """The mean over the universes of each algorithm (universes x algorithms in); NaN for one that is in none."""
    known = np.isfinite(mean_ranks).sum(axis=0)
    return np.where(known > 0, np.nansum(mean_ranks, axis=0) / np.maximum(known, 1), np.nan)


def suggested_claims(mean_ranks: FloatArray) -> list[Stated]:
    """`A is best` for every algorithm that is first somewhere, and `A > B` for the leader against each rival."""
    counts, overall = first_places(mean_ranks).sum(axis=0), overall_ranks(mean_ranks)
    order = sorted(np.flatnonzero(np.isfinite(overall)).tolist(), key=lambda a: (-counts[a], overall[a]))
    best = [Stated(a, None, False) for a in order if counts[a]]
    return best + [Stated(order[0], b, False) for b in sorted(order[1:], key=lambda b: overall[b])]


def opponent(scores: FloatArray, algorithm: int, rival: int | None) -> FloatArray:
    """Of scores whose lower values are better (... x algorithms), the rival's, or the best other; NaN where absent."""
    if rival is not None:
        return scores[..., rival]
    others = np.delete(scores, algorithm, axis=-1)
    best = np.where(np.isnan(others), np.inf, others).min(axis=-1)
    return np.where(np.isinf(best), np.nan, best)


def observed(claim: Stated, scores: FloatArray) -> IntArray:
    """1 ahead, 0 tied, -1 behind, by scores whose lower values are better (... x algorithms); -2 where absent."""
    subject, other = scores[..., claim.algorithm], opponent(scores, claim.algorithm, claim.rival)
    absent = np.isnan(subject) | np.isnan(other)
    return np.where(absent, -2, ties.sign(np.where(absent, 0.0, other), np.where(absent, 0.0, subject)))


def shown(claim: Stated, better: BoolArray, present: BoolArray) -> IntArray:
    """1 it holds, -1 it is reversed, 0 undecided, by who is shown to be better (universes x a x b)."""
    subject, rival = claim.algorithm, claim.rival
    if rival is not None:
        return np.asarray(better[:, subject, rival].astype(np.int64) - better[:, rival, subject])
    beaten = better[:, subject] | ~present
    beaten[:, subject] = True
    return np.asarray(beaten.all(axis=1).astype(np.int64) - better[:, :, subject].any(axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class JointTest:
    """Tables in which the algorithms of every dataset are relabelled at random, in all universes alike.

    Only algorithms that are in every universe are relabelled; the numbers of the others are NaN.
    """

    totals: FloatArray
    """Tables x algorithms: the mean over universes of the mean rank; the observed table first."""
    best: FloatArray
    """`RANGE` tables x algorithms: the share of universes in which each is first alone."""
    before: FloatArray
    """`RANGE` tables x algorithms, twice: the share of universes in which one is before the other."""

    def p(self, claim: Stated) -> float | None:
        """How often a relabelled table supports a claim as much as the observed one.

        The support is the lead in mean rank, averaged over universes. A claim named beforehand is compared with the
        same claim in the relabelled tables, a suggested one with the best supported claim of its kind.
        """
        against = support = opponent(self.totals, claim.algorithm, claim.rival) - self.totals[:, claim.algorithm]
        if np.isnan(support[0]):
            return None
        if not claim.named:
            ordered = np.sort(self.totals, axis=1)  # those that are not relabelled last
            last = 1 if claim.rival is None else int(np.isfinite(ordered[0]).sum()) - 1
            against = ordered[:, last] - ordered[:, 0]
        p = float((against[1:] >= support[0] - 1e-9).sum() + 1) / len(against)
        if claim.rival is None or claim.named:
            return p
        # What is better than all others is better than each of them.
        return min(p, self.p(Stated(claim.algorithm, None, False)) or 1.0)

    def chance(self, claim: Stated) -> float | None:
        """The share of universes in which equal algorithms are ahead: what 5 % of the relabelled tables exceed."""
        shares = self.best if claim.rival is None else self.before
        by_table = shares[:, claim.algorithm] if claim.rival is None else shares[:, claim.algorithm, claim.rival]
        if not np.isfinite(by_table).any():
            return None
        if not claim.named:
            by_table = np.nanmax(shares.reshape(len(shares), -1), axis=1)
        return float(np.quantile(by_table, 0.95))


def joint_test(ranks: FloatArray, permutations: int, rng: np.random.Generator) -> JointTest:
    """Relabel the algorithms within each dataset, in all universes alike (universes x algorithms x datasets in).

    If the algorithms were equal, their names on a dataset would be arbitrary. Universes share data and models, so they
    are relabelled together: what they have in common stays in the comparison.
    """
    present = np.isfinite(ranks).any(axis=2)
    common = np.flatnonzero(present.all(axis=0))
    common = common if len(common) > 1 else common[:0]
    (_, every, n), k, tables = ranks.shape, len(common), min(RANGE, permutations)
    # A dataset counts in a universe where every common algorithm has a rank on it.
    # What is drawn is drawn in an order of the content: names and orders have no part in it.
    part = ranks[:, common]
    whole: BoolArray = np.asarray(np.isfinite(part).all(axis=1))
    content = content_order(_mixed(np.where(whole[:, None], part, 0.0)))
    common, part = common[content.rows], part[:, content.rows][:, :, content.columns]
    known: BoolArray = np.asarray(np.isfinite(part).all(axis=1))
    weights: FloatArray = known / np.maximum(known.sum(axis=1, keepdims=True), 1)
    part = np.where(known[:, None], part, 0.0) * weights[:, None]
    mean = part.mean(axis=0)
    labels = np.tile(np.arange(k), (permutations, n, 1))
    labels = rng.permuted(labels, axis=2).transpose(0, 2, 1)
    totals = np.full((1 + permutations, every), np.nan)
    totals[:, common] = np.concatenate([mean.sum(axis=1)[None], mean[labels, np.arange(n)].sum(axis=2)])
    best, before = np.full((tables, every), np.nan), np.full((tables, every, every), np.nan)
    for at, each in enumerate(labels[:RANGE]):
        means = part[:, each, np.arange(n)].sum(axis=2)
        ahead = means[:, :, None] < means[:, None, :] - 1e-9
        before[at][np.ix_(common, common)] = ahead.mean(axis=0)
        best[at, common] = (ahead.sum(axis=2) == k - 1).mean(axis=0)
    return JointTest(totals, best, before)


def _mixed(ranks: FloatArray) -> FloatArray:
    """Universes in one matrix (algorithms x datasets): rows are alike in it where they are in every universe."""
    weights = np.sqrt(np.arange(2.0, 2 + len(ranks)))
    return np.asarray((weights[:, None, None] * ranks).sum(axis=0).round(9))


@dataclass(frozen=True, slots=True)
class Exceptions:
    """Choices under which a claim is not seen."""

    choices: dict[str, str]
    """By axis, one or two."""
    fails: int
    """In how many universes with these choices it is not seen."""
    of: int
    """How many such universes there are."""


def describe(fails: BoolArray, places: IntArray, axes: Mapping[str, Sequence[str]]) -> tuple[Exceptions, ...]:
    """The choices, one or two at a time, under which a claim is not seen; none where it mostly is not.

    A description must hold for at least `WORTH` of the universes with these choices, and for two failures. The one that
    agrees best with the failures (Dice) comes first, then the one that agrees best with those left, at most `MOST`.
    """
    names, sizes = list(axes), [len(choices) for choices in axes.values()]
    left = fails.copy()
    found: list[Exceptions] = []
    while len(found) < MOST and left.sum() > 1 and fails.mean() <= 0.5:
        best: tuple[float, int, tuple[tuple[int, int], ...]] = (0.0, 0, ())
        for size in (1, 2):
            for chosen in combinations(range(len(axes)), size):
                shape = tuple(sizes[i] for i in chosen)
                cell = np.ravel_multi_index(tuple(places[:, i] for i in chosen), shape)
                hits, all_hits, whole = (
                    np.bincount(cell[part], minlength=int(np.prod(shape)))
                    for part in (left, fails, np.full(len(fails), True))
                )
                fits = (hits > 1) & (all_hits >= WORTH * whole)
                score = np.where(fits, 2 * hits / (left.sum() + whole), 0.0)
                at = int(score.argmax())
                if (score[at], -size) > best[:2]:
                    choices = (int(place) for place in np.unravel_index(at, shape))
                    best = (float(score[at]), -size, tuple(zip(chosen, choices, strict=True)))
        if not best[2]:
            break
        inside = np.all([places[:, i] == at for i, at in best[2]], axis=0)
        choices_of = {names[i]: axes[names[i]][at] for i, at in best[2]}
        found.append(Exceptions(choices_of, int((fails & inside).sum()), int(inside.sum())))
        left &= ~inside
    return tuple(found)
