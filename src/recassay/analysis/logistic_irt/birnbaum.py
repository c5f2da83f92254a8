"""Birnbaum's two steps: items from a first guess of the abilities, then abilities from the items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from recassay.analysis.logistic_irt.ability import Abilities, estimate_abilities
from recassay.analysis.logistic_irt.items import maximise_items
from recassay.analysis.logistic_irt.model import blocks
from recassay.analysis.logistic_irt.priors import ItemPriors
from recassay.analysis.logistic_irt.start import constant_items, starting_state, with_constant
from recassay.core.choices import LogisticModel
from recassay.core.errors import UsageError
from recassay.core.tables.responses import MISSING, LogisticItems, Responses
from recassay.core.types import BoolArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class BirnbaumFit:
    """Items, maximum-likelihood abilities, and `path[r, g]`: the ability of r after the g + 1 easiest groups."""

    items: LogisticItems
    abilities: Abilities
    path: FloatArray
    constant: BoolArray
    converged: bool
    cycles: int
    change: float


def fit_birnbaum(
    responses: Responses,
    model: LogisticModel = "3pl",
    *,
    priors: ItemPriors | None = None,
    groups: int = 10,
    cycles: int = 1,
    tolerance: float = 1e-3,
) -> BirnbaumFit:
    """The procedure of Cardoso et al., sections 4.1 and 4.2.3 (after Birnbaum 1968).

    The first abilities are the accuracies, standardised. Step 1: each item by maximum likelihood (with `priors`
    penalised) as if abilities were known. Step 2: the items, sorted by difficulty and cut into `groups`, are used from
    the easiest group on; after each group abilities are estimated by maximum likelihood from all items so far. With
    `cycles` above 1 the two steps repeat from the standardised abilities until no item moves by `tolerance`. Joint
    estimates are not consistent in the number of respondents: use the marginal ones unless the paper's are wanted.
    """
    if groups < 1 or cycles < 1:
        raise UsageError(f"{groups} groups and {cycles} cycles", fix="give at least one of each")
    constant = constant_items(responses)
    varied = ~constant
    at = np.flatnonzero(varied)
    state = starting_state(responses, model, priors).take(at)
    theta = _standardised(responses.score_share())
    change, done = np.inf, 0
    while done < cycles:
        done += 1
        moved = state.copy()
        for part in blocks(len(at), len(theta)):
            codes = responses.codes[:, at[part]].T
            trials = np.ones((1, len(theta))) if responses.complete else (codes != MISSING).astype(np.float64)
            right = (codes == 1).astype(np.float64)
            moved.put(part, maximise_items(theta, right, trials, state.take(part), model, priors, steps=100))
        change = float(moved.change(state).max()) if len(at) else 0.0
        state = moved
        whole = with_constant(responses, varied, state)
        items = LogisticItems(responses.items, whole.slope, whole.intercept, expit(whole.guessing_logit))
        abilities, path = by_groups(responses, items, groups)
        theta = _standardised(np.clip(abilities.estimate, -4, 4))
        if change < tolerance:
            break
    return BirnbaumFit(items, abilities, path, constant, cycles == 1 or change < tolerance, done, change)


def by_groups(responses: Responses, items: LogisticItems, groups: int = 10) -> tuple[Abilities, FloatArray]:
    """Maximum-likelihood abilities from ever more items, easiest first; items without a difficulty come last."""
    order = np.argsort(np.where(np.isnan(items.difficulty), np.inf, items.difficulty), kind="stable")
    ends = np.unique(np.ceil(np.arange(1, groups + 1) * len(order) / groups).astype(np.int64))
    path = np.empty((len(responses.respondents), len(ends)))
    for g, end in enumerate(ends):
        used = order[:end]
        part = Responses(responses.codes[:, used], responses.respondents, tuple(items.names[i] for i in used))
        abilities = estimate_abilities(part, items.take(used), "ml")
        path[:, g] = abilities.estimate
    return abilities, path


def _standardised(values: FloatArray) -> FloatArray:
    spread = values.std()
    return (values - values.mean()) / spread if spread > 0 else np.zeros_like(values)
