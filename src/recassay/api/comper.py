"""Verbs of ComPer: the score on a results table or a study, and the derivation of its matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Annotated, Any

import polars as pl

from recassay.analysis.comper.fit import (
    CorrelationMatrix,
    derive_from_tables,
    fit_comper,
    matrix_from_frame,
    published_matrix,
)
from recassay.analysis.comper.result import ComPerResult, Derivation
from recassay.api.arguments import checked
from recassay.api.inputs import ResultsLike, TableLike
from recassay.api.tables import load_results, study_folder
from recassay.core.choices import Advanced, ComPerTimeUnit, MissingPolicy, Normalisation, Range
from recassay.core.tables.sources import Source
from recassay.data.tables.memory import frame_from_memory
from recassay.data.tables.read import read_table
from recassay.evidence.study import comper_settings


@checked
def comper(
    results: ResultsLike,
    *,
    correctness: str | None = None,
    k: Annotated[int, Range(1, 1_000_000)] | None = None,
    matrix: Any = None,
    normalisation: Annotated[Normalisation, Advanced] = "ratio",
    time_unit: ComPerTimeUnit = "seconds",
    missing: MissingPolicy = "error",
    draws: Annotated[int, Range(1, 1_000_000), Advanced] = 10_000,
    seed: Annotated[int, Advanced] = 0,
) -> ComPerResult:
    """One score out of correctness, coverage, diversity, robustness and scalability; what each adds; how reliable.

    The results need these metrics (or auc, coverage@k, diversity@k, robustness and seconds). Of a study with a
    `[comper]` section its metric of correctness and its cut-off are taken unless named here.

    Args:
        results: a results table (file or frame), several of them, the folder of a study, or loaded results.
        correctness: metric of accuracy; by default `correctness`, else `auc`.
        k: cut-off of coverage and diversity.
        matrix: file or frame (a row per dimension, a column per objective), `printed` for Table 8 to its printed
            digits, or None for Table 8.
        normalisation: equation 4 (`ratio`), or another scale.
        time_unit: unit in which time enters the score.
        missing: how to treat missing cells: refuse them, drop their datasets or algorithms, or take the worst value.
        draws: random matrices of the sensitivity analysis.
        seed: the same seed gives the same numbers.
    """
    folder = study_folder(results)
    own_correctness, own_k = comper_settings(folder) if folder is not None else (None, None)
    return fit_comper(
        load_results(results, metric=correctness),
        correctness=own_correctness if correctness is None else correctness,
        k=own_k if k is None else k,
        matrix=_matrix(matrix),
        normalisation=normalisation,
        time_unit=time_unit,
        missing=missing,
        draws=draws,
        seed=seed,
    )


@checked
def comper_matrix(
    *,
    experts: TableLike | Sequence[TableLike] | None = None,
    similarities: Any = None,
    definitions: Any = None,
    fourth: Any = None,
) -> Derivation:
    """ComPer's correlation matrix step by step (Tables 2 to 8); what is not given is the paper's own table.

    Each table is a file or a frame.

    Args:
        experts: merged labels N, P, S, or a list of three experts' tables.
        similarities: Dice values.
        definitions: columns name and definition, of the five dimensions and the objectives, to compute the similarities
            from.
        fourth: labels, or ratings from 1 to 5, of a fourth expert for the pairs where the two disagree.
    """
    files: list[Source] = []

    def table(source: Any) -> tuple[pl.DataFrame, str] | None:
        return None if source is None else _frame(source, files)

    several = experts if isinstance(experts, (list, tuple)) else [] if experts is None else [experts]
    derived = derive_from_tables(
        similarities=table(similarities),
        definitions=table(definitions),
        experts=[_frame(expert, files) for expert in several],
        fourth=table(fourth),
    )
    return replace(derived, sources=tuple(files))


def _matrix(source: Any) -> CorrelationMatrix | None:
    """A matrix as it is (None: Table 8), `printed` for Table 8 to its printed digits, or from a file or a frame."""
    if source is None or isinstance(source, CorrelationMatrix):
        return source
    if str(source) == "printed":
        return published_matrix(printed=True)
    frame, where = _frame(source, [])
    return matrix_from_frame(frame, where=where)


def _frame(source: Any, files: list[Source]) -> tuple[pl.DataFrame, str]:
    """A table from a path or from memory and what to call it; a file is added to `files`."""
    if not isinstance(source, (str, PathLike)):
        return frame_from_memory(source), "the frame"
    frame, origin = read_table(Path(source), empty_fix="give one row per dimension and one column per objective")
    files.append(origin)
    return frame, origin.file
