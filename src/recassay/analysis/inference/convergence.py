"""Have the chains of a sampler met, and what are their draws worth? (Vehtari et al. 2021, *Bayesian Analysis* 16.)"""

from __future__ import annotations

import numpy as np

from recassay.core.types import FloatArray


def r_hat(draws: FloatArray) -> FloatArray:
    """Split R-hat of draws (chains x draws x quantities): about 1 where all halves of all chains agree."""
    halves = _split(draws)
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = halves.mean(axis=1).var(axis=0, ddof=1)
    length = halves.shape[1]
    pooled = (length - 1) / length * within + between
    return np.sqrt(np.where(within > 0, pooled / np.where(within > 0, within, 1.0), 1.0))


def effective_size(draws: FloatArray) -> FloatArray:
    """How many independent draws these (chains x draws x quantities) are worth for a mean.

    Autocorrelations are summed in pairs until a pair is no longer positive (Geyer 1992); chains that disagree count as
    correlation. At most the number of draws; constant quantities count fully.
    """
    halves = _split(draws)
    chains, length, _ = halves.shape
    centred = halves - halves.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, 2 * length, axis=1)
    covariance = np.fft.irfft(spectrum * spectrum.conj(), axis=1)[:, :length].real.mean(axis=0) / length
    within = covariance[0] * length / (length - 1)
    pooled = covariance[0] + halves.mean(axis=1).var(axis=0, ddof=1)
    known = pooled > 1e-300
    correlation = 1 - (within - covariance) / np.where(known, pooled, 1.0)
    pairs = correlation[: length // 2 * 2].reshape(length // 2, 2, -1).sum(axis=1)
    positive = np.minimum.accumulate(np.where(np.cumprod(pairs > 0, axis=0), pairs, 0.0), axis=0)
    total = chains * length
    return np.where(known, np.minimum(total, total / np.maximum(2 * positive.sum(axis=0) - 1, 1e-3)), total)


def _split(draws: FloatArray) -> FloatArray:
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, half : 2 * half]])
