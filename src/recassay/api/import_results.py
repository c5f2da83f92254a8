"""The verb `import`: results of other tools as the common table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from recassay.api.arguments import checked
from recassay.api.inputs import PathLike, ResultsLike
from recassay.api.tables import joined_results, table_bytes
from recassay.core.choices import Range
from recassay.core.errors import UsageError
from recassay.core.system.files import is_stream
from recassay.core.tables.results import Results
from recassay.data.tables.form import Asked
from recassay.reporting.files import write_files

ENDINGS = (".parquet", ".csv", ".tsv")


@checked
def import_results(
    source: ResultsLike,
    *,
    out: PathLike | None = None,
    format: str | None = None,
    dataset: str | None = None,
    metric: str | None = None,
    wide: bool = False,
    transpose: bool = False,
    columns: Mapping[str, str] | None = None,
    prefer: str = "error",
    table: Annotated[int, Range(1)] | None = None,
) -> Results:
    """Results from anything that `load_results` reads, as the common table.

    Each value has its framework, version, convention, protocol and file where they are known.

    Args:
        source: one place (file, folder, study, frame, `published:NAME`), or a list of them.
        out: the file that the table is written to: .parquet, .csv or .tsv.
        format: the framework that wrote the file, or `table`; by default the content decides.
        dataset: the dataset, where the table does not name it; by default the file's name.
        metric: the metric, where the table does not name it.
        wide: the table is wide: first column algorithm, one column per dataset.
        transpose: the table is wide: one row per dataset, one column per algorithm.
        columns: by role (algorithm, dataset, metric, value, seed, ...), the name of the column.
        prefer: whose value counts where places differ: `first`, `last`, or the name of a place; `error` refuses.
        table: the number of the table in the LaTeX source of a paper, as `recassay review` counts them.
    """
    target = Path(out) if out is not None else None
    if target is not None and target.suffix.lower() not in ENDINGS and not is_stream(target):
        raise UsageError(
            f"cannot write {target.suffix or 'a file without an ending'}",
            where=str(target),
            fix=f"name a file that ends in {', '.join(ENDINGS)}",
        )
    asked = Asked(metric=metric, wide=wide, transpose=transpose, columns=columns or {}, dataset=dataset, table=table)
    places = list(source) if isinstance(source, (list, tuple)) else [source]
    results = joined_results(places, asked, format, prefer)
    if target is not None:
        write_files(target.parent, {target.name: table_bytes(results.frame, target.suffix.lower())})
    return results
