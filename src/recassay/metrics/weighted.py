"""Accuracy weighted by inverse propensity: the value if every relevant item had the same chance to be in the test part.

A propensity is the chance that a relevant item of a user came into the data. Each test event gets the weight
1 / propensity, and a hit counts as much as its weight where the plain metric counts 1. Propensities by popularity are
known up to a factor only, so weights are scaled: for `ips` to a mean of 1 over all test events, for `snips` over those
of each user. With equal weights both are the plain metric. Labels may name the power of popularity, or have it fitted,
and a limit of the weights: `ndcg@10[snips power 1 clip 10]`, `ndcg@10[ips power fitted]`.

With w_j the weight of the hit in place j (0 without one): recall sum w_j / R; nDCG sum w_j / log2(j + 1) / ideal; MAP
sum w_j (1 + sum_{l<j} w_l) / j / min(k, R); hit rate 1 - prod (1 - w_j), which is right on average where items are seen
independently of each other. Values may lie outside 0 and 1.

Sources: Yang et al., Unbiased offline recommender evaluation for missing-not-at-random implicit feedback, RecSys 2018
(both estimators, propensities by popularity); Swaminathan and Joachims, NeurIPS 2015 (self-normalisation).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

import numpy as np
from scipy.sparse import csr_array

from recassay.core.errors import UsageError
from recassay.core.tables.groups import WeightFacts
from recassay.core.types import BoolArray, FloatArray, IdArray, IntArray

WEIGHTED = {
    "ips": "hits weighted by inverse propensity, 1 on average over all test events (Yang et al. 2018)",
    "snips": "hits weighted by inverse propensity, 1 on average over each user's test events (Yang et al. 2018)",
}
"""The weighted conventions of recall, hit rate, nDCG and MAP."""

PropensityTable: TypeAlias = FloatArray | csr_array
"""Chances in (0, 1] by item, or users x items; 0 where none is known."""

_WRITTEN = re.compile(r"(?i)(ips|snips)(?: +power +(\d*\.?\d+|fitted))?(?: +clip +(\d*\.?\d+))?")


POWER = 0.5
"""The default power of popularity: the g = 0 of Yang et al. On Coat it kept the order best (`docs/exposure.md`)."""


@dataclass(frozen=True, slots=True)
class Weighting:
    """A weighted convention. `power` None is fitted (`fitted_power`); `clip` is the largest weight, in multiples of the
    mean weight before clipping."""

    kind: Literal["ips", "snips"]
    power: float | None = POWER
    clip: float | None = None

    @classmethod
    def parse(cls, variant: str | None) -> Weighting | None:
        """What a variant such as `snips power 0.5 clip 10` means; None for one that is not weighted."""
        found = _WRITTEN.fullmatch((variant or "").strip())
        if found is None:
            return None
        written, limit = found.groups()[1:]
        power = POWER if written is None else None if written.lower() == "fitted" else float(written)
        clip = None if limit is None else float(limit)
        if clip is not None and clip < 1:
            raise UsageError(f"weights cannot be clipped at {clip:g} times their mean", fix="use 1 or more")
        return cls(cast(Literal["ips", "snips"], found[1].lower()), power, clip)

    @classmethod
    def of_label(cls, label: str) -> Weighting | None:
        """That of a label such as `ndcg@10[snips]`."""
        return cls.parse(label.partition("[")[2].rstrip("]"))

    def __str__(self) -> str:
        power = " power fitted" if self.power is None else "" if self.power == POWER else f" power {self.power:g}"
        return f"{self.kind}{power}{'' if self.clip is None else f' clip {self.clip:g}'}"

    def weights(self, truth: csr_array, popularity: IntArray, table: PropensityTable | None) -> FloatArray:
        """The weight of each stored entry of `truth`, 1 on average; NaN where `table` has no propensity."""
        if isinstance(table, csr_array):
            users = np.repeat(np.arange(truth.shape[0]), np.diff(truth.indptr))
            chance = np.asarray(table[users, truth.indices], dtype=np.float64).ravel()
        elif table is not None:
            chance = table[truth.indices]
        else:
            power = fitted_power(popularity) if self.power is None else self.power
            chance = np.maximum(popularity, 1)[truth.indices].astype(np.float64) ** power
        weights = np.divide(1.0, chance, out=np.full(len(chance), np.nan), where=chance > 0)
        if not len(weights):
            return weights
        if self.clip is not None:
            weights = np.minimum(weights, self.clip * weights.mean())
        if self.kind == "ips":
            return weights / weights.mean()
        row = np.repeat(np.arange(truth.shape[0]), np.diff(truth.indptr))
        return weights * np.bincount(row)[row] / np.bincount(row, weights=weights)[row]


def popularity_exponent(popularity: IntArray) -> float:
    """g of the power law of item counts, P(c) ~ c^-g, by maximum likelihood.

    Clauset, Shalizi and Newman, Power-law distributions in empirical data, SIAM Review 2009, equation 3.7, from the
    smallest count that occurs.
    """
    counts = popularity[popularity > 0]
    if not len(counts):
        return 1.0
    return 1 + len(counts) / float(np.log(counts / (counts.min() - 0.5)).sum())


def fitted_power(popularity: IntArray) -> float:
    """The power of popularity that propensities follow: (g + 1) / 2 (Yang et al. 2018, section 4)."""
    return (popularity_exponent(popularity) + 1) / 2


def weight_facts(weights: FloatArray, values: FloatArray) -> WeightFacts:
    """The facts of weights whose mean is 1, and of the values of users that come from them."""
    known, square = values[np.isfinite(values)], float(np.square(weights).sum())
    error = float(known.std(ddof=1) / np.sqrt(len(known))) if len(known) > 1 else float("nan")
    return WeightFacts(
        len(weights), len(weights) ** 2 / square if square else 0.0, float(weights.max(initial=0.0)), error
    )


def hit_weights(weights: csr_array, users: IdArray, items: IdArray, hits: BoolArray) -> FloatArray:
    """The weights of the hits (rows x places), 0 elsewhere."""
    row, place = np.nonzero(hits)
    found = np.zeros(hits.shape)
    if len(row):  # scipy gives a matrix for no pairs
        found[row, place] = weights[users[row], items[row, place]]
    return found
