"""Classification tables: features of two kinds, a target, and the properties that OpenML gives of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from recassay.core.errors import InputError
from recassay.core.names import did_you_mean
from recassay.core.tables.sources import Source
from recassay.core.words import count_of, listing
from recassay.data.classification.arff import read_arff
from recassay.data.tables.read import read_bytes, read_table, text_of

SUFFIXES = (".csv", ".tsv", ".tab", ".txt", ".parquet", ".pq", ".arff")
MISSING = ("", "?", "na", "n/a", "nan", "null")
"""What a text file may write for a missing value, in any case."""

LEAST_ROWS = 10
_FIX = "give a column for each feature and one for the class"


@dataclass(frozen=True, slots=True, eq=False)
class ClassTable:
    """Rows to classify: `features` holds numeric (Float64) and categorical (String) columns, null where missing.

    `target` is the class of each row as text, never null.
    """

    features: pl.DataFrame
    target: pl.Series
    source: Source

    @property
    def numeric(self) -> tuple[str, ...]:
        """The names of the numeric features."""
        return tuple(name for name, kind in self.features.schema.items() if kind.is_numeric())


def read_class_table(
    path: str | Path,
    *,
    target: str | None = None,
    categorical: Sequence[str] = (),
    drop: Sequence[str] = (),
) -> ClassTable:
    """A table to classify from CSV, TSV, Parquet or ARFF, each also gzipped; `target` None means the last column.

    Text columns whose values are all numbers are numeric, unless named in `categorical`; all others are categorical.
    Parquet and ARFF columns have the kind they are declared with (true/false is categorical, a date is a number).
    Columns in `drop` are left out. A row whose class is missing, a target with a single class, and one that looks like
    a quantity are refused.
    """
    path = Path(path)
    frame, source = _read(path)
    unknown = next((n for n in (target, *categorical, *drop) if n is not None and n not in frame.columns), None)
    if unknown is not None:
        what = "the target column" if unknown == target else "the column"
        raise InputError(
            f"{what} {unknown!r} is not in the table", where=source.file, fix=did_you_mean(unknown, frame.columns)
        )
    frame = frame.drop(drop)
    name = target if target is not None else frame.columns[-1] if frame.columns else ""
    if frame.width < 2 or name in drop:
        raise InputError("has no features beside a target", where=source.file, fix=_FIX)
    classes = _classes(frame.get_column(name), source.file)
    features = frame.drop(name).select(_feature(column, column.name in categorical) for column in frame.drop(name))
    return ClassTable(features, classes, source)


def _read(path: Path) -> tuple[pl.DataFrame, Source]:
    if Path(path.name.lower().removesuffix(".gz")).suffix == ".arff":
        data, source = read_bytes(path, empty_fix=_FIX)
        frame = read_arff(text_of(data, source.file), source.file)
    else:
        frame, source = read_table(path, empty_fix=_FIX)
    if frame.height < LEAST_ROWS:
        raise InputError(f"has {count_of(frame.height, 'row')}", where=source.file, fix=f"give at least {LEAST_ROWS}")
    return frame, source


def _text(column: pl.Series) -> pl.Series:
    text = column.cast(pl.String).str.strip_chars()
    return text.set(text.str.to_lowercase().is_in(MISSING), None)


def _feature(column: pl.Series, categorical: bool) -> pl.Series:
    kind = column.dtype
    if kind.is_temporal() and not categorical:
        column = column.to_physical()
    elif kind == pl.String and not categorical:
        text = _text(column)
        numbers = text.cast(pl.Float64, strict=False)
        if numbers.null_count() > text.null_count():
            return text
        column = numbers
    elif categorical or not kind.is_numeric():
        return _text(column)
    numbers = column.cast(pl.Float64)
    return pl.select(pl.when(numbers.is_finite()).then(numbers).alias(column.name))[column.name]


def _classes(column: pl.Series, where: str) -> pl.Series:
    if column.dtype.is_float():
        whole = column.drop_nulls()
        if whole.len() and (whole == whole.round(0)).all():
            column = column.cast(pl.Int64, strict=False)
    classes = _text(column)
    if classes.null_count():
        row = int(classes.is_null().arg_true()[0])
        raise InputError(
            f"the target {column.name!r} is missing in {count_of(classes.null_count(), 'row')}, "
            f"the first of them data row {row + 1}",
            where=where,
            fix="fill it in or remove these rows",
        )
    count = classes.n_unique()
    if count < 2:
        raise InputError(f"the target {column.name!r} has a single class", where=where, fix="name another target")
    if count > classes.len() // 2:
        shown = listing(classes.unique(maintain_order=True).head(3).to_list())
        raise InputError(
            f"the target {column.name!r} has {count} values in {classes.len()} rows ({shown}, ...), more like a "
            "quantity or a name than a class",
            where=where,
            fix="name the column of the classes as target",
        )
    return classes


def properties(table: ClassTable) -> dict[str, float]:
    """The eight properties of Cardoso et al., 5.1, as OpenML defines them (https://docs.openml.org/data/#data-qualities).

    With p_k the share of class k among n rows and m columns, target included: NumberOfClasses; NumberOfInstances n;
    NumberOfFeatures m (OpenML counts the target); ClassEntropy -sum p_k log2 p_k; Dimensionality m / n;
    PercentageOfInstancesWithMissingValues, of rows in which any feature is missing; MajorityClassPercentage and
    MinorityClassPercentage, 100 max p_k and 100 min p_k.
    """
    rows, columns = table.features.height, table.features.width + 1
    counts = table.target.value_counts().get_column("count").to_numpy()
    share = np.sort(counts) / rows
    incomplete = table.features.select(pl.any_horizontal(pl.all().is_null()).sum()).item()
    return {
        "NumberOfClasses": float(len(share)),
        "NumberOfInstances": float(rows),
        "NumberOfFeatures": float(columns),
        "ClassEntropy": float(-(share * np.log2(share)).sum()),
        "Dimensionality": columns / rows,
        "PercentageOfInstancesWithMissingValues": 100.0 * incomplete / rows,
        "MajorityClassPercentage": 100.0 * float(share[-1]),
        "MinorityClassPercentage": 100.0 * float(share[0]),
    }
