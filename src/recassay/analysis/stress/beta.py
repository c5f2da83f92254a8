"""Stress by another setting: the largest ratio beta of the Dolan-Moré rules (KDD'24, appendix B.3, Figure 9c)."""

from __future__ import annotations

import numpy as np

from recassay.analysis.inference.agreement import spearman
from recassay.analysis.stress.curve import Curve, Point
from recassay.analysis.stress.ranker import Ranker
from recassay.core.types import FloatArray

RULES_WITH_BETA = ("dm_auc", "dm_lbo")
BETAS = (1.25, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 8.0, 10.0)


def vary_beta(ranker: Ranker, values: FloatArray, bootstrap: FloatArray) -> Curve | None:
    """Spearman's rho between the ranking at another beta and at the ranker's own (3 in the paper).

    None where neither Dolan-Moré rule applies. Interval: over `bootstrap` draws of the datasets.
    """
    those = ranker.only(*RULES_WITH_BETA)
    if not those.rules:
        return None
    weights = np.vstack([np.ones((1, values.shape[1])), bootstrap])
    before = those(values, weights)
    points = []
    for beta in BETAS:
        rho = spearman(those.with_beta(beta)(values, weights), before)
        points.append(Point(beta, rho[:, :1], True, around=rho))
    return Curve.of("beta", "largest ratio beta", tuple(rule.name for rule in those.rules), points)
