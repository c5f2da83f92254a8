"""ComPer's correlation matrix, and the tables that it is derived from: labels and similarities."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TypeAlias

import numpy as np
import polars as pl

from recassay.analysis.comper.matrix import (
    DIMENSIONS,
    LABELS,
    OBJECTIVES,
    CorrelationMatrix,
    Derivation,
    derive_matrix,
    label_table,
    likert_labels,
    mean_label,
)
from recassay.core.errors import InputError, MissingExtraError, UsageError
from recassay.core.names import canonical, did_you_mean
from recassay.core.types import FloatArray, IntArray
from recassay.core.words import listing

STOP_WORDS = frozenset(
    re.findall(
        "[a-z]+",
        """
        a about above after again all also am an and any are as at be because been before being below between both but
        by can could did do does doing down during each either else ever few for from further had has have having he her
        here hers herself him himself his how however i if in into is it its itself just like may me might more most
        must my myself no nor not of off on once only or other ought our ours ourselves out over own per rather same
        shall she should so some such than that the their theirs them themselves then there these they this those
        through to too under until up upon us very was we were what when where whether which while who whom whose why
        will with within without would yet you your yours yourself yourselves
        """,
    )
)
"""Function words of English."""


@cache
def stem(word: str) -> str:
    """The stem of a lower-case English word by Porter's algorithm (Program 14(3), 1980); one or two letters stay."""
    try:
        from snowballstemmer import stemmer
    except ModuleNotFoundError as error:
        raise MissingExtraError("snowballstemmer", "definitions", "comparing definitions of one's own") from error
    return word if len(word) <= 2 else str(stemmer("porter").stemWord(word))


def features(definition: str) -> frozenset[str]:
    """The bag of words of a definition: lower case, without stop words, stemmed, each stem once."""
    words = re.findall(r"[a-z]+", definition.casefold())
    return frozenset(stem(word) for word in words if len(word) > 1 and word not in STOP_WORDS)


def dice(left: frozenset[str], right: frozenset[str]) -> float:
    """Equation (1): 2 |X and Y| / (|X| + |Y|), 0 for two empty sets."""
    size = len(left) + len(right)
    return 2 * len(left & right) / size if size else 0.0


def dice_table(definitions: Mapping[str, str]) -> tuple[FloatArray, tuple[str, ...]]:
    """Table 3 for these definitions, and the objectives: similarity of each dimension (in the order of `DIMENSIONS`)
    and each objective, which is every name that is not a dimension.

    The document of definitions behind the paper's Table 3 is not published, and the one-line definitions that it prints
    (section III.A and Table 1) share not a single stem. So Table 3 is built in as published, and this step is for
    definitions of one's own.
    """
    bags = {name: features(text) for name, text in definitions.items()}
    dimensions = {canonical(name): bag for name, bag in bags.items() if canonical(name) in DIMENSIONS}
    objectives = {name: bag for name, bag in bags.items() if canonical(name) not in DIMENSIONS}
    absent = [name for name in DIMENSIONS if name not in dimensions]
    if absent or not objectives:
        what = f"no definition of {listing(absent)}" if absent else "no objective is defined"
        raise InputError(what, fix=f"define {listing(DIMENSIONS, most=None)} and the objectives")
    wordless = [name for name, bag in bags.items() if not bag]
    if wordless:
        raise InputError(f"the definition of {listing(wordless)} has no word left", fix="define it in more words")
    table = [[dice(dimensions[name], bag) for bag in objectives.values()] for name in DIMENSIONS]
    return np.array(table), tuple(objectives)


Table: TypeAlias = tuple[pl.DataFrame, str]
"""A frame, and what to call it in an error."""


def derive_from_tables(
    *,
    experts: Sequence[Table] = (),
    similarities: Table | None = None,
    definitions: Table | None = None,
    fourth: Table | None = None,
) -> Derivation:
    """Tables 2 to 8 step by step; what is not given is the paper's own table.

    `experts`: merged labels N, P, S, or those of three experts; `similarities`: Dice values; or `definitions` (columns
    name and definition, of the five dimensions and of the objectives) to compute them; `fourth`: labels of a fourth
    expert for the pairs where labels and similarities disagree.
    """
    if similarities is not None and definitions is not None:
        raise UsageError("similarities and definitions exclude each other", fix="give one of them")
    objectives, dice, last = None, None, None
    if definitions is not None:
        dice, objectives = dice_table(_definitions(*definitions))
    elif similarities is not None:
        dice, objectives = similarities_from_frame(*similarities)
    labelled = []
    for frame, where in experts:
        labels, objectives = labels_from_frame(frame, objectives, where=where)
        labelled.append(labels)
    if fourth is not None:
        last, objectives = labels_from_frame(fourth[0], objectives, where=fourth[1])
    return derive_matrix(_merged(labelled) if labelled else None, dice, last, objectives=objectives or OBJECTIVES)


def _merged(tables: Sequence[IntArray]) -> IntArray:
    """The labels of one table, or the mean of three experts'."""
    if len(tables) not in (1, 3):
        raise UsageError(f"{len(tables)} tables of experts", fix="give one merged table, or those of three experts")
    if any((table < 0).any() for table in tables):
        raise InputError("an expert label is missing", fix="give N, P or S for every pair")
    return mean_label(np.stack(tables))


def _definitions(frame: pl.DataFrame, where: str) -> dict[str, str]:
    """By name, its definitions joined."""
    if not {"name", "definition"} <= set(frame.columns):
        raise InputError("has no columns name and definition", where=where, fix="write name,definition in its header")
    definitions: dict[str, str] = {}
    for name, text in frame.select("name", "definition").iter_rows():
        definitions[str(name)] = f"{definitions.get(str(name), '')} {text or ''}"
    return definitions


def dimension_rows(frame: pl.DataFrame, where: str) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The rows of a table in the order of `DIMENSIONS`, and its objectives: first column dimension, one an
    objective."""
    if frame.width < 2:
        raise InputError("has no column of an objective", where=where, fix="write dimension,remember,understand,...")
    first, *objectives = frame.columns
    names = [str(name) for name in frame.get_column(first).to_list()]
    given = [canonical(name) for name in names]
    unknown = [name for name in names if canonical(name) not in DIMENSIONS]
    if unknown:
        raise InputError(f"unknown dimension {unknown[0]!r}", where=where, fix=did_you_mean(unknown[0], DIMENSIONS))
    absent = [name for name in DIMENSIONS if name not in given]
    if absent or len(given) > len(DIMENSIONS):
        what = f"no row for {listing(absent)}" if absent else "a dimension has two rows"
        raise InputError(what, where=where, fix=f"give one row each for {listing(DIMENSIONS, most=None)}")
    return frame[[given.index(name) for name in DIMENSIONS]].drop(first), tuple(objectives)


def numbers(frame: pl.DataFrame, where: str, *, empty: bool = False) -> FloatArray:
    """The cells as numbers, NaN for an empty one where `empty` allows it; anything else raises with its place."""
    table = frame.cast(pl.String)
    values = table.cast(pl.Float64, strict=False)
    for name in table.columns:
        blank = table.get_column(name).fill_null("").str.strip_chars().is_in(["", "-"])
        bad = ~values.get_column(name).is_finite().fill_null(False) & ~(blank & empty)
        if bad.any():
            row = int(bad.arg_true()[0])
            raise InputError(f"{table[row, name]!r} at {DIMENSIONS[row]}, {name} is not a number", where=where,
                             fix="give a number for every dimension and objective")  # fmt: skip
    return values.fill_null(np.nan).to_numpy().astype(np.float64)


def matrix_from_frame(frame: pl.DataFrame, *, where: str = "the matrix") -> CorrelationMatrix:
    """One's own matrix: first column dimension (all five), then one column per objective, numbers of at least 0."""
    rows, objectives = dimension_rows(frame, where)
    values = numbers(rows, where)
    if (values < 0).any() or not values.any():
        what = "all values are 0" if not values.any() else f"{values[values < 0][0]:g} is below 0"
        raise InputError(what, where=where, fix="a correlation strength is at least 0, and some are above it")
    return CorrelationMatrix(values, objectives, where)


def similarities_from_frame(frame: pl.DataFrame, where: str = "the table") -> tuple[FloatArray, tuple[str, ...]]:
    """A table of similarities between 0 and 1, and its objectives."""
    rows, objectives = dimension_rows(frame, where)
    values = numbers(rows, where)
    if (values < 0).any() or (values > 1).any():
        raise InputError("a similarity is not between 0 and 1", where=where, fix="give Dice similarities")
    return values, objectives


def labels_from_frame(
    frame: pl.DataFrame, objectives: Sequence[str] | None = None, *, where: str = "the labels"
) -> tuple[IntArray, tuple[str, ...]]:
    """A table of N, P and S, or of ratings from 1 to 5 (see `likert_labels`); empty or `-`: not said.

    Columns come in the order of `objectives` where these are known (from another table), else as they stand.
    """
    rows, found = dimension_rows(frame, where)
    if objectives is not None:
        by_name = {canonical(name): name for name in found}
        if set(by_name) != set(map(canonical, objectives)):
            raise InputError(
                f"the objectives are {listing(found, most=8)}", where=where, fix=f"use {listing(objectives, most=None)}"
            )
        rows = rows.select(by_name[canonical(name)] for name in objectives)
        found = tuple(objectives)
    text = rows.cast(pl.String).with_columns(pl.all().fill_null("").str.strip_chars().str.to_uppercase())
    cells = [list(row) for row in text.iter_rows()]
    used = {cell for row in cells for cell in row} - {"", "-"}
    if used <= set(LABELS):
        return label_table(["".join(cell or "-" for cell in row) for row in cells]), found
    if used & set(LABELS):
        raise InputError("mixes letters and ratings", where=where, fix="use N, P, S or ratings from 1 to 5")
    return likert_labels(numbers(rows, where, empty=True)), found
