"""Rate algorithms by who beats whom on which dataset, with intervals over datasets or families of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from recassay.analysis.aggregation.contest import share_of_best
from recassay.analysis.inference.bootstrap import content_weights, refuse_few
from recassay.analysis.inference.distributions import t_quantile
from recassay.analysis.inference.families import family_numbers
from recassay.analysis.inference.significance import dataset_ranks
from recassay.analysis.ratings.newton import climb
from recassay.analysis.ratings.result import RatingsResult
from recassay.core import columns as c
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.blocks import number_blocks
from recassay.core.choices import DRAWS_OF
from recassay.core.errors import UsageError
from recassay.core.names import canonical, did_you_mean
from recassay.core.seeds import derived_rng
from recassay.core.tables.matrix import Matrix
from recassay.core.tables.results import Results
from recassay.core.types import FloatArray

ANCHOR, MIDDLE = 1000.0, 1500.0
"""The rating of a named baseline; without one, the mean rating of all."""

USUAL_BASELINES = ("MostPop", "Popularity", "Pop", "TopPop")

CLIP = 100.0
"""A ratio to the baseline counts as at most this (and at least its inverse) in the skill score."""


def rate_by_pairs(
    matrix: Matrix,
    *,
    baseline: str | None = None,
    families: str | Mapping[str, str] | None = None,
    replicates: int | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> RatingsResult:
    """Bradley-Terry ratings: every dataset is a round in which all algorithms meet, and its order does not matter.

    Intervals: datasets drawn with replacement, or whole `families` of them (a mapping by dataset, or `auto`: the name
    up to its first digit, hyphen, underscore or dot), and everything fitted again. `baseline` is rated 1000 and is what
    the skill score compares with; without one the mean rating is 1500, and the usual baseline of the table is taken for
    the skill score where there is one.
    """
    replicates = DRAWS_OF["ratings"].number(replicates, len(matrix.algorithms))
    refuse_few(replicates)
    ranks = dataset_ranks(matrix)
    k = len(ranks)
    points, win_rate = np.empty(ranks.shape), np.empty((k, k))
    for a, ranks_of in enumerate(ranks):
        won = (ranks_of < ranks) + 0.5 * (ranks_of == ranks)
        won[a] = 0.0
        points[a], win_rate[a] = won.sum(axis=0), won.mean(axis=1)
    anchor = _anchor(matrix.algorithms, baseline)
    groups = family_numbers(matrix.datasets, families)
    n_groups = int(groups.max()) + 1
    rng = derived_rng(seed, "ratings", matrix.metric)
    drawn = content_weights(
        matrix.upward, replicates=replicates, rng=rng, families=None if families is None else groups
    )
    once = 1 - np.eye(k)[None]
    whole = strengths(points.sum(axis=1)[None], once, np.full(1, float(len(matrix.datasets))))[0]
    sampled = strengths(drawn @ points.T, once, drawn.sum(axis=1), start=whole)
    rating = _on_scale(whole[None], anchor)[0]
    spread = _on_scale(sampled, anchor)
    skilled = anchor if anchor is not None else _find(matrix.algorithms, *USUAL_BASELINES)
    return RatingsResult(
        *matrix.head,
        families=n_groups if families is not None else None,
        rating=rating,
        interval=_with_open_ends(
            _ends(rating, spread, n_groups, confidence=confidence), win_rate, rating, n_groups, confidence=confidence
        ),
        win_rate=win_rate,
        improvability=_improvability(matrix),
        skill=None if skilled is None else _skill(matrix, skilled),
        anchored=None if anchor is None else matrix.algorithms[anchor],
        baseline=None if skilled is None else matrix.algorithms[skilled],
        replicates=replicates,
        confidence=confidence,
        seed=seed,
    )


WON = "won"
"""The metric of battles: 1 for the winner, 0 for the loser, 0.5 for both in a tie."""

REPLICATES_OF_BATTLES = 1_000
_BLOCK = 4_000_000
"""Games (replicates x players x players) held at once."""


def rate_battles(
    battles: pl.DataFrame,
    *,
    baseline: str | None = None,
    replicates: int | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> RatingsResult:
    """Bradley-Terry ratings of models that met in pairs; `battles` has one row per battle and model (`user`, `won`).

    Intervals: battles drawn with replacement and everything fitted again, as Chatbot Arena does.
    """
    replicates = REPLICATES_OF_BATTLES if replicates is None else replicates
    refuse_few(replicates)
    met = battles.group_by(c.USER, c.DATASET, maintain_order=True).agg(c.ALGORITHM, pl.col(c.VALUE))
    if (met.get_column(c.ALGORITHM).list.len() != 2).any():
        raise UsageError("in some battles there are not two algorithms", fix="give two different ones in every battle")
    names = tuple(sorted(battles.get_column(c.ALGORITHM).unique().to_list()))
    place, k = {name: i for i, name in enumerate(names)}, len(names)
    first, second = (np.array([place[pair[i]] for pair in met.get_column(c.ALGORITHM)]) for i in (0, 1))
    result = np.array([pair[0] for pair in met.get_column(c.VALUE)])
    # Battles of the same two with the same result are one kind; a bootstrap draws how many there are of each.
    kinds, count = np.unique(np.stack([first, second, 2 * result]), axis=1, return_counts=True)
    a, b, won = kinds[0].astype(np.int64), kinds[1].astype(np.int64), kinds[2] / 2
    rng = derived_rng(seed, "ratings", "battles")
    drawn = rng.multinomial(len(met), count / len(met), size=replicates).astype(np.float64)

    def strengths_of(weights: FloatArray, start: FloatArray | None = None) -> FloatArray:
        points, games = np.zeros((len(weights), k)), np.zeros((len(weights), k, k))
        for kind in range(len(a)):
            points[:, a[kind]] += weights[:, kind] * won[kind]
            points[:, b[kind]] += weights[:, kind] * (1 - won[kind])
            games[:, a[kind], b[kind]] += weights[:, kind]
        return strengths(points, games + games.transpose(0, 2, 1), start=start)

    whole = strengths_of(count[None].astype(np.float64))[0]
    parts = [strengths_of(drawn[part], whole) for part in number_blocks(replicates, k**2, _BLOCK)]
    anchor = _anchor(names, baseline)
    rating = _on_scale(whole[None], anchor)[0]
    played, made = np.zeros((k, k)), np.zeros((k, k))
    np.add.at(played, (a, b), count)
    np.add.at(played, (b, a), count)
    np.add.at(made, (a, b), count * won)
    np.add.at(made, (b, a), count * (1 - won))
    return RatingsResult(
        metric=WON,
        higher_is_better=True,
        algorithms=names,
        datasets=(),
        families=None,
        rating=rating,
        interval=_ends(rating, _on_scale(np.vstack(parts), anchor), len(met), confidence=confidence),
        win_rate=np.divide(made, played, out=np.zeros((k, k)), where=played > 0),
        improvability=np.full(k, np.nan),
        skill=None,
        anchored=None if anchor is None else names[anchor],
        baseline=None,
        replicates=replicates,
        confidence=confidence,
        seed=seed,
        battles=len(met),
    )


def _ends(rating: FloatArray, drawn: FloatArray, rounds: int, confidence: float) -> FloatArray:
    """Rating plus and minus Student's t times the deviation of the bootstrap: percentiles of few are too narrow."""
    if rounds < 2:
        return np.stack([rating, rating], axis=1)
    reach = float(t_quantile(0.5 + confidence / 2, rounds - 1)) * np.sqrt(rounds / (rounds - 1)) * drawn.std(axis=0)
    return np.stack([rating - reach, rating + reach], axis=1)


def _with_open_ends(
    ends: FloatArray, win_rate: FloatArray, rating: FloatArray, rounds: int, confidence: float
) -> FloatArray:
    """Intervals, open above for an algorithm that won every meeting and below for one that lost every meeting.

    No resampling of wins alone shows a loss. The other end is the rating at which the share of meetings won is the
    least that explains so many wins: (tail)^(1 / rounds), 0.78 for 15 of 15 at 95 % (Clopper and Pearson 1934).
    """
    k = len(rating)
    opened = ends.copy()
    least = ((1 - confidence) / 2) ** (1 / rounds)
    others = ~np.eye(k, dtype=bool)
    for a in range(k):
        for result, side in ((1.0, 0), (0.0, 1)):
            if (win_rate[a, others[a]] == result).all():
                opened[a, side] = _rating_with(least if side == 0 else 1 - least, rating[others[a]])
                opened[a, 1 - side] = np.inf if side == 0 else -np.inf
    return opened


def _rating_with(share: float, others: FloatArray) -> float:
    """The rating that wins this share of its meetings with the others."""
    low, high = float(others.min()) - 4000, float(others.max()) + 4000
    for _ in range(60):
        middle = (low + high) / 2
        won = float((1 / (1 + 10 ** ((others - middle) / 400))).mean())
        low, high = (middle, high) if won < share else (low, middle)
    return (low + high) / 2


def _on_scale(strength: FloatArray, anchor: int | None) -> FloatArray:
    elo = ELO * strength
    return MIDDLE + elo if anchor is None else ANCHOR + elo - elo[:, anchor : anchor + 1]


def _find(algorithms: Sequence[str], *names: str) -> int | None:
    """The place of the first of these names that an algorithm has, however it is written."""
    places = {canonical(algorithm): place for place, algorithm in enumerate(algorithms)}
    return next((places[canonical(name)] for name in names if canonical(name) in places), None)


def _anchor(algorithms: Sequence[str], baseline: str | None) -> int | None:
    """The place of the baseline that was named."""
    if baseline is None:
        return None
    place = _find(algorithms, baseline)
    if place is None:
        raise UsageError(f"no algorithm {baseline!r} in these results", fix=did_you_mean(baseline, algorithms))
    return place


def _improvability(matrix: Matrix) -> FloatArray:
    """1 - value / best, averaged over datasets: the share of the best score that an algorithm leaves on the table.

    For lower-is-better metrics 1 - best / value (Salinas and Erickson 2024, TabRepo; TabArena 2025). Needs values of at
    least 0, else NaN; a dataset on which the best is 0 counts 0.
    """
    if (matrix.values < 0).any():
        return np.full(len(matrix.algorithms), np.nan)
    lost: FloatArray = 1 - share_of_best(matrix.values, higher_is_better=matrix.higher_is_better)
    return lost.mean(axis=1)


def _skill(matrix: Matrix, baseline: int) -> FloatArray:
    """The geometric mean over datasets of the ratio to the baseline, minus 1 (for lower-is-better metrics 1 minus it):
    0.1 is 10 % better than the baseline. Ratios are clipped to [1 / 100, 100] (fev-bench 2025); NaN with negative
    values."""
    if (matrix.values < 0).any():
        return np.full(len(matrix.algorithms), np.nan)
    base = matrix.values[baseline]
    ratio = np.where(matrix.values == base, 1.0, CLIP)
    np.divide(matrix.values, base, out=ratio, where=base > 0)
    mean = np.exp(np.log(np.clip(ratio, 1 / CLIP, CLIP)).mean(axis=1))
    return mean - 1 if matrix.higher_is_better else 1 - mean


ELO = 400 / np.log(10)
"""Points of the Elo scale for one unit of log odds: 400 points are odds of 10 to 1."""

VIRTUAL_GAMES = 1.0
"""Drawn games that everybody plays besides, spread over the opponents: one who loses everything has a finite rating."""

STEPS = 25
TOLERANCE = 1e-8
"""Of the last step in log strength."""


def strengths(
    points: FloatArray, games: FloatArray, rounds: FloatArray | None = None, start: FloatArray | None = None
) -> FloatArray:
    """The maximum-likelihood log strengths of every table, with mean 0: tables x players.

    P(i beats j) = 1 / (1 + exp(s_j - s_i)) (Bradley and Terry 1952). `points[t, i]` are those that i made, a tie giving
    half to both, in `games[t, i, j]` against each j; where one schedule of games (1 x players x players) was played in
    every table, `rounds[t]` says how often. Newton's method on the concave likelihood.
    """
    tables, k = points.shape
    strength = np.zeros((tables, k)) if start is None else np.broadcast_to(start, (tables, k)).copy()
    scale = np.ones(tables) if rounds is None else rounds
    games, virtual = np.ascontiguousarray(games), VIRTUAL_GAMES / (k - 1)
    climb(np.ascontiguousarray(points), games, scale, virtual, strength, STEPS, TOLERANCE)
    return strength - strength.mean(axis=1, keepdims=True)


def _run(results: Results, spec: AnalysisSpec) -> RatingsResult:
    return rate_by_pairs(spec.matrix(results), replicates=spec.replicates, confidence=1 - spec.alpha, seed=spec.seed)


ANALYSIS = Analysis(
    name="ratings",
    question="How often would one {algorithm} beat another, whatever the order of the {datasets}?",
    source="Bradley and Terry 1952; Chatbot Arena (Chiang et al. 2024), TabArena (Erickson et al. 2025)",
    run=_run,
    aside=3,
)
