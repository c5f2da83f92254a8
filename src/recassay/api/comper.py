"""Verbs of ComPer: the score on a results table or a study, and the derivation of its matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from recassay.analysis.comper import matrix as paper
from recassay.analysis.comper.fit import comper_scores
from recassay.analysis.comper.matrix import CorrelationMatrix, Derivation, mean_label, published_matrix
from recassay.analysis.comper.matrix_tables import labels_from_frame, matrix_from_frame, similarities_from_frame
from recassay.analysis.comper.result import ComPerResult
from recassay.analysis.comper.score import Normalisation
from recassay.analysis.comper.table import TimeUnit, dimension_table
from recassay.analysis.comper.words import dice_table
from recassay.api.tables import load_results, study_folder
from recassay.core.errors import InputError, UsageError
from recassay.core.results import MissingPolicy, Source
from recassay.core.types import IntArray
from recassay.data.tables.read import frame_from_memory, read_table
from recassay.evidence.study import comper_settings


def comper(
    results: Any,
    *,
    correctness: str | None = None,
    k: int | None = None,
    matrix: Any = None,
    normalisation: Normalisation = "ratio",
    time_unit: TimeUnit = "seconds",
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
    table = dimension_table(
        load_results(results, metric=correctness), time_unit=time_unit, missing=missing, **(settings | named)
    )
    return comper_scores(table, matrix=_matrix(matrix), normalisation=normalisation, draws=draws, seed=seed)


def comper_matrix(
    *, experts: Any = None, similarities: Any = None, definitions: Any = None, fourth: Any = None
) -> Derivation:
    """ComPer's correlation matrix step by step (Tables 2 to 8); what is not given is the paper's own table.

    `experts`: merged labels N, P, S, or a list of three experts' tables; `similarities`: Dice values; or `definitions`
    (columns name and definition, of the five dimensions and of the objectives) to compute them; `fourth`: labels or
    ratings from 1 to 5 of a fourth expert for the pairs where the two disagree. Each is a path or a frame.
    """

    if similarities is not None and definitions is not None:
        raise UsageError("similarities and definitions exclude each other", fix="give one of them")
    files: list[Source] = []
    objectives: tuple[str, ...] | None = None
    dice = None
    if definitions is not None:
        dice, objectives = dice_table(_definitions(*_frame(definitions, files)))
    elif similarities is not None:
        dice, objectives = similarities_from_frame(*_frame(similarities, files))

    def labels(source: Any) -> IntArray:
        nonlocal objectives
        frame, where = _frame(source, files)
        found, objectives = labels_from_frame(frame, objectives, where=where)
        return found

    merged = None if experts is None else _merged([labels(one) for one in _several(experts)])
    last = None if fourth is None else labels(fourth)
    derived = paper.derive_matrix(
        paper.label_table(paper.EXPERT_LABELS) if merged is None else merged,
        paper.published_similarity() if dice is None else dice,
        paper.label_table(paper.FOURTH_LABELS) if last is None else last,
        objectives=objectives or paper.OBJECTIVES,
    )
    return replace(derived, sources=tuple(files))


def _merged(tables: Sequence[IntArray]) -> IntArray:
    """The labels of one table, or the mean of three experts'."""

    if len(tables) == 1:
        return tables[0]
    if len(tables) != 3:
        raise UsageError(f"{len(tables)} tables of experts", fix="give one merged table, or those of three experts")
    if any((table < 0).any() for table in tables):
        raise InputError("an expert label is missing", fix="give N, P or S for every pair")
    return mean_label(np.stack(tables))


def _matrix(source: Any) -> CorrelationMatrix | None:

    if source is None or isinstance(source, CorrelationMatrix):
        return source
    if str(source) == "printed":
        return published_matrix(printed=True)
    frame, where = _frame(source, [])
    return matrix_from_frame(frame, where=where)


def _several(source: Any) -> Sequence[Any]:
    return source if isinstance(source, (list, tuple)) else [source]


def _frame(source: Any, files: list[Source]) -> tuple[pl.DataFrame, str]:
    """A table from a path or from memory and what to call it; a file is added to `files`."""

    if not isinstance(source, (str, PathLike)):
        return frame_from_memory(source), "the frame"
    frame, origin = read_table(Path(source), empty_fix="give a row a dimension and a column an objective")
    files.append(origin)
    return frame, origin.file


def _definitions(frame: pl.DataFrame, where: str) -> dict[str, str]:
    """By name, its definitions joined."""
    if not {"name", "definition"} <= set(frame.columns):
        raise InputError("has no columns name and definition", where=where, fix="write name,definition in its header")
    found: dict[str, str] = {}
    for name, text in frame.select("name", "definition").iter_rows():
        found[str(name)] = f"{found.get(str(name), '')} {text or ''}"
    return found
