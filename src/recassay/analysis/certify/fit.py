"""How far a part of a multiverse settles its claims: shares within a few points, and the choice that decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from recassay.analysis.certify.belief import FREE_MEAN, RHO, START, Blocks, believe
from recassay.analysis.certify.result import CertificateResult, Certified
from recassay.analysis.multiverse.claims import Stated, first_places, named_claims, observed
from recassay.analysis.multiverse.universes import FREE_AXES, find_universes
from recassay.core import ties
from recassay.core.errors import UsageError
from recassay.core.types import BoolArray, FloatArray, IntArray

WITHIN = 0.05
"""A share is certified when it is known within so much."""

STRETCH = 1.1
"""By how much deviations in the draws are stretched before statements are counted: the margin for a model that is wrong
and for looks that stop when it seems sure (docs/multiverse-studies.md)."""

FAILED = 1.0

DRAWS = 240
MOST_CHOICES = 3
"""Further choices of an axis that the first batch is to see, at most: choices of an axis are exchangeable."""

MOST_OF_AN_AXIS, MOST_BLOCKS = 100, 500
"""What a replay can hold: its memory grows with the square of the blocks, and its time with the cube."""

CONFIRMED = 2
"""Looks in a row that must certify everything before a run ends."""

LOOKS = 0.12
"""A batch has this share of the blocks that were run before it, and at least one block."""


@dataclass(frozen=True, slots=True, eq=False)
class Multiverse:
    """The grid that a certificate is about: universes are combinations of paid choices (blocks) and free ones."""

    axes: dict[str, tuple[str, ...]]
    """Paid axes first, then free ones."""
    paid: IntArray
    """Combinations of paid choices x paid axes."""
    free: IntArray
    """Combinations of free choices x free axes."""
    algorithms: tuple[str, ...]
    datasets: tuple[str, ...]
    exists: BoolArray
    """Paid combinations x datasets: which blocks there are."""

    def blocks(self) -> Blocks:
        """All blocks that there are, in the order of `np.nonzero(exists)`."""
        at, dataset = np.nonzero(self.exists)
        return Blocks(self.paid[at], dataset)

    def places(self) -> IntArray:
        """Universes x axes, paid combinations outermost."""
        p, f = len(self.paid), len(self.free)
        return np.hstack([np.repeat(self.paid, f, axis=0), np.tile(self.free, (p, 1))])

    def ranks(self, scores: FloatArray) -> FloatArray:
        """Blocks x outputs: the rank of each algorithm within its block and free choice; NaN for blocks not run."""
        table = scores.reshape(len(scores), -1, len(self.algorithms))
        ranks = ties.ranks(np.nan_to_num(table), higher_is_better=False, axis=2)
        return np.where(np.isnan(table), np.nan, ranks).reshape(scores.shape)

    def weights(self) -> FloatArray:
        """Blocks x paid combinations: what each block counts in the mean over the datasets of its combination."""
        at, _ = np.nonzero(self.exists)
        return np.asarray((at[:, None] == np.arange(len(self.paid))) / np.maximum(self.exists.sum(axis=1), 1))

    def mean_ranks(self, ranks: FloatArray) -> FloatArray:
        """... x universes x algorithms from ... x blocks x outputs: the mean over the datasets of each universe."""
        mean = np.einsum("...bo,bp->...po", ranks, self.weights())
        return mean.reshape(*ranks.shape[:-2], len(self.paid) * len(self.free), len(self.algorithms))


def whole_grid(rows: pl.DataFrame, axes: Sequence[str] | None) -> tuple[Multiverse, FloatArray]:
    """The blocks of a table (paid choices x datasets, with every free choice and algorithm), and their `scores`."""
    universes = find_universes(rows, axes=axes)
    if len(universes.algorithms) < 2:
        raise UsageError("the table has one algorithm", fix="give at least two: claims compare them")
    for name, choices in universes.axes.items():
        if len(choices) > MOST_OF_AN_AXIS:
            what = f"{name!r} has {len(choices):,} choices, and at most {MOST_OF_AN_AXIS} can be certified"
            raise UsageError(what, fix="name the columns that are choices as `axes`")
    costly = [i for i, name in enumerate(universes.axes) if name not in FREE_AXES]
    free = [i for i, name in enumerate(universes.axes) if name in FREE_AXES]
    if not costly:
        raise UsageError("all choices of the table are free: metric and cut-off", fix="add a column per other choice")
    paid, at = np.unique(universes.places[:, costly], axis=0, return_inverse=True)
    rest, of = np.unique(universes.places[:, free], axis=0, return_inverse=True)
    k, n = len(universes.algorithms), len(universes.datasets)
    values = np.full((len(paid), len(rest), k, n), np.nan)
    values[at.ravel(), of.ravel()] = np.where(universes.upward[:, None, None], -universes.values, universes.values)
    exists = np.isfinite(values).all(axis=(1, 2))
    if exists.sum() > MOST_BLOCKS:
        what = f"{int(exists.sum()):,} combinations of choices and datasets, where {MOST_BLOCKS:,} can be replayed"
        raise UsageError(what, fix="name fewer `axes`, or leave choices out")
    if not exists.any():
        raise UsageError("no dataset has every algorithm under every metric", fix="leave out what is incomplete")
    names = list(universes.axes)
    ordered = {names[i]: universes.axes[names[i]] for i in (*costly, *free)}
    grid = Multiverse(ordered, paid, rest, universes.algorithms, universes.datasets, exists)
    blocks = values.transpose(0, 3, 1, 2)[exists]
    return grid, scores(blocks).reshape(len(blocks), -1)


def scores(values: FloatArray) -> FloatArray:
    """Values (... x algorithms, lower is better) on one scale: deviations from their mean in units of their spread.

    They tell more than ranks: how near a tie is. What is not finite (a failure) scores `FAILED` worse than the worst.
    """
    ran = np.isfinite(values)
    count = np.maximum(ran.sum(axis=-1, keepdims=True), 1)
    off = np.where(ran, values - np.where(ran, values, 0.0).sum(axis=-1, keepdims=True) / count, 0.0)
    spread = np.sqrt((off**2).sum(axis=-1, keepdims=True) / count)
    off = np.divide(off, spread, out=np.zeros_like(off), where=spread > 0)
    return np.where(ran, off, off.max(axis=-1, keepdims=True) + FAILED)


def decide(
    grid: Multiverse,
    scores: FloatArray,
    price: FloatArray,
    claims: Sequence[Stated] | None,
    *,
    confidence: float,
    rng: np.random.Generator,
    theta: FloatArray | None = None,
    least: int = 1,
) -> tuple[CertificateResult, FloatArray | None]:
    """What is certified given the `scores` of the blocks that were run (blocks x outputs, lower is better, else NaN),
    and what is next.
    """
    known, ranks = np.isfinite(scores).all(axis=1), grid.ranks(scores)
    run, blocks = np.flatnonzero(known), grid.blocks()
    result = CertificateResult(
        universes=len(grid.paid) * len(grid.free), blocks=len(ranks), run=len(run),
        cost=float(price[known].sum() / price.sum()), claims=(), axis="", axis_share=0.0, axis_certified=False,
        confidence=confidence,
    )  # fmt: skip
    start = first_batch(grid)
    if len(run) < min(start, len(ranks)):
        unrun, spread = _prior(blocks, run)
        chosen = _cheapest(grid, unrun, spread, np.ones(len(grid.paid)), price, start - len(run))
        return replace(result, next=chosen), theta
    belief = believe(blocks, run, scores[run], theta) if len(run) < len(ranks) else None
    drawn = np.repeat(ranks[None], DRAWS if belief is not None else 1, axis=0)
    if belief is not None:
        drawn[:, belief.open] = _ranked(belief.draw(DRAWS, rng), len(grid.algorithms))
    means = grid.mean_ranks(drawn)
    made = claims if claims is not None else _claims(means)
    seen = np.stack([_seen(claim, means) for claim in made], axis=2)
    shares = seen.mean(axis=1)
    estimate = shares.mean(axis=0)
    sure = (STRETCH * np.abs(shares - estimate) <= WITHIN).mean(axis=0) >= confidence
    low, high = np.quantile(shares, [0.025, 0.975], axis=0)
    parts = _axis_shares(means, grid)
    best = int(parts.mean(axis=0).argmax())
    axis_sure = bool((STRETCH * (parts.max(axis=1) - parts[:, best]) <= WITHIN).mean() >= confidence)
    result = replace(
        result,
        claims=tuple(
            Certified(
                claim.statement(grid.algorithms), float(estimate[i]), (float(low[i]), float(high[i])), bool(sure[i])
            )
            for i, claim in enumerate(made)
        ),
        axis=list(grid.axes)[best],
        axis_share=float(parts[:, best].mean()),
        axis_certified=axis_sure,
    )
    if belief is None:
        return result, None
    odds = seen.mean(axis=0)
    open_claims = ~sure if not result.complete else np.ones(len(sure), dtype=bool)
    doubt = (odds * (1 - odds))[:, open_claims].sum(axis=1) + (0.0 if axis_sure else 0.05) + 1e-6
    weight = doubt.reshape(len(grid.paid), len(grid.free)).sum(axis=1)
    count = max(least, int(LOOKS * len(run)))
    chosen = _cheapest(grid, belief.open, belief.spread, weight, price, count)
    return replace(result, next=chosen), belief.theta


def claims_of(texts: Sequence[str] | None, grid: Multiverse) -> list[Stated] | None:
    """The claims that were named, None where none were."""
    return named_claims(texts, grid.algorithms) if texts else None


def first_batch(grid: Multiverse) -> int:
    """Blocks before anything is estimated: enough to see every dataset, and several choices of every axis."""
    return len(grid.datasets) + sum(min(len(np.unique(column)) - 1, MOST_CHOICES) for column in grid.paid.T) + 2


def replay(
    grid: Multiverse,
    scores: FloatArray,
    price: FloatArray,
    claims: Sequence[Stated] | None = None,
    *,
    confidence: float,
    rng: np.random.Generator,
    progress: Callable[[CertificateResult], None] | None = None,
) -> CertificateResult:
    """An adaptive run over a multiverse of which every block is known: what it would say, and at what price.

    It ends when `CONFIRMED` looks in a row certify everything: a single one may be luck.
    """
    known = np.full(scores.shape, np.nan)
    number = np.full(grid.exists.shape, -1)
    number[grid.exists] = np.arange(len(scores))
    theta: FloatArray | None = None
    path: list[tuple[int, float, int]] = []
    confirmed = 0
    while True:
        result, theta = decide(grid, known, price, claims, confidence=confidence, rng=rng, theta=theta)
        if result.claims:
            path.append((result.run, result.cost, sum(claim.certified for claim in result.claims)))
        if progress is not None:
            progress(result)
        confirmed = confirmed + 1 if result.complete else 0
        if not result.next or confirmed == CONFIRMED:
            return replace(result, next=(), path=tuple(path))
        chosen = [number[at] for at in result.next]
        known[chosen] = scores[chosen]


def truth(grid: Multiverse, scores: FloatArray, statements: Sequence[Stated]) -> FloatArray:
    """The shares of claims over the whole multiverse."""
    return np.array([_seen(claim, grid.mean_ranks(grid.ranks(scores))).mean() for claim in statements])


def axis_shares(grid: Multiverse, scores: FloatArray) -> dict[str, float]:
    """The shares of the differences between rankings that single axes explain, over the whole multiverse."""
    shares = _axis_shares(grid.mean_ranks(grid.ranks(scores))[None], grid)[0]
    return dict(zip(grid.axes, shares.tolist(), strict=True))


def _seen(claim: Stated, means: FloatArray) -> BoolArray:
    sign = observed(claim, means)
    return np.asarray((sign >= 0) if claim.rival is None else (sign > 0))


def _claims(means: FloatArray) -> list[Stated]:
    """`A is best` for every algorithm, and the leader against each other one."""
    firsts = first_places(means).mean(axis=(0, 1))
    order = sorted(range(len(firsts)), key=lambda a: -firsts[a])
    best = [Stated(a, None, False) for a in order]
    return best + [Stated(order[0], b, False) for b in order[1:]]


def _ranked(values: FloatArray, algorithms: int) -> FloatArray:
    """Drawn ranks made ranks again, within each block and output."""
    table = values.reshape(*values.shape[:-1], -1, algorithms)
    return np.asarray(table.argsort(axis=-1).argsort(axis=-1) + 1.0).reshape(values.shape)


def _axis_shares(means: FloatArray, grid: Multiverse) -> FloatArray:
    """Draws x axes: the variance between the means of an axis's choices, as a share of all variance."""
    centred = means - means.mean(axis=1, keepdims=True)
    total = np.maximum((centred**2).sum(axis=(1, 2)), 1e-12)
    shares = np.zeros((len(means), len(grid.axes)))
    for i, (places, choices) in enumerate(zip(grid.places().T, grid.axes.values(), strict=True)):
        of_choice = (places[:, None] == np.arange(len(choices))).astype(np.float64)
        counts = np.maximum(of_choice.sum(axis=0), 1.0)
        level = np.einsum("dua,uc->dca", centred, of_choice) / counts[:, None]
        shares[:, i] = (level**2 * counts[:, None]).sum(axis=(1, 2)) / total
    return shares


def _prior(blocks: Blocks, run: IntArray) -> tuple[IntArray, FloatArray]:
    """The blocks that were not run, and their covariance before anything is estimated."""
    theta = np.concatenate([START, np.full(blocks.places.shape[1], RHO)])
    rest = np.setdiff1d(np.arange(len(blocks.dataset)), run)
    spread = blocks.between(rest, rest)(theta) - FREE_MEAN
    if len(run):
        across = blocks.between(run, rest)(theta) - FREE_MEAN
        spread = spread - across.T @ np.linalg.solve(blocks.between(run, run)(theta) - FREE_MEAN, across)
    return rest, spread


def _cheapest(
    grid: Multiverse, unrun: IntArray, spread: FloatArray, weight: FloatArray, price: FloatArray, count: int
) -> tuple[tuple[int, int], ...]:
    """The blocks that lower the doubt about universes most per price, one after the other, as `CertificateResult.next`.

    `spread` is the covariance of the blocks that were not run.
    """
    part = grid.weights()[unrun]
    chosen: list[int] = []
    for _ in range(min(count, len(unrun))):
        gain = (weight[:, None] * (part.T @ spread) ** 2).sum(axis=0) / np.maximum(np.diag(spread), 1e-9)
        gain = gain / price[unrun]
        gain[chosen] = -1.0
        best = int(gain.argmax())
        chosen.append(best)
        column = spread[:, best]
        spread = spread - np.outer(column, column) / max(float(column[best]), 1e-9)
    combination, dataset = np.nonzero(grid.exists)
    return tuple((int(combination[block]), int(dataset[block])) for block in unrun[chosen])
