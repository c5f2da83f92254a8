"""One algorithm, named beforehand, against every other: k - 1 comparisons instead of k (k - 1) / 2."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recassay.analysis.inference.distributions import normal_quantile, normal_sf
from recassay.analysis.inference.pair_rows import PairRows
from recassay.analysis.inference.significance import Pair, holm
from recassay.analysis.verdict.result import Status, Verdict


@dataclass(frozen=True, slots=True)
class ControlPair:
    """The control against `other`; positive differences mean that the control is better.

    `p` is Wilcoxon's, `p_holm` the same corrected over the k - 1 others. `z` and `p_dunn` are those of Bonferroni and
    Dunn on mean ranks. `favours` is the one on whose side the differences are, None where on neither.
    """

    other: str
    status: Status
    """Of the control against `other`, as the verdict has it."""
    p_flips: float
    """By flipped signs, adjusted over the k - 1 comparisons."""
    wins: int
    ties: int
    losses: int
    p: float
    p_holm: float
    significant: bool
    favours: str | None
    z: float
    p_dunn: float
    median_difference: float


@dataclass(frozen=True, slots=True)
class ControlResult:
    """The comparisons of `name` with every other, in the order of mean ranks.

    `dunn_cd` is the difference in mean rank beyond which Bonferroni and Dunn call an algorithm different from it.
    """

    name: str
    """The control."""
    dunn_cd: float
    pairs: tuple[ControlPair, ...]
    """Its comparison with every other."""


def dunn_cd(k: int, n: int, alpha: float) -> float:
    """Bonferroni and Dunn's critical difference: q sqrt(k (k + 1) / (6 n)), q the normal point of alpha / (2 (k - 1)).

    Dunn 1961; Demšar 2006, section 3.2.2 and table 5(b), has q for alpha of 0.05 and 0.10.
    """
    return float(normal_quantile(1 - alpha / (2 * (k - 1))) * np.sqrt(k * (k + 1) / (6 * n)))


def against_control(
    name: str, pairs: PairRows[Pair], mean_ranks: dict[str, float], units: int, judgement: Verdict
) -> ControlResult:
    """The verdict on `name` against every other algorithm; beside it Wilcoxon with Holm, and Bonferroni-Dunn.

    z = (R_other - R_control) / sqrt(k (k + 1) / (6 N)), N the `units`: datasets, or families of them. The two-sided p
    is multiplied by k - 1 (Demšar 2006, section 3.2.2). If you choose the control after seeing the results, use the
    correction for all pairs.
    """
    alpha = judgement.alpha
    place = judgement.algorithms.index(name)
    of_control = pairs.take(np.flatnonzero((pairs.first == place) | (pairs.second == place)))
    k = len(mean_ranks)
    corrected = holm(np.array([pair.p for pair in of_control]))
    error = np.sqrt(k * (k + 1) / (6 * units))

    def against(pair: Pair, p_holm: float) -> ControlPair:
        ahead = pair.left == name
        other = pair.right if ahead else pair.left
        z = float((mean_ranks[other] - mean_ranks[name]) / error)
        return ControlPair(
            other=other,
            status=judgement.status_of(name, other),
            p_flips=judgement.pair(name, other).p,
            wins=pair.wins if ahead else pair.losses,
            ties=pair.ties,
            losses=pair.losses if ahead else pair.wins,
            p=pair.p,
            p_holm=p_holm,
            significant=p_holm < alpha,
            favours=pair.favours,
            z=z,
            p_dunn=float(min(1.0, (k - 1) * 2 * normal_sf(abs(z)))),
            median_difference=pair.median_difference if ahead else 0.0 - pair.median_difference,
        )

    return ControlResult(name, dunn_cd(k, units, alpha=alpha), tuple(map(against, of_control, corrected.tolist())))
