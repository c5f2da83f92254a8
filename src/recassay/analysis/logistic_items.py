"""Item parameters given abilities: penalised logistic regressions of many items at once, by Fisher scoring."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from recassay.analysis.logistic_model import logistic_and_logs
from recassay.analysis.logistic_priors import ItemPriors, ItemState, LogisticModel
from recassay.core.types import BoolArray, FloatArray

STEEPEST = 25.0
"""The largest slope in absolute value: without priors a separable item has no finite one."""

DEEPEST = 40.0
"""The largest intercept in absolute value."""

GUESSING_LOGIT = (-9.0, 3.0)
_LONGEST_STEP = np.array([1.5, 3.0, 1.0])


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """The item curves at the points: logistic part, guessing, probability, and score weights u = (L / P, c / P).

    d log likelihood / d logit = (right - trials P) L / P and / d logit(c) = (right - trials P) c / P: the factor
    1 - P cancels, so nothing is divided by a vanishing number.
    """

    logistic: FloatArray
    guessing: FloatArray
    right: FloatArray
    wrong: FloatArray
    by_logit: FloatArray
    by_guessing: FloatArray

    @classmethod
    def at(cls, points: FloatArray, state: ItemState) -> Curves:
        """Items x points."""
        z = state.slope[:, None] * points + state.intercept[:, None]
        logistic = 1.0 / (1.0 + np.exp(-np.clip(z, -700.0, 700.0)))
        if np.isneginf(state.guessing_logit).all():
            one, none = np.ones((1, 1)), np.zeros((1, 1))
            return cls(logistic, none, logistic, 1 - logistic, one, none)
        guessing = expit(state.guessing_logit)[:, None]
        right = np.maximum(guessing + (1 - guessing) * logistic, 1e-300)
        return cls(logistic, guessing, right, (1 - guessing) * (1 - logistic), logistic / right, guessing / right)


def expected_log_likelihood(
    points: FloatArray, right: FloatArray, trials: FloatArray, state: ItemState
) -> FloatArray:  # fmt: skip
    """sum over points of right log P + (trials - right) log (1 - P), each item."""
    z = state.slope[:, None] * points + state.intercept[:, None]
    logistic, log_right, log_wrong = logistic_and_logs(z)
    if not np.isneginf(state.guessing_logit).all():
        c = expit(state.guessing_logit)[:, None]
        log_right = np.log(c + (1 - c) * logistic)
        log_wrong += np.log1p(-c)
    return np.einsum("iq,iq->i", right, log_right - log_wrong) + _product(trials, log_wrong)


def _product(trials: FloatArray, values: FloatArray) -> FloatArray:
    """sum over points of trials x values, with trials shared by all items or each item's own."""
    return values @ trials[0] if len(trials) == 1 else np.einsum("iq,iq->i", trials, values)


def score_and_information(
    points: FloatArray,
    right: FloatArray,
    trials: FloatArray,
    state: ItemState,
    model: LogisticModel,
    priors: ItemPriors | None,
) -> tuple[FloatArray, FloatArray]:
    """Gradient (items x 3) and expected information (items x 3 x 3) for slope, intercept, logit of guessing."""
    curve = Curves.at(points, state)
    left = right - trials * curve.right
    weight = trials * curve.right * curve.wrong
    by_logit = left * curve.by_logit
    weight_logit = weight * curve.by_logit**2
    n = len(state.slope)
    gradient, information = np.zeros((n, 3)), np.zeros((n, 3, 3))
    gradient[:, 0], gradient[:, 1] = by_logit @ points, by_logit.sum(axis=1)
    information[:, 0, 0] = weight_logit @ points**2
    information[:, 0, 1] = information[:, 1, 0] = weight_logit @ points
    information[:, 1, 1] = weight_logit.sum(axis=1)
    if model == "3pl":
        cross = weight * curve.by_logit * curve.by_guessing
        gradient[:, 2] = (left * curve.by_guessing).sum(axis=1)
        information[:, 0, 2] = information[:, 2, 0] = cross @ points
        information[:, 1, 2] = information[:, 2, 1] = cross.sum(axis=1)
        information[:, 2, 2] = (weight * curve.by_guessing**2).sum(axis=1)
    if priors is not None:
        pull, curvature = priors.derivatives(state, model)
        gradient += pull
        information += curvature
    fixed = {"1pl": (0, 2), "2pl": (2,), "3pl": ()}[model]
    for k in fixed:
        gradient[:, k] = 0
        information[:, k, :] = information[:, :, k] = 0
        information[:, k, k] = 1
    return gradient, information


def maximise_items(
    points: FloatArray,
    right: FloatArray,
    trials: FloatArray,
    state: ItemState,
    model: LogisticModel,
    priors: ItemPriors | None = None,
    *,
    steps: int = 3,
    tolerance: float = 1e-7,
) -> ItemState:
    """Raise each item's penalised log-likelihood by up to `steps` of Fisher scoring with step halving.

    `right[i, q]` of `trials[i, q]` answers at ability `points[q]` were right (trials may be 1 x q when all items share
    them). An item that no longer moves, or whose objective does not rise after ten halvings, is left as it is. The
    slope of the 1PL is not touched here: it is the spread of the population, and the caller's.
    """
    state = state.copy()
    active = np.ones(len(state.slope), dtype=bool)

    def objective(which: BoolArray, part: ItemState) -> FloatArray:
        shared = trials if len(trials) == 1 else trials[which]
        fit = expected_log_likelihood(points, right[which], shared, part)
        return fit if priors is None else fit + priors.log_density(part, model)

    value = objective(active, state)
    for _ in range(steps):
        part = state.take(active)
        shared = trials if len(trials) == 1 else trials[active]
        gradient, information = score_and_information(points, right[active], shared, part, model, priors)
        information[:, [0, 1, 2], [0, 1, 2]] *= 1 + 1e-9
        information[:, [0, 1, 2], [0, 1, 2]] += 1e-9
        step = np.linalg.solve(information, gradient[:, :, None])[:, :, 0].astype(np.float64)
        step /= np.maximum(1.0, np.abs(step / _LONGEST_STEP).max(axis=1, keepdims=True))
        before = value[active]
        trial = _moved(part, step, model)
        reached = objective(active, trial)
        for _ in range(10):
            worse = reached < before - 1e-12 * np.abs(before)
            if not worse.any():
                break
            step[worse] /= 2
            trial.put(worse, _moved(part.take(worse), step[worse], model))
            where = np.flatnonzero(active)[worse]
            chosen = np.zeros_like(active)
            chosen[where] = True
            reached[worse] = objective(chosen, trial.take(worse))
        failed = reached < before - 1e-12 * np.abs(before)
        if failed.any():
            trial.put(failed, part.take(failed))
            reached[failed] = before[failed]
        state.put(active, trial)
        value[active] = reached
        still = trial.change(part) > tolerance
        active[np.flatnonzero(active)[~still]] = False
        if not active.any():
            break
    return state


def _moved(part: ItemState, step: FloatArray, model: LogisticModel) -> ItemState:
    moved = ItemState(
        np.clip(part.slope + step[:, 0], -STEEPEST, STEEPEST),
        np.clip(part.intercept + step[:, 1], -DEEPEST, DEEPEST),
        part.guessing_logit,
    )
    return replace(moved, guessing_logit=np.clip(part.guessing_logit + step[:, 2], *GUESSING_LOGIT)) if (
        model == "3pl"
    ) else replace(moved, guessing_logit=part.guessing_logit.copy())  # fmt: skip
