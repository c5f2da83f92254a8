"""The table of plus and minus (KDD'24, Table 3), derived from measured numbers by a stated rule for each row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from recassay.analysis.stress.changes import Subset
from recassay.analysis.stress.curve import Curve
from recassay.core.ties import ROUNDING
from recassay.core.types import BoolArray, FloatArray

FEW_DATASETS = 0.795
"""Mean rho with the full ranking that a ranking from 5 datasets should reach: the 0.8 of section 4.2.3, rounded to."""

FEW_ALGORITHMS = 0.95
"""Mean rho that a ranking of few algorithms should keep with their order among all."""

SETTINGS = 0.95
"""Rho that the ranking at any beta should keep with that at the usual one."""

ERRORS = 2.0
"""A mean rho counts as below its bound where it is so by more than this many standard errors."""

Sign = Literal["+", "-", "NA"]


@dataclass(frozen=True, slots=True)
class Row:
    """One property: the number measured for each aggregation, and its sign."""

    name: str
    numbers: tuple[float, ...]
    """The number measured for each aggregation."""
    signs: tuple[Sign, ...]
    """Its sign for each aggregation."""
    size: int = 0
    """How many datasets, or algorithms, a ranking was made from; 0 where all were."""


def sign_table(
    rules: tuple[str, ...], n_algorithms: int, subsets: tuple[Subset, ...], curves: dict[str, Curve]
) -> tuple[Row, ...]:
    """The rows of Table 3, each aggregation's number beside its sign."""
    small, fewer = subsets[0], curves["drop_algorithms"]
    full = small.numbers["full"]
    few = int(np.argmax(fewer.x))
    kept = n_algorithms - int(fewer.x[few])
    wrong = np.array(small.against) / small.dominated if small.dominated else np.full(len(rules), np.nan)
    by_beta = dict(zip(curves["beta"].rules, curves["beta"].rho.min(axis=1), strict=True)) if "beta" in curves else {}
    beta = np.array([by_beta.get(rule, np.nan) for rule in rules])
    return (
        _row("pareto", wrong, wrong == 0, small.size),
        _row("few_datasets", full[:, 0], full[:, 0] + ERRORS * full[:, 3] >= FEW_DATASETS, small.size),
        _row("few_algorithms", fewer.rho[:, few],
             fewer.rho[:, few] + ERRORS * fewer.error[:, few] >= FEW_ALGORITHMS, kept),
        _unmoved(curves["similar"]),
        _unmoved(curves["new_best"]),
        _row("settings", beta, beta >= SETTINGS),
    )  # fmt: skip


def _unmoved(curve: Curve) -> Row:
    lowest = curve.lowest.min(axis=1)
    return _row(curve.test, lowest, lowest >= 1 - ROUNDING)


def _row(name: str, numbers: FloatArray, plus: BoolArray, size: int = 0) -> Row:
    """One property; an aggregation without a number (NaN) has the sign NA."""
    signs = np.where(np.isnan(numbers), "NA", np.where(plus, "+", "-"))
    return Row(name, tuple(numbers.tolist()), tuple(signs.tolist()), size)
