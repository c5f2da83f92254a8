"""The logistic item response models: probability, information, true score, and likelihoods on a grid of abilities."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from recassay.analysis.logistic_irt.priors import ItemState
from recassay.core.blocks import number_blocks
from recassay.core.tables.responses import LogisticItems
from recassay.core.types import FloatArray

BLOCK_CELLS = 1 << 20
"""Cells of a work array (items x points, or respondents x items) that are held at once: 8 MiB."""


def blocks(length: int, width: int) -> Iterator[slice]:
    """Slices of `length` such that a block times `width` stays below `BLOCK_CELLS`."""
    return number_blocks(length, width, BLOCK_CELLS)


ItemParameters: TypeAlias = LogisticItems | ItemState
"""Items in slope and intercept form, named or not."""


def logits(ability: ArrayLike, items: ItemParameters) -> FloatArray:
    """slope theta + intercept, items x abilities."""
    theta = np.atleast_1d(np.asarray(ability, dtype=np.float64))
    return items.slope[:, None] * theta + items.intercept[:, None]


def probabilities(ability: ArrayLike, items: ItemParameters) -> FloatArray:
    """P(right) = c + (1 - c) / (1 + exp(-a (theta - b))): Equation 1 of Cardoso et al.; abilities x items."""
    c = items.guessing[:, None]
    return (c + (1 - c) * expit(logits(ability, items))).T


def item_information(ability: ArrayLike, items: ItemParameters) -> FloatArray:
    """Fisher information of each item about the ability: a^2 (1 - P) / P (L)^2, L the logistic part; abilities x items.

    Birnbaum 1968; with c = 0 it is a^2 P (1 - P).
    """
    z, c = logits(ability, items), items.guessing[:, None]
    logistic = expit(z)
    right = c + (1 - c) * logistic
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(right > 0, logistic / right, 1.0)
    return (items.slope[:, None] ** 2 * (1 - c) * expit(-z) * logistic * share).T


def test_information(ability: ArrayLike, items: ItemParameters) -> FloatArray:
    """The sum of the items' information; 1 / sqrt of it is the standard error of the maximum-likelihood ability."""
    return _over_items(item_information, ability, items)


def true_score(ability: ArrayLike, items: ItemParameters) -> FloatArray:
    """The expected number of right answers: the sum of P over the items (Lord and Wingersky 1984; Equation 2)."""
    return _over_items(probabilities, ability, items)


def _over_items(
    curves: Callable[[ArrayLike, ItemParameters], FloatArray], ability: ArrayLike, items: ItemParameters
) -> FloatArray:
    """The sum over the items of their curves at these abilities, a block of items at a time."""
    total = np.zeros(np.size(ability))
    for part in blocks(len(items.slope), len(total)):
        total += curves(ability, items.take(part)).sum(axis=1)
    return total


def logistic_and_logs(z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """L = 1 / (1 + exp(-z)), log L and log (1 - L) = log L - z, accurate and finite for every |z| below 700."""
    odds = np.exp(-np.clip(z, -700.0, 700.0))
    odds += 1.0
    log_right = -np.log(odds)
    return 1.0 / odds, log_right, log_right - z


def log_right_wrong(points: FloatArray, items: ItemParameters) -> tuple[FloatArray, FloatArray]:
    """log P and log (1 - P) = log (1 - c) + log (1 - L), items x points, finite for every finite parameter."""
    logistic, right, wrong = logistic_and_logs(logits(points, items))
    if items.guessing.any():
        c = items.guessing[:, None]
        with np.errstate(divide="ignore"):
            right = np.where(c > 0, np.log(c + (1 - c) * logistic), right)
        wrong += np.log1p(-c)
    return right, wrong
