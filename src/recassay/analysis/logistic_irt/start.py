"""Where the estimation of logistic items starts: first parameters, and items that do not vary."""

from __future__ import annotations

import numpy as np

from recassay.analysis.logistic_irt.model import blocks
from recassay.analysis.logistic_irt.priors import ItemPriors, ItemState
from recassay.core.choices import LogisticModel
from recassay.core.tables.responses import MISSING, Responses
from recassay.core.types import BoolArray, FloatArray


def starting_state(responses: Responses, model: LogisticModel, priors: ItemPriors | None) -> ItemState:
    """Intercepts from the share of right answers, signed slopes from the correlation with the total score."""
    score = standardised(responses.score_share())
    m = len(responses.items)
    slope, intercept = np.ones(m), np.zeros(m)
    for part in blocks(m, len(score)):
        codes = responses.codes[:, part]
        right, known = codes == 1, codes != MISSING
        count = np.maximum(known.sum(axis=0), 1)
        p = (right.sum(axis=0) + 0.5) / (count + 1)
        moment = np.where(known, right - p, 0.0)
        correlation = (score @ moment) / count / np.sqrt(p * (1 - p))
        r = np.clip(1.2 * correlation, -0.85, 0.85)
        slope[part] = 1.7 * r / np.sqrt(1 - r**2)
        intercept[part] = np.log(p / (1 - p)) * np.sqrt(1 + (slope[part] / 1.7) ** 2)
    if model == "1pl":
        slope[:] = max(float(np.mean(slope)), 0.3)
    centre = priors.guessing_mean if priors else -1.39
    return ItemState(slope, intercept, np.full(m, centre if model == "3pl" else -np.inf))


def standardised(values: FloatArray) -> FloatArray:
    """With mean 0 and deviation 1; zeros where all are equal."""
    return (values - values.mean()) / values.std() if np.ptp(values) > 0 else np.zeros_like(values)


def constant_items(responses: Responses) -> BoolArray:
    """Items that everybody who answered has right, or nobody has."""
    right = responses.right().sum(axis=0)
    return np.asarray((right == 0) | (right == responses.observed().sum(axis=0)))


def with_constant(responses: Responses, varied: BoolArray, state: ItemState) -> ItemState:
    """The state of all items: those that vary as estimated, the others flat at (right + 1/2) / (answers + 1)."""
    m = len(varied)
    whole = ItemState(np.zeros(m), np.zeros(m), np.full(m, -np.inf))
    whole.put(varied, state)
    codes = responses.codes[:, ~varied]
    p = ((codes == 1).sum(axis=0) + 0.5) / ((codes != MISSING).sum(axis=0) + 1)
    whole.intercept[~varied] = np.log(p / (1 - p))
    return whole
