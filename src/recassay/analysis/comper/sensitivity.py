"""Does the order of the algorithms hold over settings (splits and datasets), and under random weight matrices?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from recassay.analysis.inference.bootstrap import dataset_weights
from recassay.core import ties
from recassay.core.blocks import number_blocks
from recassay.core.choices import FEWEST_DATASETS
from recassay.core.seeds import derived_rng
from recassay.core.types import FloatArray, IntArray

Scheme: TypeAlias = Literal["perturbed", "random", "any"]

SCHEMES: dict[Scheme, str] = {
    "perturbed": "each entry of the matrix between half and one and a half times its value",
    "random": "each entry between the smallest and the largest of the matrix: no knowledge but its range",
    "any": "any weights of the five dimensions, all equally likely (uniform on the simplex)",
}

_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True, eq=False)
class WeightSensitivity:
    """What `draws` random matrices of one scheme do to the order of the algorithms.

    The last place of the axis of settings is the mean score over settings. `order_changed[s]`: the share of draws with
    another order than the matrix in use; `first_changed[s]`: with another first algorithm; `probability_first[a, s]`:
    the share in which algorithm a is first.
    """

    scheme: Scheme
    """How the matrices were drawn."""
    draws: int
    order_changed: FloatArray
    first_changed: FloatArray
    probability_first: FloatArray


def random_weights(matrix: FloatArray, scheme: Scheme, draws: int, rng: np.random.Generator) -> FloatArray:
    """The weights of the dimensions (row sums) of `draws` random matrices: draws x dimensions.

    Scores depend on the row sums alone, so `any` draws these themselves, scaled to the sum of the matrix.
    """
    if scheme == "any":
        return rng.dirichlet(np.ones(len(matrix)), size=draws) * matrix.sum()
    if scheme == "random":
        low, high = float(matrix.min()), float(matrix.max())
        return rng.uniform(low, high, (draws, *matrix.shape)).sum(axis=2)
    return (matrix * rng.uniform(0.5, 1.5, (draws, *matrix.shape))).sum(axis=2)


def weight_sensitivity(
    normalised: FloatArray, matrix: FloatArray, *, draws: int, seed: int = 0
) -> Iterator[WeightSensitivity]:
    """All schemes on the normalised dimensions (algorithms x settings x dimensions); see `WeightSensitivity`."""
    cube = np.concatenate([normalised, normalised.mean(axis=1, keepdims=True)], axis=1)
    n_algorithms, n_settings, _ = cube.shape
    base = _order(matrix.sum(axis=1) @ cube.transpose(1, 2, 0))
    for scheme in SCHEMES:
        weights = random_weights(matrix, scheme, draws, derived_rng(seed, "comper", scheme))
        changed, other_first = np.zeros(n_settings), np.zeros(n_settings)
        first = np.zeros((n_algorithms, n_settings))
        for part in number_blocks(draws, n_algorithms * n_settings, _AT_ONCE):
            order = _order(np.einsum("nd,asd->nsa", weights[part], cube, optimize=True))
            changed += (order != base).any(axis=2).sum(axis=0)
            other_first += (order[:, :, 0] != base[:, 0]).sum(axis=0)
            for s in range(n_settings):
                first[:, s] += np.bincount(order[:, s, 0], minlength=n_algorithms)
        yield WeightSensitivity(scheme, draws, changed / draws, other_first / draws, first / draws)


def _order(scores: FloatArray) -> IntArray:
    """Positions of the algorithms (last axis), highest score first; scores that tie in the table's order."""
    return np.argsort(ties.ranks(scores, higher_is_better=True), axis=-1, kind="stable")


def resampled_first(scores: FloatArray, datasets: Sequence[str], *, draws: int, seed: int) -> FloatArray | None:
    """How often each algorithm has the highest mean score when datasets are drawn again, each with all its settings.

    Several best ones share a draw. None below `FEWEST_DATASETS` datasets: so few say nothing about others.
    """
    names, place = np.unique([family(name) for name in datasets], return_inverse=True)
    if len(names) < FEWEST_DATASETS:
        return None
    rng = derived_rng(seed, "comper", "datasets")
    drawn = dataset_weights(len(names), replicates=draws, rng=rng)[:, place]
    mean = drawn @ scores.T / drawn.sum(axis=1, keepdims=True)
    best = ~ties.beats(mean.max(axis=1, keepdims=True), mean)
    return np.asarray((best / best.sum(axis=1, keepdims=True)).mean(axis=0))


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
    if len(datasets) < 2 or len(algorithms) < 2:
        return []
    families = [family(name) for name in datasets]
    scopes = {ALL: list(range(len(datasets)))}
    if len(set(families)) > 1:
        scopes |= {name: [s for s, f in enumerate(families) if f == name] for name in dict.fromkeys(families)}
    return [
        agreement(values[:, places], algorithms, measure=measure, scope=scope)
        for scope, places in scopes.items()
        if len(places) > 1
        for measure, values in measures.items()
    ]


def agreement(values: FloatArray, algorithms: Sequence[str], *, measure: str = "", scope: str = ALL) -> OrderAgreement:
    """See `OrderAgreement`; `values` are algorithms x settings, higher is better."""
    n_algorithms, n_settings = values.shape
    left, right = np.triu_indices(n_algorithms, k=1)
    signs = np.sign(values[left] - values[right])
    together = signs.T @ signs
    scale = np.sqrt(np.outer(np.diag(together), np.diag(together)))
    pairs = np.triu_indices(n_settings, k=1)
    defined = scale[pairs] > 0
    taus = together[pairs][defined] / scale[pairs][defined]
    firsts = (values == values.max(axis=0)).sum(axis=1)
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
