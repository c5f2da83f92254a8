"""The table of plus and minus (KDD'24, Table 3), derived from measured numbers by a stated rule for each row."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from recassay.analysis.stress.curve import Curve
from recassay.analysis.stress.datasets import Subset
from recassay.core.ties import ROUNDING
from recassay.core.types import FloatArray

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


def _signs(plus: Iterable[bool]) -> tuple[Sign, ...]:
    return tuple("+" if good else "-" for good in plus)


def _pareto(subset: Subset) -> Row:
    rule = (
        f"number: share of the {subset.dominated} dominated pairs, over {subset.tried} draws of {subset.size} "
        "datasets, that are ranked the wrong way round; + where none is"
    )
    if subset.dominated == 0:
        nothing: list[Sign] = ["NA" for _ in subset.against]
        return Row("pareto", "Pareto efficiency", rule, (float("nan"),) * len(nothing), tuple(nothing))
    share = tuple(count / subset.dominated for count in subset.against)
    return Row("pareto", "Pareto efficiency", rule, share, _signs([count == 0 for count in subset.against]))


def _bounded(name: str, title: str, rule: str, mean: FloatArray, error: FloatArray, bound: float) -> Row:
    return Row(name, title, rule, tuple(mean.tolist()), _signs((mean + ERRORS * error >= bound).tolist()))


def _exact(name: str, title: str, what: str, curve: Curve) -> Row:
    lowest = curve.lowest.min(axis=1)
    rule = f"number: lowest rho of the others' order over {what}; + where it is 1, so that their order never changes"
    return Row(name, title, rule, tuple(lowest.tolist()), _signs((lowest >= 1 - ROUNDING).tolist()))


def sign_table(
    rules: tuple[str, ...],
    n_algorithms: int,
    subsets: tuple[Subset, ...],
    algorithms: Curve,
    similar: Curve,
    new_best: Curve,
    beta: Curve | None,
) -> tuple[Row, ...]:
    """The rows of Table 3, each aggregation's number beside its sign."""
    small = subsets[0]
    full = small.numbers["full"]
    few = int(np.argmax(algorithms.x))
    kept = n_algorithms - int(algorithms.x[few])
    within = f"unless below {{}} by more than {ERRORS:g} standard errors"
    rows = [
        _pareto(small),
        _bounded("few_datasets", f"Only {small.size} datasets",
                 f"number: mean rho of a ranking from {small.size} datasets with that from all; + "
                 + within.format(FEW_DATASETS), full[:, 0], full[:, 3], FEW_DATASETS),
        _bounded("few_algorithms", f"Only {kept} algorithms",
                 f"number: mean rho of a ranking of {kept} algorithms with their order among all; + "
                 + within.format(FEW_ALGORITHMS), algorithms.rho[:, few], algorithms.error[:, few], FEW_ALGORITHMS),
        _exact("similar", "Adding a similar one", "all copies", similar),
        _exact("new_best", "Adding a new best one", "all factors", new_best),
    ]  # fmt: skip
    rows.append(_settings(rules, beta))
    return tuple(rows)


def _settings(rules: tuple[str, ...], beta: Curve | None) -> Row:
    lowest = {} if beta is None else dict(zip(beta.rules, beta.rho.min(axis=1).tolist(), strict=True))
    signs: list[Sign] = ["NA" if rule not in lowest else "+" if lowest[rule] >= SETTINGS else "-" for rule in rules]
    return Row(
        "settings",
        "Changing beta",
        f"number: lowest rho over beta; + from {SETTINGS} on; NA where there is no beta",
        tuple(lowest.get(rule, float("nan")) for rule in rules),
        tuple(signs),
    )
