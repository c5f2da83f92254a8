"""ComPer's correlation matrix out of tables: whose labels and similarities are given, and the paper's own elsewhere."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TypeAlias

import numpy as np
import polars as pl

from recassay.analysis.comper import matrix as paper
from recassay.analysis.comper.matrix import DIMENSIONS
from recassay.analysis.comper.matrix_tables import labels_from_frame, matrix_from_frame, similarities_from_frame
from recassay.core.errors import InputError, UsageError, listing
from recassay.core.names import canonical
from recassay.core.types import FloatArray, IntArray

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
    from snowballstemmer import stemmer

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
    and each objective, which is every name that is no dimension.

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
    definitions: dict[str, str] = {}
    for name, text in frame.select("name", "definition").iter_rows():
        definitions[str(name)] = f"{definitions.get(str(name), '')} {text or ''}"
    return definitions
