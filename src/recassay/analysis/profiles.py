"""Dolan-Moré performance profiles and the areas under them (KDD'24, section 4.2.1; Dolan and Moré 2002)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from recassay.analysis.aggregation.contest import Contest
from recassay.analysis.aggregation.rules import BETA_MAX, contributions
from recassay.core import columns as c
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.errors import NotApplicableError, UsageError
from recassay.core.system.display import Displayed
from recassay.core.tables.matrix import Matrix
from recassay.core.tables.results import Results
from recassay.core.tabular import long_frame, stated
from recassay.core.ties import beats
from recassay.core.types import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class ProfilesResult(Displayed):
    """Dolan-Moré profiles: on which share of datasets each algorithm is within a factor of the best."""

    metric: str
    algorithms: tuple[str, ...]
    n_datasets: int
    beta_max: float
    """The largest factor that is looked at."""
    ratios: FloatArray
    """Algorithms x datasets: the ratio of the best value to its own (where lower is better its own to the best): 1 the
    best, infinite for a zero beside a positive best."""
    auc: FloatArray
    """For each algorithm, the area under its profile up to `beta_max`, as a share of the areas of all."""

    def order(self) -> list[int]:
        """Positions of the algorithms, largest area first."""
        return sorted(range(len(self.algorithms)), key=lambda a: (-self.auc[a], self.algorithms[a]))

    def to_frame(self) -> pl.DataFrame:
        """The corners of every profile: algorithm, beta, share (right-continuous steps from beta 1 to beta_max)."""
        rows = [
            (self.algorithms[a], beta, share)
            for a in self.order()
            for beta, share in _corners(self.ratios[a], self.beta_max)
        ]
        return pl.DataFrame(
            rows, schema={c.ALGORITHM: pl.String, "beta": pl.Float64, "share": pl.Float64}, orient="row"
        )

    def frames(self) -> dict[str, pl.DataFrame]:
        """The profiles and their areas."""
        areas = long_frame({c.ALGORITHM: self.algorithms}, {"auc": self.auc}, order=self.order())
        return {"profiles": self.to_frame(), "profile_areas": areas}

    def to_dict(self) -> dict[str, Any]:
        """Areas and corner points by algorithm."""
        return {
            **stated(self, "metric", "beta_max"),
            "auc": {self.algorithms[a]: float(self.auc[a]) for a in self.order()},
            "profiles": {
                self.algorithms[a]: [[float(b), float(s)] for b, s in _corners(self.ratios[a], self.beta_max)]
                for a in self.order()
            },
        }


def _corners(ratios: FloatArray, beta_max: float) -> list[tuple[float, float]]:
    within = np.sort(ratios[ratios <= beta_max])
    last = np.flatnonzero(np.append(beats(within[1:], within[:-1]), len(within) > 0))
    beta, share = within[last], (last + 1) / len(ratios)
    corners = list(zip(beta.tolist(), share.tolist(), strict=True))
    if not corners or corners[0][0] > 1.0:
        corners.insert(0, (1.0, 0.0))
    corners.append((beta_max, corners[-1][1]))
    return corners


def fit_profiles(matrix: Matrix, *, beta_max: float = BETA_MAX, step: float | None = None) -> ProfilesResult:
    """Dolan-Moré profiles of a matrix of values >= 0."""
    if beta_max <= 1:
        raise UsageError(f"beta_max is {beta_max}", fix="give a ratio above 1")
    if (matrix.values < 0).any():
        raise NotApplicableError(
            f"{matrix.metric} has negative values", fix="Dolan-Moré profiles need values of at least 0"
        )
    ratios = Contest(matrix.values[None], higher_is_better=matrix.higher_is_better).ratios[0]
    area = contributions(ratios, beta_max, step).mean(axis=1)
    return ProfilesResult(
        metric=matrix.metric,
        algorithms=matrix.algorithms,
        n_datasets=len(matrix.datasets),
        beta_max=beta_max,
        ratios=ratios,
        auc=area / area.sum(),
    )


def _run(results: Results, spec: AnalysisSpec) -> ProfilesResult:
    return fit_profiles(spec.matrix(results))


ANALYSIS = Analysis(
    name="profiles",
    question="How often is each {algorithm} within a factor beta of the best?",
    source="Dolan and Moré 2002; KDD'24 section 4.2.1",
    run=_run,
)
