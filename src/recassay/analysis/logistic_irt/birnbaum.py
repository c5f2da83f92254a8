"""The first of Birnbaum's two steps: items from a first guess of the abilities.

The second are maximum-likelihood abilities from ever more items, the easiest tenth first. Each estimate stands alone
and the last one, from all items, is the result: that is `ability.estimate_abilities`.
"""

from __future__ import annotations

import numpy as np

from recassay.analysis.logistic_irt.items import maximise_items
from recassay.analysis.logistic_irt.model import blocks
from recassay.analysis.logistic_irt.priors import ItemPriors
from recassay.analysis.logistic_irt.start import constant_items, standardised, starting_state, with_constant
from recassay.core.choices import LogisticModel
from recassay.core.tables.responses import MISSING, LogisticItems, Responses
from recassay.core.types import BoolArray


def birnbaum_items(
    responses: Responses, model: LogisticModel, priors: ItemPriors | None
) -> tuple[LogisticItems, BoolArray, float]:
    """Step 1 of Cardoso et al., sections 4.1 and 4.2.3 (after Birnbaum 1968): the items, which of them are constant,
    and how far the others moved from where they started.

    The abilities are the accuracies, standardised; each item is fitted by maximum likelihood (with `priors` penalised)
    as if they were known. Joint estimates are not consistent in the number of respondents: use the marginal ones unless
    the paper's are wanted.
    """
    constant = constant_items(responses)
    at = np.flatnonzero(~constant)
    start = starting_state(responses, model, priors).take(at)
    theta, state = standardised(responses.score_share()), start.copy()
    for part in blocks(len(at), len(theta)):
        codes = responses.codes[:, at[part]].T
        trials = np.ones((1, len(theta))) if responses.complete else (codes != MISSING).astype(np.float64)
        right = (codes == 1).astype(np.float64)
        state.put(part, maximise_items(theta, right, trials, start.take(part), model, priors, steps=100))
    whole = with_constant(responses, ~constant, state)
    return whole.named(responses.items), constant, float(state.change(start).max(initial=0.0))
