"""The verb `advise`: what a finished benchmark says about one's own dataset."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recassay.analysis.advise.fit import advise_for
from recassay.analysis.advise.result import AdviseResult
from recassay.api.tables import _needed, asked, study_folder
from recassay.core.choices import MissingPolicy
from recassay.core.inputs import CharacteristicsLike, InteractionsLike, ResultsLike
from recassay.core.specs import ProtocolSpec, ReadSpec
from recassay.data.characteristics import describe
from recassay.data.sources import open_dataset
from recassay.protocol.filters import frequent_rows, positive_rows
from recassay.store.store import Store


def advise(
    dataset: InteractionsLike,
    results: ResultsLike,
    metric: str | None = None,
    *,
    characteristics: CharacteristicsLike | None = None,
    k: int = 5,
    protocol: Mapping[str, Any] | None = None,
    read: ReadSpec | Mapping[str, Any] | None = None,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    confidence: float = 0.9,
    seed: int = 0,
) -> AdviseResult:
    """What a finished benchmark says about one's own dataset: nearest datasets, ranks to expect, and their worth.

    `dataset` is anything that `load_data` opens. Before it is described, the threshold and the filter of `protocol`
    (`positive_threshold`, `filter`, `min_item_interactions`, `min_user_interactions`) are applied: by default those of
    the study that the results come from, else items and then users with fewer than 5 interactions leave, as in KDD'24.

    Args:
        dataset: one's own data: whatever `load_data` opens.
        results: results table (file, frame or several files), the folder of a study, or loaded results.
        metric: label such as `ndcg@10`; by default `ndcg@10` or `accuracy` where present, else the only metric.
        characteristics: characteristics of the datasets (file or frame); a study knows its own.
        k: how many nearest datasets are named.
        protocol: threshold and filter applied before the data are described, over those of the benchmark.
        read: how files are read: a `ReadSpec` or its fields.
        missing: what becomes of missing cells: see `Results.matrix`.
        higher_is_better: direction of a metric that RecAssay does not know.
        confidence: level of the intervals.
        seed: the same seed gives the same numbers.
    """
    table, matrix, known = asked(results, metric, characteristics, missing, higher_is_better)
    needed = _needed(known)
    opened = open_dataset(dataset, _read_spec(read))
    spec = _protocol(study_folder(table), protocol or {})
    own = describe(_kept(opened.interactions, spec)).to_dict()
    weighed = opened.interactions.weight is not None and spec.positive_threshold is None
    notes = ("It has ratings, and no threshold was given: low ratings count as interactions, too.",) if weighed else ()
    return advise_for(opened.name, own, matrix, needed, k=k, notes=notes, confidence=confidence, seed=seed)


def _read_spec(read: ReadSpec | Mapping[str, Any] | None) -> ReadSpec:

    return read if isinstance(read, ReadSpec) else ReadSpec.checked(**(read or {}))


def _protocol(folder: Path | None, said: Mapping[str, Any]) -> ProtocolSpec:
    """What was said, over the study's own protocol where there is one."""
    if folder is None:
        return ProtocolSpec.checked(**said)
    with Store.open(folder) as store:
        return ProtocolSpec.checked(**{**store.manifest()["study"]["protocol"], **said})


def _kept(interactions: Any, spec: ProtocolSpec) -> Any:
    """The interactions above the threshold that pass the filter."""
    above = positive_rows(interactions, spec.positive_threshold)
    rows = frequent_rows(
        interactions,
        spec.filter,
        min_item=spec.min_item_interactions,
        min_user=spec.min_user_interactions,
        among=above,
    )
    return interactions.take(rows)
