"""Standard errors of item parameters from the information that the responses carry (Louis 1982)."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from recassay.analysis.logistic_irt.em import LogisticFit
from recassay.analysis.logistic_irt.grid import expected_counts
from recassay.analysis.logistic_irt.items import slopes
from recassay.analysis.logistic_irt.priors import ItemState
from recassay.core.blocks import number_blocks
from recassay.core.choices import LogisticModel
from recassay.core.tables.responses import MISSING, Responses
from recassay.core.types import FloatArray

JOINT = 240
"""Up to this many parameters the information of all items is inverted as one matrix."""

_FREE = {"1pl": (1,), "2pl": (0, 1), "3pl": (0, 1, 2)}


def item_covariance(responses: Responses, fit: LogisticFit, model: LogisticModel) -> FloatArray:
    """The covariance of (slope, intercept, logit of guessing) of each item, items x 3 x 3; NaN for constant items.

    Louis' identity: information of the responses = E[information if abilities were known] - sum over respondents of
    Var[score | responses]. For small tests the matrix of all parameters is inverted. For large ones each item's own
    3 x 3 block is, and the uncertainty of the scale's origin and unit (variances 1/n and 1/(2n), shared by all items)
    is added: d slope / d log unit = slope, d intercept / d origin = slope. Where the difference is not positive
    definite, the sum of squared expected scores stands in for it.
    """
    covariance = np.full((len(fit.items.names), 3, 3), np.nan)
    varied = np.flatnonzero(~fit.constant)
    if len(varied) == 0:
        return covariance
    table, state = responses.on_items(varied) if fit.constant.any() else responses, fit.state.take(varied)
    free, n = _FREE[model], len(responses.respondents)
    if len(varied) * len(free) <= JOINT:
        joint = _joint(table, fit, model, state)
        if joint is not None:
            covariance[varied] = joint
            return covariance
    nodes, weights = fit.grid.nodes, fit.grid.to_nodes(fit.posterior)
    for part, right, trials in expected_counts(table, weights):
        items = state.take(part)
        complete = slopes(nodes, right, trials, items, model, fit.priors).information
        second, squares = _scores(table.codes[:, part], nodes, weights, items, right, trials)
        information = complete - second + squares
        instead = complete * np.eye(3) * 1e-6 + squares
        free_block = np.ix_(range(len(items.slope)), free, free)
        weak = np.linalg.eigvalsh(information[free_block])[:, 0] <= 1e-6 * np.trace(
            complete[free_block], axis1=1, axis2=2
        )
        information[weak] = instead[weak]
        block = np.zeros((len(items.slope), 3, 3))
        block[free_block] = np.linalg.inv(information[free_block])
        block[:, 0, 0] += items.slope**2 / (2 * n)
        block[:, 1, 1] += items.slope**2 / n
        covariance[varied[part]] = block
    return covariance


def score_weights(points: FloatArray, state: ItemState) -> tuple[FloatArray, FloatArray, tuple[FloatArray, ...]]:
    """Of items x points: the probabilities P of right and of wrong, and the weights u of slope, intercept and logit of
    guessing in the score (right - trials P) u.

    With the logistic part L they are L / P times the ability, L / P, and c / P: the factor 1 - P of the derivatives
    cancels, so nothing is divided by a vanishing number.
    """
    logistic = expit(state.slope[:, None] * points + state.intercept[:, None])
    guessing = state.guessing[:, None]
    right = np.maximum(guessing + (1 - guessing) * logistic, 1e-300)
    by_logit = logistic / right
    return right, (1 - guessing) * (1 - logistic), (by_logit * points, by_logit, guessing / right)


def _scores(
    codes: NDArray[np.uint8],
    nodes: FloatArray,
    weights: FloatArray,
    state: ItemState,
    right: FloatArray,
    trials: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Sums over respondents of E[s s'] and of E[s] E[s]' (items x 3 x 3), s the score of one respondent on an item."""
    probability, wrong, by = score_weights(nodes, state)
    weight = right * wrong**2 + (trials - right) * probability**2
    hit, known = codes == 1, codes != MISSING
    means = [np.where(hit, weights @ b.T, 0.0) - known * (weights @ (b * probability).T) for b in by]
    second, squares = np.empty((len(state.slope), 3, 3)), np.empty((len(state.slope), 3, 3))
    for p, q in combinations_with_replacement(range(3), 2):
        second[:, p, q] = second[:, q, p] = np.einsum("iq,iq,iq->i", weight, by[p], by[q])
        squares[:, p, q] = squares[:, q, p] = np.einsum("ni,ni->i", means[p], means[q])
    return second, squares


def _joint(responses: Responses, fit: LogisticFit, model: LogisticModel, state: ItemState) -> FloatArray | None:
    """The diagonal blocks of the inverse of the whole information; None where it is not positive definite.

    The 1PL has one slope for all items: its score is the sum of the items' slope scores.
    """
    free = _FREE["2pl"] if model == "1pl" else _FREE[model]
    k, m, points = len(free), len(state.slope), fit.grid.points
    counted = list(expected_counts(responses, fit.posterior))
    right = np.concatenate([part[1] for part in counted])
    trials = counted[0][2] if responses.complete else np.concatenate([part[2] for part in counted])
    complete = slopes(points, right, trials, state, "2pl" if model == "1pl" else model, fit.priors).information
    probability, _, by = score_weights(points, state)
    gradient = np.stack([by[p] for p in free])
    # Louis (1982): observed information = complete information - variance of the scores given the responses.
    missing = np.zeros((k * m, k * m))
    patterns, first, counts = np.unique(responses.codes, axis=0, return_index=True, return_counts=True)
    for part in number_blocks(len(patterns), len(points) * k * m, 1 << 22):
        codes, posterior = patterns[part], fit.posterior[first[part]]
        known, hit = (codes != MISSING), (codes == 1)
        residual = np.where(known[:, :, None], hit[:, :, None] - probability[None], 0.0)
        score = residual[:, None] * gradient[None]
        score -= np.einsum("npiq,nq->npi", score, posterior, optimize=True)[..., None]
        score *= np.sqrt(posterior * counts[part, None])[:, None, None, :]
        flat = score.transpose(1, 2, 0, 3).reshape(k * m, -1)
        missing += flat @ flat.T
    # The complete information is block diagonal: items are independent given the ability.
    information, places = -missing, np.arange(m)
    own_block = np.ix_(range(m), free, free)
    information.reshape(k, m, k, m)[:, places, :, places] += complete[own_block]
    if model == "1pl":
        gather = np.zeros((2 * m, m + 1))
        gather[:m, 0] = 1
        gather[m + places, 1 + places] = 1
        information = gather.T @ information @ gather
    try:
        np.linalg.cholesky(information)
    except np.linalg.LinAlgError:
        return None
    inverse = np.linalg.inv(information)
    if model == "1pl":
        inverse = gather @ inverse @ gather.T
    covariance = np.zeros((m, 3, 3))
    covariance[own_block] = inverse.reshape(k, m, k, m)[:, places, :, places]
    return covariance
