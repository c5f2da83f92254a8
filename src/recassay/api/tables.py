"""Tables in and out: results, the study they come from, characteristics of datasets, files of tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from recassay.api.arguments import checked
from recassay.api.inputs import CharacteristicsLike, ResultsLike
from recassay.core import columns as c
from recassay.core.choices import MissingPolicy, Range
from recassay.core.errors import NotApplicableError, UsageError
from recassay.core.system.display import show_in_notebook
from recassay.core.system.parquet import parquet_bytes
from recassay.core.tables.characteristics import CharacteristicsTable
from recassay.core.tables.labels import split_label
from recassay.core.tables.matrix import Matrix
from recassay.core.tables.results import Results
from recassay.core.tables.scores import PairedScores
from recassay.core.words import listing
from recassay.data.importers.load import read_parts
from recassay.data.published.tables import (
    Published,
    find_published,
    is_published,
    published_characteristics,
    published_results,
)
from recassay.data.tables.characteristics import read_characteristics
from recassay.data.tables.form import Asked
from recassay.data.tables.join import Part, join_parts
from recassay.data.tables.labels import metrics_in
from recassay.evidence.study import candidates, evidence_of, study_characteristics, study_part


@checked
def load_results(
    source: ResultsLike,
    *,
    metric: str | None = None,
    wide: bool = False,
    transpose: bool = False,
    columns: Mapping[str, str] | None = None,
    dataset: str | None = None,
    format: str | None = None,
    prefer: str = "error",
    table: Annotated[int, Range(1)] | None = None,
) -> Results:
    """A checked results table, from one place or from several, which are joined.

    A place is a file (CSV, TSV, Parquet, Excel, LaTeX, Markdown, JSON, or what another framework writes), a folder of
    files, the folder of a study, the name of a published table (`published:kdd24`), a polars or pandas frame, or a
    `Results`. Every usual shape of a table is read: see `recassay.data.tables.shapes`.

    Args:
        source: one place, or a list of them.
        metric: the metric, where the table does not name it.
        wide: the rows are algorithms and the columns datasets; needed where the table does not say it.
        transpose: the rows are datasets and the columns algorithms.
        columns: by role (algorithm, dataset, metric, value, seed, ...), the name of the column.
        dataset: the dataset, where the table does not name it; by default the file's name.
        format: the framework that wrote the file, or `table`; by default the content decides.
        prefer: whose value counts where places differ: `first`, `last`, or the name of a place; `error` refuses.
        table: the number of the table in the LaTeX source of a paper, as `recassay review` counts them.
    """
    if isinstance(source, Results):
        return source
    asked = Asked(metric=metric, wide=wide, transpose=transpose, columns=columns or {}, dataset=dataset, table=table)
    places = list(source) if isinstance(source, (list, tuple)) else [source]
    if dataset is not None and not str(dataset).strip():
        raise UsageError("the name of the dataset is empty", fix="name it, or leave it out")
    if len(places) == 1 and table is None:
        folder = study_folder(places[0])
        if dataset is not None and (folder is not None or is_published(places[0])):
            raise UsageError(
                "names its datasets itself, so `dataset` has no effect", where=str(places[0]), fix="leave it out"
            )
        if folder is not None:
            from recassay.store.store import Store

            with Store.open(folder) as store:
                return candidates(store)
        if is_published(places[0]):
            return published_results(places[0])
    results = joined_results(places, asked, format, prefer)
    show_in_notebook([results.told_reading(), *results.notes])
    return results


def joined_results(places: Sequence[Any], asked: Asked, format: str | None, prefer: str) -> Results:
    """The table of all places together, each value with what is known of it."""
    if not places:
        raise UsageError("no results were given", fix="name at least one file")
    return join_parts([part for place in places for part in _parts(place, asked, format)], prefer)


def _parts(place: Any, asked: Asked, format: str | None) -> list[Part]:
    """The parts of one of several places."""
    folder = study_folder(place)
    if folder is not None:
        return [study_part(folder)]
    if isinstance(place, Results) or is_published(place):
        table = place if isinstance(place, Results) else published_results(place)
        name = table.sources[0].file if table.sources else "the results"
        return [Part(table.frame, table.notes, where=name, source=table.sources[0] if table.sources else None)]
    return read_parts(place, asked, format)


def study_folder(source: Any) -> Path | None:
    """The folder of a study, where `source` is one (alone or in a list of one), or the `Results` of one."""
    if isinstance(source, Results):
        source = _only_file(source)
    single = source[0] if isinstance(source, (list, tuple)) and len(source) == 1 else source
    if not isinstance(single, (str, Path)) or not Path(single).is_dir():
        return None
    from recassay.store.store import INDEX_FILE  # it loads pydantic's models, and few tables are of studies

    return Path(single) if (Path(single) / INDEX_FILE).is_file() else None


def default_metric(results: Results) -> str:
    """The metric that is meant when none is named.

    `ndcg@10`, else nDCG at the only cut-off it is there with, `accuracy`, the only metric, or the one that the name of
    the file says.

    Args:
        results: loaded results.
    """
    gains = [label for label in results.metrics if split_label(label)[0] == "ndcg"]
    named = {label for source in results.sources for label in metrics_in(Path(source.file).stem)}
    for group in ([m for m in gains if m == "ndcg@10"], gains, [m for m in results.metrics if m == "accuracy"],
                  results.metrics, [m for m in results.metrics if m in named]):  # fmt: skip
        if len(group) == 1:
            return group[0]
    raise UsageError(
        f"the table has {len(results.metrics)} metrics",
        fix=f"choose one: {listing((f'`metric={metric!r}`' for metric in results.metrics), most=12)}",
    )


@checked
def load_characteristics(source: CharacteristicsLike) -> CharacteristicsTable:
    """Characteristics of datasets from a path, a frame, a published table, or the folder of a study.

    Args:
        source: file, frame, a name such as `published:kdd24`, or the folder of a study, which computes them.
    """
    if is_published(source):
        return published_characteristics(source)
    folder = study_folder(source)
    return read_characteristics(source) if folder is None else study_characteristics(folder)


def published_of(table: Results) -> Published | None:
    """The published table that results come from, alone; None for other sources."""
    file = _only_file(table)
    return find_published(file) if file is not None and is_published(file) else None


def _only_file(table: Results) -> str | None:
    """The file that a table comes from; None where other files or tables in memory were joined with it."""
    joined = c.SOURCE in table.frame.columns
    return table.sources[0].file if len(table.sources) == 1 and not joined else None


def own_characteristics(table: Results) -> Callable[[], CharacteristicsTable] | None:
    """A way to load the characteristics that come with a published table; None for other sources."""
    published = published_of(table)
    if published is None or not published.characteristics:
        return None
    return cache(partial(published_characteristics, table.sources[0].file))


def known_characteristics(
    results: ResultsLike, table: Results, characteristics: CharacteristicsLike | None
) -> CharacteristicsTable | None:
    """The characteristics that were given, else those of the study or the published table that the results are of."""
    if characteristics is not None:
        return load_characteristics(characteristics)
    measured = own_characteristics(table)
    if measured is not None:
        return measured()
    folder = study_folder(results) or study_folder(table)
    try:
        return None if folder is None else study_characteristics(folder)
    except NotApplicableError:  # a study of classifiers: its tables are not interactions
        return None


def required_characteristics(
    results: ResultsLike, table: Results, characteristics: CharacteristicsLike | None
) -> CharacteristicsTable:
    """The same for a verb that cannot do without them."""
    known = known_characteristics(results, table, characteristics)
    if known is None:
        raise UsageError(
            "a results table does not say what its datasets are like",
            fix="give `characteristics` (dataset, Nu, Ni, ...: see `recassay.describe_data`), or the folder of a study",
        )
    return known


def read_metric(results: ResultsLike, metric: str | None, *, wide: bool, transpose: bool) -> tuple[Results, str]:
    """The results table, and the metric that was named or is meant."""
    table = load_results(results, metric=metric, wide=wide, transpose=transpose)
    return table, metric or default_metric(table)


def read_matrix(
    results: ResultsLike,
    metric: str | None,
    *,
    missing: MissingPolicy,
    higher_is_better: bool | None,
    wide: bool,
    transpose: bool,
) -> tuple[Results, Matrix]:
    """The results table, and one metric of it as a complete matrix."""
    table, label = read_metric(results, metric, wide=wide, transpose=transpose)
    matrix = table.matrix(label, missing=missing, higher_is_better=higher_is_better)
    return table, replace(matrix, users=True) if "users" in evidence_of(study_folder(results)) else matrix


def user_scores(results: ResultsLike) -> PairedScores | None:
    """By metric, the scores of users, where the results are a study that keeps them."""
    users = evidence_of(study_folder(results)).get("users")
    return None if users is None else users()


def table_bytes(frame: pl.DataFrame, ending: str) -> bytes:
    """A table as a file that ends so: Parquet, or text with tabs (`.tsv`) or commas."""
    if ending in (".parquet", ".pq"):
        return parquet_bytes(frame)
    return frame.write_csv(separator="\t" if ending == ".tsv" else ",").encode()
