"""What the tests found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from recassay.analysis.compare.bayesian import BayesianPair
from recassay.analysis.compare.control import ControlResult
from recassay.analysis.inference.all_pairs import smallest_p
from recassay.analysis.inference.friedman import FriedmanResult
from recassay.analysis.inference.pair_rows import PairRows
from recassay.analysis.inference.significance import Pair
from recassay.analysis.inference.skillings_mack import SkillingsMack
from recassay.analysis.verdict.result import Verdict
from recassay.core import columns as c
from recassay.core.choices import FEWEST_DATASETS, BarsRule, ZeroMethod
from recassay.core.system.display import worded
from recassay.core.system.plain import plain
from recassay.core.tables.matrix import MatrixResult, MissingCells
from recassay.core.tabular import by_name, stated

CREDIBILITY = 0.95


@dataclass(frozen=True, slots=True)
class PowerStatement:
    """What N datasets can show of k algorithms."""

    datasets: int
    """How many datasets there are (N)."""
    algorithms: int
    """How many algorithms (k)."""
    alpha: float

    @property
    def pairs(self) -> int:
        """How many pairs of algorithms."""
        return self.algorithms * (self.algorithms - 1) // 2

    @property
    def smallest_p(self) -> float:
        """The smallest two-sided p that N datasets allow, alone or over all pairs by flipped signs: 2 / 2^N."""
        return smallest_p(self.datasets)

    @property
    def smallest_p_holm(self) -> float:
        """The smallest p of Wilcoxon's test with Holm's correction: 2 / 2^N times the number of pairs."""
        return self.smallest_p * self.pairs

    @property
    def wilcoxon_can_decide(self) -> bool:
        """Whether any pair could be significant by Wilcoxon-Holm with so few datasets."""
        return self.smallest_p_holm < self.alpha

    def sentence(self) -> str:
        """What cannot be shown, in words; empty where differences can be, and below five datasets."""
        return str(worded("compare", "power", self))


__all__ = ["CompareResult", "ControlResult"]

OF_VERDICT = {"status": "status", "p_flips": "p_single", "p_flips_adjusted": "p"}
"""Columns of the table of pairs, by the field of the verdict that they have."""


@dataclass(frozen=True, slots=True)
class Equivalence:
    """How far apart two algorithms are on a typical dataset, and the test that they are equivalent.

    `ratio` is Hodges and Lehmann's estimate of left / right, in the direction that more is better: 1.03 says that
    `left` is 3 % better. `p_equal` is the larger of the two one-sided p-values that the ratio lies within
    1 / (1 + within) and 1 + within; `p_equal_holm` is corrected over all pairs.
    """

    left: str
    right: str
    ratio: float
    p_equal: float
    p_equal_holm: float


@dataclass(frozen=True, slots=True)
class CompareResult(MatrixResult):
    """The tests of one metric, over datasets."""

    algorithms: tuple[str, ...]
    """Names of the algorithms, from the best mean rank to the worst."""
    mean_ranks: tuple[float, ...]
    """The mean rank of each algorithm over the datasets, in the order of `algorithms`."""
    alpha: float
    judgement: Verdict
    """The verdict on the table: grade, who could be best, the status of every pair by the all-pairs test."""
    friedman: FriedmanResult
    """Whether the algorithms differ at all."""
    nemenyi_cd: float
    """Nemenyi's critical difference: mean ranks that are farther apart differ by his test."""
    pairs: PairRows[Pair]
    """Every pair by Wilcoxon's signed-rank test with Holm's correction, the better mean rank on the left; the first
    pair is the best against the second."""
    bayesian: PairRows[BayesianPair]
    """Every pair by the Bayesian signed-rank test, in the order of `pairs`."""
    groups: dict[str, tuple[tuple[str, ...], ...]]
    """By rule (`sign_flips`, `wilcoxon_holm`, `bayesian`, `nemenyi`), the maximal runs of neighbours in mean rank of
    which no pair differs: those that a critical-difference diagram joins by a bar. Pairs that do not differ but have a
    differing one between them are in the list of pairs only."""
    power: PowerStatement
    """What so many datasets can show."""
    bars: BarsRule
    """The rule whose groups the diagram joins by bars."""
    control: ControlResult | None
    """The comparisons of an algorithm that was named beforehand with every other; None where none was named."""
    equivalence: PairRows[Equivalence]
    """For the pairs whose values are all above 0, their ratio on a typical dataset, and the test of equivalence."""
    within: float
    skillings_mack: SkillingsMack | None
    """Friedman's question of a table with missing cells, asked of the table before anything was dropped or filled; None
    where no cell is missing."""
    missing: MissingCells
    zeros: ZeroMethod
    """How to treat datasets on which two algorithms are equal, in Wilcoxon's test."""
    rope: float
    """Half the width of the region in which differences count as equal in the Bayesian test, in the metric's units."""
    draws: int
    """Draws from the posterior of the Bayesian test."""
    credibility: float = CREDIBILITY
    """The probability above which the Bayesian rule calls two algorithms different."""

    @property
    def drawn(self) -> tuple[tuple[str, ...], ...]:
        """The groups that the diagram joins by bars: those of its rule.

        None where there are too few datasets, and none with a control, which stars are drawn for instead.
        """
        if len(self.datasets) < FEWEST_DATASETS or self.control is not None:
            return ()
        if self.bars == self.judgement.test and self.judgement.grade == "too_little_data":
            return ()
        return self.groups[self.bars.replace("-", "_")]

    def lead(self) -> tuple[Pair, BayesianPair]:
        """The best mean rank against the second."""
        return self.pairs[0], self.bayesian[0]

    def to_frame(self) -> pl.DataFrame:
        """One row per pair: its status, the all-pairs test, Wilcoxon-Holm, effect sizes, Bayesian probabilities."""
        verdict, equal = self.judgement.pairs, self.equivalence
        k = len(self.algorithms)
        keys = pl.Series("pair", equal.first * k + equal.second)
        ratios = pl.DataFrame({"pair": keys, **{name: equal.values(name) for name in ("ratio", "p_equal_holm")}})
        frame = pl.DataFrame({
            **{name: self.pairs.values(name) for name in self.pairs.columns},
            **{name: verdict.values(field) for name, field in OF_VERDICT.items()},
            **{name: self.bayesian.values(name) for name in ("p_left", "p_rope", "p_right")},
            "pair": self.pairs.first * k + self.pairs.second,
        })  # fmt: skip
        return frame.join(ratios, on="pair", how="left", maintain_order="left").drop("pair")

    def frames(self) -> dict[str, pl.DataFrame]:
        """The pairs, the mean ranks, the groups, and the comparisons with a control."""
        groups = [
            {"rule": rule, "group": i + 1, c.ALGORITHM: name}
            for rule, runs in self.groups.items()
            for i, group in enumerate(runs)
            for name in group
        ]
        schema = {"rule": pl.String, "group": pl.Int64, c.ALGORITHM: pl.String}
        control = {} if self.control is None else {"control": pl.DataFrame([asdict(p) for p in self.control.pairs])}
        return {
            "pairs": self.to_frame(),
            "mean_ranks": pl.DataFrame({c.ALGORITHM: self.algorithms, "mean_rank": self.mean_ranks}),
            "groups": pl.DataFrame(groups, schema=schema),
            **control,
        }

    def _listed(self, pairs: PairRows[Any]) -> Any:
        return plain(self.judgement.listed(pairs))

    def to_dict(self) -> dict[str, Any]:
        """`friedman`, `nemenyi_cd`, `wilcoxon_holm`, `bayesian`, `groups`, `power` and the settings."""
        return {
            "verdict": self.judgement.to_dict(),
            **stated(self, "metric", "higher_is_better", "algorithms", "datasets"),
            "mean_ranks": by_name(self.mean_ranks, self.algorithms),
            **stated(self, "friedman", "nemenyi_cd"),
            "wilcoxon_holm": self._listed(self.pairs),
            "bayesian": self._listed(self.bayesian),
            **stated(self, "control"),
            "equivalence": {"within": self.within, "pairs": self._listed(self.equivalence)},
            **stated(self, "skillings_mack", "groups"),
            "power": {
                **plain(self.power),
                **stated(self.power, "pairs", "smallest_p", "smallest_p_holm", "wilcoxon_can_decide"),
                "statement": self.power.sentence(),
            },
            "missing": plain(self.missing),
            "settings": stated(self, "alpha", "zeros", "rope", "credibility", "draws", "bars"),
        }
