"""Equivalent within a margin: two one-sided tests on log ratios."""

from __future__ import annotations

import numpy as np

from recassay.analysis.inference.families import family_means
from recassay.analysis.inference.pair_rows import blocks
from recassay.analysis.inference.significance import holm
from recassay.analysis.inference.wilcoxon import exact_ties, wilcoxon_rows
from recassay.core.types import BoolArray, FloatArray, IntArray

MOST_DECIMALS = 5


def equivalence_p(
    values: FloatArray, first: IntArray, second: IntArray, *, within: float, families: IntArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """For pairs of rows of `values` (algorithms x datasets), the p of "not equivalent": alone, and Holm-corrected.

    With d_j the log ratios and delta = log(1 + within), two one-sided Wilcoxon tests ask whether d + delta lies above 0
    and delta - d does (Schuirmann 1987, on the exact signed-rank distribution); p is the larger of the two. It is 1
    where a value of the pair is not above 0. What rounding may hide is taken off delta: values printed to one decimal
    do not show that two algorithms are within 2 %. What is tested is the typical ratio (the Hodges-Lehmann estimate),
    not the mean one: rare large differences move a mean and hardly a typical value. Datasets of one of the `families`
    count as one, with the mean of their log ratios.
    """
    positive: BoolArray = np.all(values > 0, axis=1)
    known = positive[first] & positive[second]
    logs = np.log(np.where(positive[:, None], values, 1.0))
    unit = rounding_unit(values)
    alone, together = np.ones(len(first)), np.ones(len(first))
    tested, exact = np.flatnonzero(known), exact_ties(len(values))
    for part in blocks(len(tested), values.shape[1]):
        one, other = first[tested[part]], second[tested[part]]
        delta = family_means(np.log1p(within) - unit / np.minimum(values[one], values[other]), families)
        ratio = family_means(logs[one] - logs[other], families)
        above, below = (wilcoxon_rows(side, most_tied=exact).greater for side in (ratio + delta, delta - ratio))
        alone[tested[part]] = np.maximum(above, below)
    together[known] = holm(alone[known])
    return alone, together


def rounding_unit(values: FloatArray) -> float:
    """The unit that all values are multiples of, such as 0.1, by their decimals; 0 where they have more than five."""
    for decimals in range(MOST_DECIMALS + 1):
        scaled = values * 10.0**decimals
        if np.abs(scaled - np.rint(scaled)).max() < 1e-6:
            return float(10.0**-decimals)
    return 0.0
