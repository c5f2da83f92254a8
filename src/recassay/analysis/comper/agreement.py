"""Does the order of the algorithms hold over settings (splits and datasets)?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recassay.core.types import FloatArray

ALL = "all"
"""The scope of every setting together."""


@dataclass(frozen=True, slots=True)
class OrderAgreement:
    """How far one measure orders the algorithms alike in the settings of one scope; NaN where that is undefined.

    `tau`: the mean of Kendall's tau-b over pairs of settings. `same_first`: the share of settings whose best algorithm
    is `first`, the most frequent one (of several equally frequent, the first by name). `reversed_share`: of all pairs
    of algorithms in all settings, the share that stand against the majority of settings for that pair.
    """

    measure: str
    """What orders the algorithms: ComPer, a single dimension, or a plain mean or sum."""
    scope: str
    """Which settings are compared."""
    settings: int
    """How many there are."""
    tau: float
    first: str
    same_first: float
    reversed_share: float


def family(dataset: str) -> str:
    """The settings of one dataset share what stands before the last `@`: `films@0.2` and `films@0.8` are films."""
    return dataset.rpartition("@")[0] or dataset


def agreement_of(
    measures: Mapping[str, FloatArray], algorithms: Sequence[str], datasets: Sequence[str]
) -> list[OrderAgreement]:
    """For each measure (algorithms x settings, higher is better): over all settings, and within every dataset that has
    several. A single setting, or a single algorithm, agrees with itself: nothing is returned then."""
    families = [family(name) for name in datasets]
    scopes = {name: [s for s, f in enumerate(families) if f == name] for name in dict.fromkeys(families)}
    several = {name: places for name, places in scopes.items() if len(places) > 1}
    if len(several) == 1 and len(scopes) == 1:
        several = {}
    wanted = {ALL: list(range(len(datasets))), **several}
    if len(datasets) < 2 or len(algorithms) < 2:
        return []
    return [
        agreement(values[:, places], algorithms, measure=measure, scope=scope)
        for scope, places in wanted.items()
        for measure, values in measures.items()
    ]


def agreement(values: FloatArray, algorithms: Sequence[str], *, measure: str = "", scope: str = ALL) -> OrderAgreement:
    """See `OrderAgreement`; `values` are algorithms x settings, higher is better."""
    n_algorithms, n_settings = values.shape
    left, right = np.triu_indices(n_algorithms, k=1)
    signs = np.sign(values[left] - values[right])
    together = signs.T @ signs
    apart = np.sqrt(np.outer(np.diag(together), np.diag(together)))
    one, other = np.triu_indices(n_settings, k=1)
    defined = apart[one, other] > 0
    taus = together[one, other][defined] / apart[one, other][defined]
    best = values == values.max(axis=0)
    firsts = best.sum(axis=1)
    top = int(np.argmax(firsts))
    up, down = (signs > 0).sum(axis=1), (signs < 0).sum(axis=1)
    decided = int((up + down).sum())
    return OrderAgreement(
        measure=measure,
        scope=scope,
        settings=n_settings,
        tau=float(taus.mean()) if len(taus) else float("nan"),
        first=algorithms[top],
        same_first=float(firsts[top] / n_settings),
        reversed_share=float(np.minimum(up, down).sum() / decided) if decided else float("nan"),
    )
