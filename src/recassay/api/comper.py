"""Verbs of ComPer: the score on a results table or a study, and the derivation of its matrix."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from recassay.analysis.comper.fit import derive_from_tables, fit_comper, given_matrix
from recassay.analysis.comper.result import ComPerResult
from recassay.api.tables import load_results, study_folder
from recassay.core.choices import ComPerTimeUnit, MissingPolicy, Normalisation
from recassay.core.results import Source
from recassay.data.tables.read import frame_from_memory, read_table
from recassay.evidence.study import comper_settings

if TYPE_CHECKING:
    from recassay.analysis.comper.matrix import CorrelationMatrix, Derivation


def comper(
    results: Any,
    *,
    correctness: str | None = None,
    k: int | None = None,
    matrix: Any = None,
    normalisation: Normalisation = "ratio",
    time_unit: ComPerTimeUnit = "seconds",
    missing: MissingPolicy = "error",
    draws: int = 10_000,
    seed: int = 0,
) -> ComPerResult:
    """One score out of correctness, coverage, diversity, robustness and scalability, with its parts and reliability.

    `results`: a table with these metrics (or auc, coverage@k, diversity@k, robustness and seconds), or the folder of a
    study with a `[comper]` section, whose metric of correctness and cut-off are taken unless named here. `matrix`: a
    path or frame (a row a dimension, a column an objective), `"printed"` for Table 8 to its printed digits, or None for
    Table 8.
    """
    folder = study_folder(results)
    settings = comper_settings(folder) if folder is not None else {}
    named = {name: value for name, value in (("correctness", correctness), ("k", k)) if value is not None}
    return fit_comper(
        load_results(results, metric=correctness),
        matrix=_matrix(matrix),
        normalisation=normalisation,
        time_unit=time_unit,
        missing=missing,
        draws=draws,
        seed=seed,
        **(settings | named),
    )


def comper_matrix(
    *, experts: Any = None, similarities: Any = None, definitions: Any = None, fourth: Any = None
) -> Derivation:
    """ComPer's correlation matrix step by step (Tables 2 to 8); what is not given is the paper's own table.

    `experts`: merged labels N, P, S, or a list of three experts' tables; `similarities`: Dice values; or `definitions`
    (columns name and definition, of the five dimensions and of the objectives) to compute them; `fourth`: labels or
    ratings from 1 to 5 of a fourth expert for the pairs where the two disagree. Each is a path or a frame.
    """
    files: list[Source] = []

    def table(source: Any) -> tuple[pl.DataFrame, str] | None:
        return None if source is None else _frame(source, files)

    several = experts if isinstance(experts, (list, tuple)) else [] if experts is None else [experts]
    derived = derive_from_tables(
        similarities=table(similarities),
        definitions=table(definitions),
        experts=[_frame(one, files) for one in several],
        fourth=table(fourth),
    )
    return replace(derived, sources=tuple(files))


def _matrix(source: Any) -> CorrelationMatrix | None:
    """A matrix by its name, as it is, or from a file or a frame."""
    a_table = hasattr(source, "columns") or (isinstance(source, (str, PathLike)) and str(source) != "printed")
    return given_matrix(_frame(source, []) if a_table else source)


def _frame(source: Any, files: list[Source]) -> tuple[pl.DataFrame, str]:
    """A table from a path or from memory and what to call it; a file is added to `files`."""
    if not isinstance(source, (str, PathLike)):
        return frame_from_memory(source), "the frame"
    frame, origin = read_table(Path(source), empty_fix="give a row a dimension and a column an objective")
    files.append(origin)
    return frame, origin.file
