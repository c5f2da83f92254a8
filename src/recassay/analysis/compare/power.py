"""What a benchmark of this size could have seen at all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from recassay.analysis.inference.significance import nemenyi_cd

POWER = 0.8


@dataclass(frozen=True, slots=True)
class PowerStatement:
    """The smallest differences that N datasets can show among k algorithms at level alpha.

    `smallest_significant`: mean-rank difference that just reaches significance (the Nemenyi critical difference).
    `smallest_detectable`: true difference found with probability 0.8: CD + z_0.8 sqrt(k (k + 1) / (6 N)), the standard
    error being that of a rank difference when ranks are exchangeable (conservative when they are not).
    `smallest_p`: the smallest two-sided Wilcoxon p that N datasets without ties can give, 2 / 2^N; times the number of
    pairs it is `smallest_p_holm`, and where that is not below alpha no pair can be significant, whatever the values.
    `datasets_needed`: datasets at which the observed gap between the two best mean ranks would be detectable with
    probability 0.8 (None for no gap).
    """

    datasets: int
    algorithms: int
    alpha: float
    power: float
    smallest_significant: float
    smallest_detectable: float
    smallest_p: float
    smallest_p_holm: float
    wilcoxon_can_decide: bool
    observed_gap: float
    datasets_needed: int | None

    def sentence(self) -> str:
        """The statement in words."""
        if not self.wilcoxon_can_decide:
            return (
                f"With {self.datasets} datasets no pair of {self.algorithms} algorithms can differ significantly: "
                f"the smallest corrected p is {min(self.smallest_p_holm, 1):.3g}."
            )
        return (
            f"With {self.datasets} datasets and {self.algorithms} algorithms, mean ranks less than "
            f"{self.smallest_significant:.2f} apart are within the critical difference, and a true difference below "
            f"{self.smallest_detectable:.2f} would be missed more often than one time in five."
        )


def power_statement(k: int, n: int, alpha: float, observed_gap: float) -> PowerStatement:
    """What n datasets can show among k algorithms, and how many would show the observed gap."""
    cd = nemenyi_cd(k, n, alpha)
    unit = np.sqrt(k * (k + 1) / 6)
    z = float(stats.norm.ppf(POWER))
    per_root_n = cd * np.sqrt(n) + z * unit
    pairs = k * (k - 1) / 2
    smallest = 2.0 ** (1 - n)
    return PowerStatement(
        datasets=n,
        algorithms=k,
        alpha=alpha,
        power=POWER,
        smallest_significant=cd,
        smallest_detectable=float(per_root_n / np.sqrt(n)),
        smallest_p=smallest,
        smallest_p_holm=smallest * pairs,
        wilcoxon_can_decide=smallest * pairs < alpha,
        observed_gap=observed_gap,
        datasets_needed=int(np.ceil((per_root_n / observed_gap) ** 2)) if observed_gap > 0 else None,
    )
