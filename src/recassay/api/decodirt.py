"""Verbs on answers of classifiers to test instances: read a folder of them, and say what they show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

from recassay.analysis.decodirt import fit as decodirt
from recassay.analysis.decodirt.result import DecodirtResult
from recassay.api.arguments import checked
from recassay.core.choices import AbilityMethod, Advanced, Level, LogisticEstimator
from recassay.core.tables.responses import InstanceResponses
from recassay.core.tables.sources import Sources
from recassay.data.tables.instances import read_instances


@checked
def load_response_folder(folder: str | Path) -> list[InstanceResponses]:
    """The answers in a folder of response tables, one a dataset: see `data.tables.instances.read_instances`.

    Args:
        folder: a folder with one response table per dataset.
    """
    return read_instances(folder)


@checked
def analyze_instances(
    instances: Sequence[InstanceResponses] | str | Path,
    *,
    rated: str | Sequence[str] = "paper",
    items_from: Annotated[Sequence[str], Advanced] = ("real", "artificial", "mlp"),
    estimator: Annotated[LogisticEstimator, Advanced] = "mml",
    ability: Annotated[AbilityMethod, Advanced] = "eap",
    bins: Annotated[int, Advanced] = 6,
    tau: Annotated[float | None, Advanced] = None,
    orders: Annotated[int | None, Advanced] = None,
    confidence: Level = 0.95,
    max_cycles: Annotated[int, Advanced] = 500,
    seed: Annotated[int, Advanced] = 0,
    progress: Callable[[int, int, str], None] | None = None,
) -> DecodirtResult:
    """Which datasets are hard, which discriminate, which classifiers are able, how few datasets are enough (decodIRT).

    Args:
        instances: the answers on each dataset, or a folder of response tables.
        rated: who plays: `paper` (six usual classifiers and six artificial ones), `all`, `everybody` (the many MLPs
            too), or names.
        items_from: roles of those whose answers calibrate the items.
        estimator: `mml`, or the paper's `birnbaum`.
        ability: how abilities are estimated: `eap`, `map` or `ml`.
        bins: groups of datasets by difficulty.
        tau: Glicko-2's system constant: how fast volatilities may change.
        orders: random orders of the datasets over which the ratings are spread.
        confidence: level of the intervals.
        max_cycles: most cycles of the estimation.
        seed: the same seed gives the same numbers.
        progress: called with (done, total, dataset) before each dataset is fitted.
    """
    given = load_response_folder(instances) if isinstance(instances, (str, Path)) else instances
    how = decodirt.ItemCalibration(
        tuple(items_from), estimator=estimator, ability=ability, confidence=confidence, max_cycles=max_cycles
    )
    return decodirt.analyze_instances(
        given, how=how, rated=rated, bins=bins, tau=tau, orders=orders, seed=seed, progress=progress
    )


def sources_of(instances: Sequence[InstanceResponses]) -> Sources:
    """The files that answers were read from, each once."""
    return Sources(tuple(dict.fromkeys(file for instance in instances for file in instance.responses.sources)))
