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
    """One property: the number measured for each aggregation, its sign, and the rule that made the sign."""

    name: str
    title: str
    rule: str
    """What makes a plus, in words."""
    numbers: tuple[float, ...]
    """The number measured for each aggregation."""
    signs: tuple[Sign, ...]
    """Its sign for each aggregation."""


def sign_table(
    rules: tuple[str, ...], n_algorithms: int, subsets: tuple[Subset, ...], curves: dict[str, Curve]
) -> tuple[Row, ...]:
    """The rows of Table 3, each aggregation's number beside its sign."""
    small, fewer = subsets[0], curves["drop_algorithms"]
    full = small.numbers["full"]
    few = int(np.argmax(fewer.x))
    kept = n_algorithms - int(fewer.x[few])
    within = f"unless below {{}} by more than {ERRORS:g} standard errors"
    wrong = np.array(small.against) / small.dominated if small.dominated else np.full(len(rules), np.nan)
    by_beta = dict(zip(curves["beta"].rules, curves["beta"].rho.min(axis=1), strict=True)) if "beta" in curves else {}
    beta = np.array([by_beta.get(rule, np.nan) for rule in rules])
    return (
        _row("pareto", "Pareto efficiency",
             f"number: share of the {small.dominated} dominated pairs, over {small.tried} draws of {small.size} "
             "datasets, that are ranked the wrong way round; + where none is", wrong, wrong == 0),
        _row("few_datasets", f"Only {small.size} datasets",
             f"number: mean rho of a ranking from {small.size} datasets with that from all; + "
             + within.format(FEW_DATASETS), full[:, 0], full[:, 0] + ERRORS * full[:, 3] >= FEW_DATASETS),
        _row("few_algorithms", f"Only {kept} algorithms",
             f"number: mean rho of a ranking of {kept} algorithms with their order among all; + "
             + within.format(FEW_ALGORITHMS), fewer.rho[:, few],
             fewer.rho[:, few] + ERRORS * fewer.error[:, few] >= FEW_ALGORITHMS),
        _unmoved("Adding a similar one", "all copies", curves["similar"]),
        _unmoved("Adding a new best one", "all factors", curves["new_best"]),
        _row("settings", "Changing beta",
             f"number: lowest rho over beta; + from {SETTINGS} on; NA where there is no beta", beta, beta >= SETTINGS),
    )  # fmt: skip


def _unmoved(title: str, what: str, curve: Curve) -> Row:
    lowest = curve.lowest.min(axis=1)
    rule = f"number: lowest rho of the others' order over {what}; + where it is 1, so that their order never changes"
    return _row(curve.test, title, rule, lowest, lowest >= 1 - ROUNDING)


def _row(name: str, title: str, rule: str, numbers: FloatArray, plus: BoolArray) -> Row:
    """One property; an aggregation without a number (NaN) has the sign NA."""
    signs = np.where(np.isnan(numbers), "NA", np.where(plus, "+", "-"))
    return Row(name, title, rule, tuple(numbers.tolist()), tuple(signs.tolist()))
