"""The sign-flip test: is the mean of paired differences further from 0 than chance would put it?

If two algorithms are equally good for every user, a user's difference d_u is as likely as -d_u. The test compares the
observed |sum d_u| with those of all 2^n assignments of signs (Fisher 1935, The Design of Experiments, section 21: the
randomisation test of paired differences). It needs no normal distribution and holds its level for any n.
"""

from __future__ import annotations

import numpy as np

from recassay.analysis.inference.distributions import normal_pdf, normal_sf
from recassay.core.blocks import number_blocks
from recassay.core.types import BoolArray, FloatArray

MOST_ENUMERATED = 30
"""Up to so many differences that are not 0, all assignments of signs are tried."""

MOST_STEPS = 1 << 16
"""Differences that are multiples of one unit have an exact distribution; beyond so many units it is not computed."""

FEW_SIZES, MOST_DRAWN, DRAWS = 6, 2000, 100_000
"""So few different sizes among at most so many differences leave gaps that the saddlepoint does not see: signs are
drawn instead, so often."""

DOMINANT = 0.4
"""The same where one difference has more than this share of the sum of squares."""

TIE = 1e-9
"""Sums nearer than this, relative to the sum of all |d|, are equal: the same numbers added in another order."""

FFT_NOISE = 1e-11
"""Smaller sums of the transform's terms are rounding; the saddlepoint knows them better."""

_BLOCK = 1 << 22


def sign_flip_p(differences: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Two-sided p-values of the columns of `differences` (users x pairs); 1 where all differences are 0.

    Exact for at most `MOST_ENUMERATED` differences other than 0, and for differences that are whole multiples of one
    unit (hits, precision). Else the tail of the permutation distribution by Lugannani and Rice's saddlepoint formula
    (1980; for this statistic Robinson 1982): with K(t) = sum log cosh(t d_u) and K'(t) = |sum d_u|,
    w = sqrt(2 (t K'(t) - K(t))) and v = t sqrt(K''(t)), p = 2 (1 - Phi(w) + phi(w) (1 / v - 1 / w)). It needs no draws
    and has no smallest value. Where few sizes or one large difference make the distribution lumpy, p is
    (1 + draws as extreme) / (1 + draws) over drawn signs, unless it is too small to be counted.
    """
    n, pairs = differences.shape
    p = np.ones(pairs)
    unequal = differences != 0
    smooth = []
    for place in range(pairs):
        d = differences[unequal[:, place], place]
        exact = _enumerated(d) if len(d) <= MOST_ENUMERATED else _of_multiples(d)
        if exact is not None:
            p[place] = exact
        else:
            smooth.append(place)
    for part in number_blocks(len(smooth), n, _BLOCK):
        chosen = smooth[part]
        p[chosen] = _saddlepoint(differences[:, chosen])
    start = int(rng.integers(2**63))  # for every pair alike, so that others have no part in its p
    for place in smooth:
        d = differences[unequal[:, place], place]
        if _lumpy(d):
            p[place] = _drawn(d, p[place], np.random.default_rng(start))
    return p


def _enumerated(d: FloatArray) -> float:
    """All assignments: the sums of each half of the differences, and for each of one half how many of the other fit."""
    half = len(d) // 2
    first, second = np.sort(_sums(d[:half])), _sums(d[half:])
    least = abs(float(d.sum())) - TIE * float(np.abs(d).sum())
    above = len(first) * len(second) - int(np.searchsorted(first, least - second, side="left").sum())
    return min(2 * above / 2.0 ** len(d), 1.0)


def _sums(d: FloatArray) -> FloatArray:
    """The sums of all assignments of signs."""
    sums = np.zeros(1)
    for size in d:
        sums = np.concatenate([sums + size, sums - size])
    return sums


def _lumpy(d: FloatArray) -> bool:
    size = np.abs(d)
    if size.max() ** 2 > DOMINANT * float((size**2).sum()):
        return True
    return len(d) <= MOST_DRAWN and len(np.unique(np.rint(100 * size / size.max()))) <= FEW_SIZES


def _drawn(d: FloatArray, otherwise: float, rng: np.random.Generator) -> float:
    least = abs(float(d.sum())) - TIE * float(np.abs(d).sum())
    extreme = 0
    for part in number_blocks(DRAWS, len(d), _BLOCK):
        signs = rng.integers(0, 2, size=(part.stop - part.start, len(d)), dtype=np.int8)
        extreme += int(np.count_nonzero(np.abs((2.0 * signs - 1.0) @ d) >= least))
    return (1 + extreme) / (1 + DRAWS) if extreme >= 20 else otherwise


def _of_multiples(d: FloatArray) -> float | None:
    """The exact p where all |d| are whole multiples of the smallest; None where they are not.

    The characteristic function of the sum of w_u with random signs is the product of cos(w_u theta); its values at
    2 W + 1 points, W = sum w_u, give the probabilities of -W ... W by a discrete Fourier transform.
    """
    size = np.abs(d)
    multiple = size / size.min()
    whole = np.rint(multiple)
    most = int(whole.sum())
    if most > MOST_STEPS or np.abs(multiple - whole).max() > 1e-6:
        return None
    step, copies = np.unique(whole.astype(np.int64), return_counts=True)
    if len(step) * most > MOST_STEPS * 64:
        return None
    points = 2 * most + 1
    theta = 2 * np.pi * np.arange(points) / points
    characteristic = np.ones(points)
    for size_of_step, number in zip(step, copies, strict=True):
        characteristic *= np.cos(size_of_step * theta) ** number
    chance = np.fft.fft(characteristic).real / points
    observed = round(abs(float((np.sign(d) * whole).sum())))
    value = np.minimum(np.arange(points), points - np.arange(points))
    p = float(chance[value >= observed].sum())
    return min(p, 1.0) if p > FFT_NOISE else None


def _saddlepoint(d: FloatArray) -> FloatArray:
    size = np.abs(d)
    total, observed = size.sum(axis=0), np.abs(d.sum(axis=0))
    middle, end = observed <= TIE * total, observed >= total * (1 - TIE)
    t = _saddle(size, np.where(middle | end, 0.5 * total, observed))
    scaled = t * size
    cumulant = (scaled + np.log1p(np.exp(-2 * scaled)) - np.log(2)).sum(axis=0)
    curvature = (size**2 * (1 - np.tanh(scaled) ** 2)).sum(axis=0)
    w = np.sqrt(np.maximum(2 * (t * observed - cumulant), 0))
    v = t * np.sqrt(curvature)
    near = w < 1e-3
    safe_w, safe_v = np.where(near, 1.0, w), np.where(near, 1.0, v)
    tail = normal_sf(w) + np.where(near, 0.0, normal_pdf(w) * (1 / safe_v - 1 / safe_w))
    p = np.clip(2 * tail, 0.0, 1.0)
    nonzero = (size > 0).sum(axis=0)
    p = np.where(end, np.exp2(1.0 - nonzero), np.maximum(p, np.exp2(1.0 - np.minimum(nonzero, 1000))))
    return np.where(middle, 1.0, p)


def _saddle(size: FloatArray, wanted: FloatArray) -> FloatArray:
    """t > 0 with sum |d| tanh(t |d|) = wanted, for each column: Newton's steps, kept between bounds that close in."""
    low = np.zeros(len(wanted))
    high = np.full(len(wanted), np.inf)
    t = wanted / (size**2).sum(axis=0)
    for _ in range(100):
        slope = np.tanh(t * size)
        gap = (size * slope).sum(axis=0) - wanted
        low, high = np.where(gap < 0, t, low), np.where(gap > 0, t, high)
        newton = t - gap / np.maximum((size**2 * (1 - slope**2)).sum(axis=0), 1e-300)
        inside: BoolArray = (newton > low) & (newton < high)
        moved = np.where(inside, newton, np.where(np.isinf(high), 2 * t, (low + np.minimum(high, 1e300)) / 2))
        done = np.abs(moved - t) <= 1e-12 * t
        t = moved
        if done.all():
            break
    return t
