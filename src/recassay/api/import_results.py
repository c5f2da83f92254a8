"""The verb `import`: results of other tools as the common table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recassay.api.tables import load_results
from recassay.core.errors import UsageError
from recassay.core.results import Results
from recassay.reporting.files import write_files

ENDINGS = (".parquet", ".csv", ".tsv")


def import_results(
    source: Any,
    *,
    out: str | Path | None = None,
    format: str | None = None,
    dataset: str | None = None,
    metric: str | None = None,
    wide: bool = False,
    transpose: bool = False,
    columns: Mapping[str, str] | None = None,
    prefer: str = "error",
) -> Results:
    """Results from anything that `load_results` reads, with framework, version, convention, protocol and source of
    each value where they are known; `out` (.parquet, .csv or .tsv) is where the common table is written.
    """
    target = Path(out) if out is not None else None
    if target is not None and target.suffix.lower() not in ENDINGS:
        raise UsageError(f"cannot write {target.suffix or 'a file without an ending'}", where=str(target),
                         fix=f"name a file that ends in {', '.join(ENDINGS)}")  # fmt: skip
    places = list(source) if isinstance(source, (list, tuple)) else [source]
    results = load_results(places, metric=metric, wide=wide, transpose=transpose, columns=columns, dataset=dataset,
                           format=format, prefer=prefer)  # fmt: skip
    if target is not None:
        write_files(target.parent, {target.name: _written(results, target.suffix.lower())})
    return results


def _written(results: Results, ending: str) -> bytes:
    if ending == ".parquet":
        from io import BytesIO

        stream = BytesIO()
        results.frame.write_parquet(stream)
        return stream.getvalue()
    return results.frame.write_csv(separator="\t" if ending == ".tsv" else ",").encode()
