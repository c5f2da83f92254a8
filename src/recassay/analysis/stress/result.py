"""What the stress tests of a benchmark's rankings found, as tables and as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from recassay.analysis.aggregation.rules import DolanMore, Rule
from recassay.analysis.stress.changes import Subset
from recassay.analysis.stress.conclusions import KEPT, Change, Conclusion, Survival
from recassay.analysis.stress.curve import NUMBERS, Curve, estimated
from recassay.analysis.stress.signs import ERRORS, FEW_ALGORITHMS, FEW_DATASETS, SETTINGS, Row
from recassay.core import columns as c
from recassay.core.system.display import worded
from recassay.core.system.plain import plain
from recassay.core.tables.matrix import MatrixResult, MissingCells
from recassay.core.tabular import by_name, long_frame, stated
from recassay.core.types import BoolArray, FloatArray

__all__ = [
    "ERRORS",
    "FEW_ALGORITHMS",
    "FEW_DATASETS",
    "KEPT",
    "SETTINGS",
    "Change",
    "Conclusion",
    "StressResult",
    "Survival",
]


@dataclass(frozen=True, slots=True, eq=False)
class StressResult(MatrixResult):
    """What every stress test measured, and what follows.

    Arrays are in the order of rules and algorithms.
    """

    rules: tuple[Rule, ...]
    """The aggregations that were put to the test, each an opinion of its own."""
    skipped: dict[str, str]
    """By name, the aggregations that were left out, and why."""
    missing: MissingCells
    draws: int
    """How many changed tables were drawn at each strength of a test, where not all were tried."""
    seed: int
    dolan_more: DolanMore
    reference: FloatArray
    """The ranks on the whole table, rules x algorithms."""
    order: list[int]
    """Positions of the algorithms by mean rank over the datasets, best first: the order that the conclusions are
    about."""
    curves: dict[str, Curve]
    """By test (`drop_datasets`, `drop_algorithms`, `similar`, `new_best`, `beta`), how well the ranking agrees with
    that of the whole table as the change grows."""
    subsets: tuple[Subset, ...]
    """For small numbers of datasets, how well rankings from so few agree with that of all, and with each other."""
    signs: tuple[Row, ...]
    """The table of plus and minus: what each aggregation withstands."""
    main: Survival
    """How often the order survives the change that the verdict is about: a sixth of the datasets, at least two, left
    out."""
    half: Survival
    """The same for a harder change: half of the datasets left out."""
    conclusions: tuple[Conclusion, ...]
    """That the first is first, and that each is before the next, with the share of changed tables that keep it."""
    tiers: list[list[int]]
    """The order cut where it survives `main`: lists of positions of algorithms. Within a tier the order is not to be
    relied on; between tiers it is."""
    deciding: BoolArray
    """Rules x datasets: whether the first of the order loses its place under that rule without that dataset alone."""

    def sign_rules(self) -> dict[str, str]:
        """By property of the table of plus and minus, what makes a plus."""
        return {row.name: str(rule) for row, rule in zip(self.signs, worded("stress", "sign_rules", self), strict=True)}

    @property
    def titles(self) -> list[str]:
        """The aggregations as people name them."""
        return [rule.title for rule in self.rules]

    def to_frame(self) -> pl.DataFrame:
        """The table of plus and minus, long: property, aggregation, number, sign, rule."""
        return long_frame(
            {"property": [row.name for row in self.signs], "aggregation": [rule.name for rule in self.rules]},
            {
                "number": [row.numbers for row in self.signs],
                "sign": [row.signs for row in self.signs],
                "rule": [[rule] for rule in self.sign_rules().values()],
            },
        )

    def frames(self) -> dict[str, pl.DataFrame]:
        """Plus and minus, the curves, the small sets of datasets, the conclusions, and the order in tiers."""
        names, means = [rule.name for rule in self.rules], self.reference.mean(axis=0)
        order = [(t, self.algorithms[a], float(means[a])) for t, tier in enumerate(self.tiers, 1) for a in tier]
        return {
            "stress_signs": self.to_frame(),
            "stress_curves": pl.concat([curve.to_frame() for curve in self.curves.values()]),
            "stress_subsets": pl.concat(
                long_frame(
                    {"datasets": [subset.size], "compared_with": [what], "aggregation": names},
                    {NUMBERS: numbers, "tried": subset.tried},
                )
                for subset in self.subsets
                for what, numbers in subset.numbers.items()
            ),
            "stress_conclusions": pl.DataFrame(
                [_conclusion(each) | by_name(each.shares, names) for each in self.conclusions]
            ),
            "stress_order": pl.DataFrame(
                order, schema=["tier", c.ALGORITHM, "mean_rank_over_aggregations"], orient="row"
            ),
        }

    def to_dict(self) -> dict[str, Any]:
        """`verdict`, `tiers`, `conclusions`, `table`, `subsets`, `pareto` and `curves`, mostly by aggregation."""
        names, rules = [rule.name for rule in self.rules], self.sign_rules()
        return plain({
            **stated(self, "metric", "higher_is_better", "algorithms", "datasets"),
            "aggregations": {rule.name: rule.title for rule in self.rules},
            **stated(self, "skipped", "missing"),
            "settings": {"draws": self.draws, "seed": self.seed, "beta_max": self.dolan_more.beta_max},
            "verdict": self.verdict(),
            "tiers": [[self.algorithms[a] for a in tier] for tier in self.tiers],
            "deciding_datasets": {
                name: [self.datasets[d] for d in np.flatnonzero(lost)]
                for name, lost in zip(names, self.deciding, strict=True)
            },
            "conclusions": [_conclusion(each) | {"share": by_name(each.shares, names)} for each in self.conclusions],
            "table": {
                row.name: {
                    "rule": rules[row.name],
                    "signs": by_name(row.signs, names),
                    "numbers": by_name(row.numbers, names),
                }
                for row in self.signs
            },
            "subsets": {
                str(subset.size): {
                    what: {name: estimated(numbers[r]) for r, name in enumerate(names)}
                    for what, numbers in subset.numbers.items()
                }
                for subset in self.subsets
            },
            "pareto": {
                str(subset.size): {
                    name: {"dominated": subset.dominated, "against": subset.against[r], "level": subset.level[r]}
                    for r, name in enumerate(names)
                }
                for subset in self.subsets
            },
            "curves": self.curves,
        })  # fmt: skip


def _conclusion(each: Conclusion) -> dict[str, Any]:
    change = {"change": each.change.name, "when": each.change.when}
    return {"conclusion": each.statement, **change, **stated(each, "verdict", "holds_under")}
