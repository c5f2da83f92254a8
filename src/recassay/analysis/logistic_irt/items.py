"""Item parameters given abilities: penalised logistic regressions of many items at once, by Newton's method."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from recassay.analysis.logistic_irt.model import logistic_and_logs
from recassay.analysis.logistic_irt.priors import ItemPriors, ItemState
from recassay.core.choices import LogisticModel
from recassay.core.types import BoolArray, FloatArray

STEEPEST = 25.0
"""The largest slope in absolute value: without priors a separable item has no finite one."""

DEEPEST = 40.0
"""The largest intercept in absolute value."""

GUESSING_LOGIT = (-9.0, 3.0)
_LONGEST_STEP = np.array([1.5, 3.0, 1.0])


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """Of each item: penalised log-likelihood, gradient (items x 3), and minus the second derivatives (items x 3 x 3).

    `information` are the second derivatives themselves. `positive` is their part that is never negative, for a step
    from where the whole is: with r right answers, sum of r (1 - P) / P^2 (L, c)(L, c)'. It is the same in the 2PL.
    """

    value: FloatArray
    gradient: FloatArray
    information: FloatArray
    positive: FloatArray

    def put(self, which: BoolArray, part: Slopes) -> None:
        """Write `part` at its place."""
        self.value[which], self.gradient[which] = part.value, part.gradient
        self.information[which], self.positive[which] = part.information, part.positive

    def take(self, which: BoolArray) -> Slopes:
        """The items of a mask."""
        return Slopes(self.value[which], self.gradient[which], self.information[which], self.positive[which])


def slopes(
    points: FloatArray,
    right: FloatArray,
    trials: FloatArray,
    state: ItemState,
    model: LogisticModel,
    priors: ItemPriors | None,
) -> Slopes:
    """The sum over points of right log P + (trials - right) log (1 - P), with its derivatives.

    They are those for slope, intercept and logit of guessing; parameters that the model does not estimate have gradient
    0 and information 1.
    """
    powers = np.stack([points**2, points, np.ones_like(points)], axis=1)
    logistic, log_right, log_wrong = logistic_and_logs(state.slope[:, None] * points + state.intercept[:, None])
    n = len(state.slope)
    gradient, information = np.zeros((n, 3)), np.zeros((n, 3, 3))
    if model != "3pl":
        value = np.einsum("iq,iq->i", right, log_right - log_wrong) + _over_points(trials, log_wrong)
        gradient[:, :2] = (right - trials * logistic) @ powers[:, 1:]
        _fill(information, (np.maximum(trials, 0.0) * logistic * (1 - logistic)) @ powers)
        positive = information
    else:
        # P = c + (1 - c) L with the logistic L: derivatives by the chain rule over L and the logit of c.
        c = expit(state.guessing_logit)[:, None]
        probability = np.maximum(c + (1 - c) * logistic, 1e-300)
        log_wrong += np.log1p(-c)
        value = np.einsum("iq,iq->i", right, np.log(probability) - log_wrong) + _over_points(trials, log_wrong)
        share = right / probability
        wrong = 1 - logistic
        by_logit = (share - trials) * logistic
        gradient[:, :2] = by_logit @ powers[:, 1:]
        gradient[:, 2] = c[:, 0] * (share - trials).sum(axis=1)
        # The positive part of the information, which every step can rely on.
        share *= (1 - c) * wrong / probability
        np.maximum(share, 0.0, out=share)
        information[:, 2, 2] = c[:, 0] ** 2 * share.sum(axis=1)
        share *= logistic
        information[:, :2, 2] = information[:, 2, :2] = c * (share @ powers[:, 1:])
        share *= logistic
        _fill(information, share @ powers)
        positive = information.copy()
        # The whole information: the second derivatives of L and of the logit of c as well.
        by_logit *= wrong
        _fill(information, -(by_logit @ powers), add=True)
        information[:, 2, 2] -= (1 - c[:, 0]) * gradient[:, 2]
    if priors is not None:
        pull, curvature = priors.derivatives(state, model)
        gradient += pull
        information += curvature
        if positive is not information:
            positive += curvature
        value += priors.log_density(state, model)
    # Parameters that the model does not estimate stay where they are.
    for k in {"1pl": (0, 2), "2pl": (2,), "3pl": ()}[model]:
        gradient[:, k] = 0
        information[:, k, :] = information[:, :, k] = 0
        information[:, k, k] = 1
    return Slopes(value, gradient, information, positive)


def _over_points(trials: FloatArray, values: FloatArray) -> FloatArray:
    """sum over points of trials x values, with trials shared by all items or each item's own."""
    return np.asarray(values @ trials[0] if len(trials) == 1 else np.einsum("iq,iq->i", trials, values))


def _fill(matrix: FloatArray, sums: FloatArray, *, add: bool = False) -> None:
    """Put (or add) sums over points of w theta^2, w theta and w into the block of slope and intercept."""
    block = sums[:, [[0, 1], [1, 2]]]
    matrix[:, :2, :2] = matrix[:, :2, :2] + block if add else block


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
    """Raise each item's penalised log-likelihood by up to `steps` of Newton's method with step halving.

    `right[i, q]` of `trials[i, q]` answers at ability `points[q]` were right (trials may be 1 x q when all items share
    them). An item that no longer moves by `tolerance` (a hundredth of it where the curvature is that of a saddle), or
    whose objective does not rise after ten halvings, is left as it is. The slope of the 1PL is not touched here: it is
    the spread of the population, and the caller's.
    """
    final = state.copy()
    place = np.arange(len(state.slope))

    def at(which: slice | BoolArray, part: ItemState) -> Slopes:
        return slopes(points, right[which], trials if len(trials) == 1 else trials[which], part, model, priors)

    now, here = state, at(slice(None), state)
    for _ in range(steps):
        step, sound = _newton(here)
        trial = _moved(now, step, model)
        tried = at(slice(None), trial)
        for _ in range(10):
            worse = tried.value < here.value - 1e-12 * np.abs(here.value)
            if not worse.any():
                break
            step[worse] /= 2
            shorter = _moved(now.take(worse), step[worse], model)
            trial.put(worse, shorter)
            tried.put(worse, at(worse, shorter))
        failed = tried.value < here.value - 1e-12 * np.abs(here.value)
        if failed.any():
            trial.put(failed, now.take(failed))
        final.put(place, trial)
        still = trial.change(now) > np.where(sound, tolerance, tolerance / 100)
        if not still.any():
            break
        if still.all():
            now, here = trial, tried
        else:
            now, here, place, right = trial.take(still), tried.take(still), place[still], right[still]
            trials = trials if len(trials) == 1 else trials[still]
    return final


def _newton(here: Slopes) -> tuple[FloatArray, BoolArray]:
    """Newton's step where the second derivatives allow one, else that of their positive part; and where they do.

    No step is longer than `_LONGEST_STEP`.
    """
    j = here.information
    diagonal = np.arange(3)
    second = j[:, 0, 0] * j[:, 1, 1] - j[:, 0, 1] ** 2
    scale = np.prod(j[:, diagonal, diagonal], axis=1)
    sound = (j[:, diagonal, diagonal] > 0).all(axis=1) & (second > 0) & (np.linalg.det(j) > 1e-6 * scale)
    matrix = np.where(sound[:, None, None], j, here.positive)
    matrix[:, diagonal, diagonal] *= 1 + 1e-9
    matrix[:, diagonal, diagonal] += 1e-9
    step = np.linalg.solve(matrix, here.gradient[:, :, None])[:, :, 0]
    return step / np.maximum(1.0, np.abs(step / _LONGEST_STEP).max(axis=1, keepdims=True)), sound


def _moved(part: ItemState, step: FloatArray, model: LogisticModel) -> ItemState:
    guessing = part.guessing_logit + step[:, 2] if model == "3pl" else part.guessing_logit.copy()
    return bounded(ItemState(part.slope + step[:, 0], part.intercept + step[:, 1], guessing))


def bounded(state: ItemState) -> ItemState:
    """Within `STEEPEST`, `DEEPEST` and `GUESSING_LOGIT`; a model without guessing keeps it so."""
    guessing = state.guessing_logit
    return ItemState(
        np.clip(state.slope, -STEEPEST, STEEPEST),
        np.clip(state.intercept, -DEEPEST, DEEPEST),
        np.where(np.isneginf(guessing), guessing, np.clip(guessing, *GUESSING_LOGIT)),
    )
