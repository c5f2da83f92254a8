"""Tables in: results, the study they come from, characteristics of datasets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recassay.core.characteristics import CharacteristicsTable
from recassay.core.choices import MissingPolicy
from recassay.core.errors import NotApplicableError, UsageError, listing
from recassay.core.inputs import CharacteristicsLike, ResultsLike
from recassay.core.results import Matrix, Results
from recassay.data.tables.characteristics import read_characteristics
from recassay.data.tables.results import read_results
from recassay.evidence.characteristics import study_characteristics
from recassay.evidence.study import candidates
from recassay.store.store import Store


def load_results(
    source: ResultsLike,
    *,
    metric: str | None = None,
    wide: bool = False,
    transpose: bool = False,
    columns: Mapping[str, str] | None = None,
) -> Results:
    """A checked results table from a path (CSV, TSV, Parquet), several paths, or a polars or pandas frame.

    See `recassay.data.tables.results.read_results` for the shapes. The folder of a study gives its table; a `Results`
    is returned as it is.

    Args:
        source: file (CSV, TSV, Parquet), several files, frame, the folder of a study, or loaded results.
        metric: what the values of a wide table are.
        wide: the table is wide: first column algorithm, one column per dataset.
        transpose: the table is wide with a row per dataset.
        columns: your names of our columns, such as `{"value": "score"}`.
    """
    if isinstance(source, Results):
        return source
    folder = study_folder(source)
    if folder is not None:
        with Store.open(folder) as store:
            return candidates(store)
    return read_results(source, metric=metric, wide=wide, transpose=transpose, columns=columns)


def study_folder(source: Any) -> Path | None:
    """The folder of a study, where `source` is one (alone or in a list of one), or the `Results` of one."""
    if isinstance(source, Results):
        source = [found.file for found in source.sources]
    one = source[0] if isinstance(source, (list, tuple)) and len(source) == 1 else source
    return Path(one) if isinstance(one, (str, Path)) and Path(one).is_dir() else None


def default_metric(results: Results) -> str:
    """The metric that is meant when none is named: `ndcg@10` or `accuracy` where present, else the only one.

    Args:
        results: loaded results.
    """
    for usual in ("ndcg@10", "accuracy"):
        if usual in results.metrics:
            return usual
    if len(results.metrics) == 1:
        return results.metrics[0]
    raise UsageError(
        f"the table has {len(results.metrics)} metrics",
        fix=f"choose one with --metric: {listing(results.metrics, most=None)}",
    )


def load_characteristics(source: CharacteristicsLike) -> CharacteristicsTable:
    """Characteristics of datasets from a path, a frame, or the folder of a study, which computes them.

    Args:
        source: file, frame, or the folder of a study, which computes them.
    """
    folder = study_folder(source)
    return read_characteristics(source) if folder is None else study_characteristics(folder)


def _known(results: Any, table: Results, characteristics: Any) -> CharacteristicsTable | None:
    """The characteristics that were given, else those of the study that the results come from."""
    if characteristics is not None:
        return load_characteristics(characteristics)

    folder = study_folder(results) or study_folder(table)
    try:
        return None if folder is None else study_characteristics(folder)
    except NotApplicableError:  # a study of classifiers: its tables are no interactions
        return None


def asked(
    results: ResultsLike,
    metric: str | None,
    characteristics: Any,
    missing: MissingPolicy,
    higher_is_better: bool | None,
) -> tuple[Results, Matrix, CharacteristicsTable | None]:
    """The results, one metric of them as a matrix, and what is known of the characteristics of its datasets."""
    table = load_results(results, metric=metric)
    matrix = table.matrix(metric or default_metric(table), missing=missing, higher_is_better=higher_is_better)
    return table, matrix, _known(results, table, characteristics)


def _needed(table: CharacteristicsTable | None) -> CharacteristicsTable:

    if table is None:
        raise UsageError(
            "a results table does not say what its datasets are like",
            fix="give --characteristics FILE (dataset, Nu, Ni, ...: see recassay data describe), or a study folder",
        )
    return table
