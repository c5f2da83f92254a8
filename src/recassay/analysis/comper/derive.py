"""ComPer's correlation matrix out of tables: whose labels and similarities are given, and the paper's own elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import polars as pl

from recassay.analysis.comper import matrix as paper
from recassay.analysis.comper.matrix_tables import labels_from_frame, matrix_from_frame, similarities_from_frame
from recassay.analysis.comper.words import dice_table
from recassay.core.errors import InputError, UsageError
from recassay.core.types import IntArray

Table: TypeAlias = tuple[pl.DataFrame, str]
"""A frame, and what to call it in an error."""


def derive_from_tables(
    *,
    experts: Sequence[Table] = (),
    similarities: Table | None = None,
    definitions: Table | None = None,
    fourth: Table | None = None,
) -> paper.Derivation:
    """Tables 2 to 8 step by step; what is not given is the paper's own table.

    `experts`: merged labels N, P, S, or those of three experts; `similarities`: Dice values; or `definitions` (columns
    name and definition, of the five dimensions and of the objectives) to compute them; `fourth`: labels of a fourth
    expert for the pairs where labels and similarities disagree.
    """
    if similarities is not None and definitions is not None:
        raise UsageError("similarities and definitions exclude each other", fix="give one of them")
    objectives: tuple[str, ...] | None = None
    dice = None
    if definitions is not None:
        dice, objectives = dice_table(_definitions(*definitions))
    elif similarities is not None:
        dice, objectives = similarities_from_frame(*similarities)
    labelled = []
    for frame, where in [*experts, *([fourth] if fourth is not None else [])]:
        found, objectives = labels_from_frame(frame, objectives, where=where)
        labelled.append(found)
    last = labelled.pop() if fourth is not None else None
    return paper.derive_matrix(
        _merged(labelled) if labelled else paper.label_table(paper.EXPERT_LABELS),
        paper.published_similarity() if dice is None else dice,
        paper.label_table(paper.FOURTH_LABELS) if last is None else last,
        objectives=objectives or paper.OBJECTIVES,
    )


def given_matrix(source: Table | str | paper.CorrelationMatrix | None) -> paper.CorrelationMatrix | None:
    """A matrix from a table, `printed` for Table 8 to its printed digits, or None for Table 8."""
    if source is None or isinstance(source, paper.CorrelationMatrix):
        return source
    if isinstance(source, str):
        return paper.published_matrix(printed=source == "printed")
    frame, where = source
    return matrix_from_frame(frame, where=where)


def _merged(tables: Sequence[IntArray]) -> IntArray:
    """The labels of one table, or the mean of three experts'."""
    if len(tables) == 1:
        return tables[0]
    if len(tables) != 3:
        raise UsageError(f"{len(tables)} tables of experts", fix="give one merged table, or those of three experts")
    if any((table < 0).any() for table in tables):
        raise InputError("an expert label is missing", fix="give N, P or S for every pair")
    return paper.mean_label(np.stack(tables))


def _definitions(frame: pl.DataFrame, where: str) -> dict[str, str]:
    """By name, its definitions joined."""
    if not {"name", "definition"} <= set(frame.columns):
        raise InputError("has no columns name and definition", where=where, fix="write name,definition in its header")
    found: dict[str, str] = {}
    for name, text in frame.select("name", "definition").iter_rows():
        found[str(name)] = f"{found.get(str(name), '')} {text or ''}"
    return found
