"""What a benchmark of this size could have shown."""

from __future__ import annotations

from dataclasses import dataclass

from recassay.analysis.inference.all_pairs import smallest_p

POWER = 0.8
FEWEST_DATASETS = 5


@dataclass(frozen=True, slots=True)
class PowerStatement:
    """What N datasets can show of k algorithms."""

    datasets: int
    """How many datasets there are (N)."""
    algorithms: int
    """How many algorithms (k)."""
    alpha: float
    detectable_gap: float | None
    """The lead in mean rank that is shown with probability `power`; None where no lead is."""
    same: bool = False
    """Whether all algorithms have the same value on every dataset: then there is no lead to speak of."""
    power: float = POWER

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
        """The statement in words; empty below five datasets."""
        if self.datasets < FEWEST_DATASETS or self.same:
            return ""
        size = f"With {self.datasets} datasets and {self.algorithms} algorithms"
        if self.smallest_p >= self.alpha:
            return f"{size}, no difference can be significant: the smallest p is {self.smallest_p:.3g}."
        share = f"{100 * self.power:.0f} %"
        if self.detectable_gap is None:
            return f"{size}, no lead would be found in {share} of such benchmarks, however large."
        return f"{size}, a lead of {self.detectable_gap:.1f} mean ranks is found in {share} of such benchmarks."
