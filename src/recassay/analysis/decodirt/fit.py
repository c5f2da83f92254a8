"""The classifier benchmark: from answers on test instances to datasets, classifiers and a recommended subset."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from recassay.analysis.decodirt.bins import BINS, make_bins
from recassay.analysis.decodirt.metadata import correlate_metadata, properties
from recassay.analysis.decodirt.ratings import benchmark_sets, choose_players, rate_set
from recassay.analysis.decodirt.result import DecodirtResult
from recassay.analysis.decodirt.subset import recommend
from recassay.analysis.decodirt.traits import ItemCalibration, all_traits, roles_of
from recassay.core.analysis import Analysis, AnalysisSpec
from recassay.core.errors import UsageError
from recassay.core.tables.responses import InstanceResponses
from recassay.core.tables.results import Results

__all__ = ["ANALYSIS", "ItemCalibration", "analyze_instances"]


def analyze_instances(
    instances: Sequence[InstanceResponses],
    *,
    how: ItemCalibration | None = None,
    rated: str | Sequence[str] = "paper",
    bins: int = BINS,
    tau: float | None = None,
    orders: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int, str], None] | None = None,
) -> DecodirtResult:
    """Sections 4.2.2 to 4.3 and 5 of Cardoso et al. on the answers of classifiers to test instances of many datasets.

    Each dataset is fitted on its own (`how`); its items give the table of datasets and its bins, their correlations
    with the metadata, and true scores; these decide the games of Glicko-2 tournaments between the `rated` classifiers
    (see `choose_players`) over six orders and subsets of the datasets, with and without the instances whose
    discrimination is negative. A dataset on which the fit did not converge stays in everything and is named in the
    notes; one on which everybody answers alike says nothing and takes no part in the ratings.
    """
    if bins < 1:
        raise UsageError(f"{bins} bins", fix="ask for at least one")
    calibration = how or ItemCalibration()
    traits = all_traits(instances, calibration, progress)
    players = choose_players(traits, rated)
    difficulty = np.array([dataset.statistics()["mean_difficulty"] for dataset in traits])
    ratings = tuple(
        rate_set(traits, chosen, players, tau=tau, orders=orders, seed=seed) for chosen in benchmark_sets(traits)
    )
    roles = roles_of(traits)
    return DecodirtResult(
        traits=tuple(traits),
        players=players,
        roles=roles,
        bins=tuple(make_bins(traits, difficulty, players, bins, descending=True)),
        correlations=correlate_metadata(traits, confidence=calibration.confidence),
        metadata_bins={
            name: tuple(make_bins(traits, values, players, bins))
            for name, values in properties(traits).items()
            if np.isfinite(values).any()
        },
        ratings=ratings,
        recommendation=recommend(traits, ratings, [name for name in players if roles[name] == "real"], seed=seed),
        how=calibration,
    )


def _run(results: Results, spec: AnalysisSpec) -> DecodirtResult:
    how = ItemCalibration(confidence=1 - spec.alpha)
    return analyze_instances(spec.required("instances"), how=how, seed=spec.seed)


ANALYSIS = Analysis(
    name="decodirt",
    question="Which {datasets} are hard or odd, which classifiers are able, and how few {datasets} would be enough?",
    source="Cardoso et al., Enhancing Classifier Evaluation, sections 4.2 to 5.3",
    run=_run,
)
