"""Verbs on the datasets of a benchmark: what they are like, which few are enough, and advice for a new one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recassay.api.results import _study_folder, default_metric, load_results

if TYPE_CHECKING:
    from recassay.analysis.advice_result import AdviceResult
    from recassay.analysis.clusters import ClustersResult
    from recassay.analysis.metadata import MetadataResult
    from recassay.analysis.selection_result import SelectionResult
    from recassay.core.characteristics import CharacteristicsTable
    from recassay.core.results import Matrix, MissingPolicy, Results
    from recassay.core.specs import ProtocolSpec, ReadSpec


def load_characteristics(source: Any) -> CharacteristicsTable:
    """Characteristics of datasets from a path, a frame, or the folder of a study, which computes them."""
    from recassay.data.characteristics_file import read_characteristics

    folder = _study_folder(source)
    return read_characteristics(source) if folder is None else study_characteristics(folder)


def study_characteristics(folder: str | Path) -> CharacteristicsTable:
    """The 18 characteristics of a study's datasets as its protocol left them: training, validation and test together.

    They are computed from the splits that the study keeps; of a cross-validation one fold's split serves, its parts
    being the same data.
    """
    import numpy as np

    from recassay.core.characteristics import CharacteristicsTable
    from recassay.core.errors import NotApplicableError
    from recassay.core.types import joined
    from recassay.data.characteristics import describe
    from recassay.runner.plan import SplitSpec
    from recassay.runner.splits import is_prepared, load_split
    from recassay.store.store import Store

    home = Path(folder)
    with Store.open(home) as store:
        cells = [cell for cell in store.cells() if "split" in cell.spec]
    splits = {cell.dataset: SplitSpec.model_validate(cell.spec["split"]).id for cell in cells}
    found = {}
    for name, split_id in splits.items():
        if is_prepared(home, split_id):
            split = load_split(home, split_id)
            found[name] = describe(joined([*split.refit_parts(), split.test])).to_dict()
    if not found:
        raise NotApplicableError("the study keeps no interactions to describe", where=str(home))
    names = tuple(next(iter(found.values())))
    values = np.array([[float(row[name]) for name in names] for row in found.values()])
    return CharacteristicsTable(values, tuple(found), names, where=str(home))


def _known(results: Any, table: Results, characteristics: Any) -> CharacteristicsTable | None:
    """The characteristics that were given, else those of the study that the results come from."""
    if characteristics is not None:
        return load_characteristics(characteristics)
    from recassay.core.errors import NotApplicableError

    folder = _study_folder(results) or _study_folder(table)
    try:
        return None if folder is None else study_characteristics(folder)
    except NotApplicableError:  # a study of classifiers: its tables are no interactions
        return None


def _asked(
    results: Any, metric: str | None, characteristics: Any, missing: MissingPolicy, higher_is_better: bool | None
) -> tuple[Results, Matrix, CharacteristicsTable | None]:
    table = load_results(results, metric=metric)
    matrix = table.matrix(metric or default_metric(table), missing=missing, higher_is_better=higher_is_better)
    return table, matrix, _known(results, table, characteristics)


def _needed(table: CharacteristicsTable | None) -> CharacteristicsTable:
    from recassay.core.errors import UsageError

    if table is None:
        raise UsageError(
            "a results table does not say what its datasets are like",
            fix="give --characteristics FILE (dataset, Nu, Ni, ...: see recassay data describe), or a study folder",
        )
    return table


def associations(
    results: Any,
    metric: str | None = None,
    *,
    characteristics: Any = None,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    alpha: float = 0.05,
    permutations: int = 2000,
    seed: int = 0,
) -> MetadataResult:
    """Which characteristics of the datasets go with each algorithm's performance (KDD'24, Figure 7)."""
    from recassay.analysis.metadata import correlate_characteristics

    _, matrix, known = _asked(results, metric, characteristics, missing, higher_is_better)
    return correlate_characteristics(matrix, _needed(known), alpha=alpha, permutations=permutations, seed=seed)


def clusters(
    results: Any,
    metric: str | None = None,
    *,
    characteristics: Any = None,
    number: int | None = None,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    log_skewed: bool = False,
    seed: int = 0,
) -> ClustersResult:
    """Groups of alike datasets and how the algorithms rank in each (KDD'24, Figure 8 and Table 5)."""
    from recassay.analysis.clusters import cluster_datasets

    _, matrix, known = _asked(results, metric, characteristics, missing, higher_is_better)
    return cluster_datasets(matrix, _needed(known), clusters=number, log_skewed=log_skewed, seed=seed)


def select(
    results: Any,
    metric: str | None = None,
    *,
    k: int = 6,
    characteristics: Any = None,
    methods: str | Sequence[str] = "all",
    aggregation: str | None = None,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    simulations: int = 500,
    splits: int = 10,
    curve: bool = True,
    seed: int = 0,
) -> SelectionResult:
    """Which k datasets keep the ranking of all of them, chosen in five ways, with held-out numbers (KDD'24, Table 4).

    For the folder of a study the characteristics are its own; for a table they come from `characteristics` (a path or a
    frame), and without them the ways that need none are left.
    """
    from recassay.analysis.selection import other_metrics, select_datasets

    table, matrix, known = _asked(results, metric, characteristics, missing, higher_is_better)
    return select_datasets(
        matrix,
        k,
        characteristics=known,
        others=other_metrics(table, matrix),
        methods=methods if isinstance(methods, str) else tuple(methods),
        rule=aggregation,
        simulations=simulations,
        splits=splits,
        curve=curve,
        seed=seed,
    )


def advise(
    dataset: Any,
    results: Any,
    metric: str | None = None,
    *,
    characteristics: Any = None,
    k: int = 5,
    protocol: Mapping[str, Any] | None = None,
    read: ReadSpec | Mapping[str, Any] | None = None,
    missing: MissingPolicy = "error",
    higher_is_better: bool | None = None,
    confidence: float = 0.9,
    seed: int = 0,
) -> AdviceResult:
    """What a finished benchmark says about one's own dataset: nearest datasets, ranks to expect, and their worth.

    `dataset` is anything that `load_data` opens. Before it is described, the threshold and the filter of `protocol`
    (`positive_threshold`, `filter`, `min_item_interactions`, `min_user_interactions`) are applied: by default those of
    the study that the results come from, else items and then users with fewer than 5 interactions leave, as in KDD'24.
    """
    from recassay.analysis.advice import advise_for
    from recassay.data.characteristics import describe
    from recassay.data.sources import open_dataset

    table, matrix, known = _asked(results, metric, characteristics, missing, higher_is_better)
    needed = _needed(known)
    opened = open_dataset(dataset, _read_spec(read))
    spec = _protocol(_study_folder(table), protocol or {})
    own = describe(_kept(opened.interactions, spec)).to_dict()
    weighed = opened.interactions.weight is not None and spec.positive_threshold is None
    notes = ("It has ratings, and no threshold was given: low ratings count as interactions, too.",) if weighed else ()
    return advise_for(opened.name, own, matrix, needed, k=k, notes=notes, confidence=confidence, seed=seed)


def _read_spec(read: ReadSpec | Mapping[str, Any] | None) -> ReadSpec:
    from recassay.core.specs import ReadSpec

    return read if isinstance(read, ReadSpec) else ReadSpec.checked(**(read or {}))


def _protocol(folder: Path | None, said: Mapping[str, Any]) -> ProtocolSpec:
    """What was said, over the study's own protocol where there is one."""
    from recassay.core.specs import ProtocolSpec
    from recassay.store.store import Store

    if folder is None:
        return ProtocolSpec.checked(**said)
    with Store.open(folder) as store:
        return ProtocolSpec.checked(**{**store.manifest()["study"]["protocol"], **said})


def _kept(interactions: Any, spec: ProtocolSpec) -> Any:
    """The interactions above the threshold that pass the filter."""
    from recassay.protocol.filters import frequent_rows, positive_rows

    above = positive_rows(interactions, spec.positive_threshold)
    rows = frequent_rows(
        interactions,
        spec.filter,
        min_item=spec.min_item_interactions,
        min_user=spec.min_user_interactions,
        among=above,
    )
    return interactions.take(rows)
