"""What published tables say about the algorithms of a new grid, as a prior of the belief.

From the tables come, for the algorithms that they know by name: levels on the latent scale of `belief` and how
uncertain they are, which algorithms err together, how their costs compare, and up to which sizes they ran. An
algorithm that no table knows gets the mean level of its class with the spread of all algorithms.

How much the levels count is learned in the new grid (`sampler`). The level of a known algorithm is

    m_i ~ N(c_i, s_i^2 + t^2)   with probability 1 - e,   else N(0, 1):

c and s from the tables, t how far levels move between benchmarks, e how often a table says nothing about the new grid.
t and e have priors and are drawn, so that a table that disagrees with the new cells soon counts for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from recassay.core.names import canonical
from recassay.core.types import BoolArray, FloatArray

ALIASES = {
    "pop": "mostpop", "popularity": "mostpop", "toppop": "mostpop", "itemcf": "itemknn", "usercf": "userknn",
    "mfbpr": "bpr", "bprmf": "bpr", "easer": "ease", "multvae": "multivae", "multdae": "multidae", "ials": "als",
    "implicitmf": "als",
}  # fmt: skip
"""Other names of an algorithm, both without case and separators."""

LEAST_SHARED = 3
"""A table that knows fewer of the grid's algorithms says nothing about their order."""

TOGETHER, DEGREES = 0.7, 12.0
"""How much the correlations of the tables count against none, and the degrees of freedom f of Sigma with a prior."""

OTHER_MACHINE = 0.5
"""A cell that ran elsewhere counts as so many that ran here, in the account of failures."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A published table as evidence: latent scores (algorithms x datasets) in units of a dataset's own deviation,
    logarithms of seconds and of sizes, NaN where they are not known, and which cells ran.
    """

    name: str
    algorithms: tuple[str, ...]
    latent: FloatArray
    log_seconds: FloatArray
    log_size: FloatArray
    ran: BoolArray


@dataclass(frozen=True, slots=True, eq=False)
class Prior:
    """For each algorithm of a grid: `levels` and their `deviations` (infinite where no table knows it), `covariance`
    of what datasets have of their own, `log_seconds` relative to each other (NaN: unknown); and the `succeeded` cells
    (algorithms x published datasets, weighted) of `log_size`.
    """

    sources: tuple[str, ...]
    """In words: which tables, with how many of the algorithms and on how many datasets."""
    levels: FloatArray
    deviations: FloatArray
    covariance: FloatArray
    log_seconds: FloatArray
    succeeded: FloatArray
    log_size: FloatArray

    @property
    def known(self) -> BoolArray:
        """Which algorithms a table knows."""
        return np.asarray(np.isfinite(self.deviations))

    def to_dict(self) -> dict[str, Any]:
        """As plain lists, for a journal."""
        return {name: part.tolist() if isinstance(part, np.ndarray) else part for name, part in asdict(self).items()}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Prior:
        """The prior that `to_dict` made plain; a missing number was infinite or unknown."""
        arrays = {
            name: np.array(stored[name], dtype=np.float64) for name in cls.__dataclass_fields__ if name != "sources"
        }
        arrays["deviations"] = np.where(np.isnan(arrays["deviations"]), np.inf, arrays["deviations"])
        shape = (len(arrays["levels"]), len(arrays["log_size"]))
        arrays["succeeded"] = arrays["succeeded"].reshape(shape)
        return cls(sources=tuple(stored["sources"]), **arrays)


def same_name(name: str) -> str:
    """A name without case and separators; other names of an algorithm become one."""
    plain = canonical(name)
    return ALIASES.get(plain, plain)


def prior_from(
    tables: Sequence[Table], algorithms: Sequence[str], classes: Sequence[str] | None = None
) -> Prior | None:
    """The prior for a grid of `algorithms`; None where no table knows at least three of them."""
    m = len(algorithms)
    names = [same_name(name) for name in algorithms]
    precision, weighted, cost, costs = np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(m)
    together, pairs = np.zeros((m, m)), np.zeros((m, m))
    sources, succeeded, sizes = [], [], []
    for table in tables:
        at = {same_name(name): i for i, name in enumerate(table.algorithms)}
        ours = np.array([i for i, name in enumerate(names) if name in at], dtype=np.int64)
        theirs = np.array([at[names[i]] for i in ours], dtype=np.int64)
        if len(ours) < LEAST_SHARED:
            continue
        latent = table.latent[theirs]
        n = latent.shape[1]
        # The levels are relative to the algorithms that both have.
        level = latent.mean(axis=1)
        own = latent - level[:, None]
        one = n / np.maximum(own.var(axis=1), 0.25)
        precision[ours] += one
        weighted[ours] += one * (level - level.mean())
        together[np.ix_(ours, ours)] += own @ own.T
        pairs[np.ix_(ours, ours)] += n
        timed = np.isfinite(table.log_seconds[theirs]).sum(axis=1)
        if (timed >= 2).all():
            seconds = np.nanmean(table.log_seconds[theirs] - np.nanmean(table.log_seconds[theirs], axis=0), axis=1)
            cost[ours] += n * seconds
            costs[ours] += n
        if np.isfinite(table.log_size).all():
            ran = np.zeros((m, n))
            ran[ours] = OTHER_MACHINE * table.ran[theirs]
            succeeded.append(ran)
            sizes.append(table.log_size)
        sources.append(f"{table.name} ({len(ours)} of {m} algorithms, {n} datasets)")
    if not sources:
        return None
    known = precision > 0
    levels = np.divide(weighted, precision, out=np.zeros(m), where=known)
    kinds = np.array(list(classes) if classes is not None else ["other"] * m)
    for i in np.flatnonzero(~known):
        alike = known & (kinds == kinds[i]) & (kinds != "other")
        levels[i] = levels[alike].mean() if alike.any() else 0.0
    covariance = np.divide(together, pairs, out=np.eye(m), where=pairs > 0)
    scale = np.sqrt(np.maximum(np.diagonal(covariance), 1e-6))
    correlation = TOGETHER * covariance / np.outer(scale, scale) + (1 - TOGETHER) * np.eye(m)
    return Prior(
        sources=tuple(sources),
        levels=levels,
        deviations=np.sqrt(np.divide(1.0, precision, out=np.full(m, np.inf), where=known)),
        covariance=_positive(correlation),
        log_seconds=np.divide(cost, costs, out=np.full(m, np.nan), where=costs > 0),
        succeeded=np.hstack(succeeded) if succeeded else np.zeros((m, 0)),
        log_size=np.concatenate(sizes) if sizes else np.zeros(0),
    )


def _positive(matrix: FloatArray) -> FloatArray:
    """The matrix with its eigenvalues at least 0.05: tables that know different pairs need not agree."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.maximum(values, 0.05)) @ vectors.T)
