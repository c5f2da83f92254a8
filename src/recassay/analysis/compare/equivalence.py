"""Practically equal, different, or neither shown: two one-sided tests on log ratios."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from recassay.analysis.inference.effects import hodges_lehmann
from recassay.analysis.inference.significance import holm
from recassay.analysis.inference.wilcoxon import greater_p
from recassay.core.types import FloatArray

Standing = Literal["differs", "practically equal", "cannot be told"]


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Two algorithms: how far apart they are on a typical dataset, and what that is shown to be.

    `ratio` is exp of the pseudo-median of log(left / right), in the direction that more is better: 1.03 says that
    `left` is 3 % better. `p_equal` is the larger of the two one-sided p-values that the ratio lies within
    1 / (1 + within) and 1 + within; `p_equal_holm` is corrected over all pairs.
    """

    left: str
    right: str
    ratio: float
    p_equal: float
    p_equal_holm: float
    standing: Standing
    """What is shown: they differ, are practically equal, or cannot be told."""


def log_ratios(left: FloatArray, right: FloatArray, *, higher_is_better: bool) -> FloatArray | None:
    """log(left / right) on each dataset, above 0 where left is better; None where a value is not above 0."""
    if not ((left > 0).all() and (right > 0).all()):
        return None
    ratio = np.log(left) - np.log(right)
    return ratio if higher_is_better else -ratio


def equivalences(
    names: list[tuple[str, str]],
    ratios: list[FloatArray | None],
    significant: list[bool],
    *,
    within: float,
    alpha: float,
) -> tuple[Equivalence, ...]:
    """Every pair as `differs`, `practically equal` or `cannot be told`; pairs without ratios are left out.

    With d_j the log ratios and delta = log(1 + within), two one-sided Wilcoxon tests ask whether d + delta lies above 0
    and delta - d does (Schuirmann 1987, on the exact signed-rank distribution). Both rejected, after Holm's correction
    over the pairs: the two are practically equal, even if a difference is shown, since it is then shown to be small.
    Otherwise the pair differs where the two-sided test (`significant`, corrected) says so, and else it cannot be told:
    no difference shown is not equality shown.
    """
    known = [
        (name, ratio, shown) for name, ratio, shown in zip(names, ratios, significant, strict=True) if ratio is not None
    ]
    delta = np.log1p(within)
    p = np.array([max(greater_p(ratio + delta), greater_p(delta - ratio)) for _, ratio, _ in known])
    corrected = holm(p) if len(p) else p
    found = []
    for (name, ratio, shown), alone, adjusted in zip(known, p.tolist(), corrected.tolist(), strict=True):
        standing: Standing = "differs" if shown else "cannot be told"
        if adjusted < alpha:
            standing = "practically equal"
        found.append(Equivalence(*name, float(np.exp(hodges_lehmann(ratio)[0])), alone, adjusted, standing))
    return tuple(found)
