"""What a sweep over popularity strata concluded, as tables and plain data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, get_type_hints

import numpy as np
import polars as pl

from recassay.analysis.strata.pairs import Crossing, PairTests
from recassay.analysis.strata.sensitivity import Chance, OrderSensitivity, StudySensitivity
from recassay.core import columns as c
from recassay.core.choices import OtherItems
from recassay.core.system.display import Displayed
from recassay.core.tabular import by_name, estimates, long_frame, stated
from recassay.core.types import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class DatasetStrata:
    """One dataset: `value` and `rank` are thresholds x algorithms, `users` counts those in each T_P.

    `whole` are the values on the whole test part, where known: the sets T_P are samples, the last one too.
    """

    dataset: str
    higher_is_better: bool
    """Whether higher values of the metric are better."""
    algorithms: tuple[str, ...]
    thresholds: tuple[int, ...]
    """The thresholds P, rising."""
    value: FloatArray
    interval: FloatArray
    """Thresholds x algorithms x 2: the ends of the band around each value."""
    rank: FloatArray
    users: IntArray
    shares: pl.DataFrame
    """One row per threshold: how much of the catalogue and of the data lies below it."""
    curve: pl.DataFrame
    """The popularity of the items by rank."""
    tests: PairTests
    """Every two algorithms compared at every threshold."""
    difference_interval: FloatArray
    """Thresholds x pairs x 2: the ends around each paired difference of `tests`."""
    crossings: tuple[Crossing, ...]
    """Where two algorithms change places."""
    sensitivity: OrderSensitivity
    """How far the order turns round between the lowest and the highest threshold."""
    shortened: int
    """Lists that the removal of other held-out items left too short."""
    whole: FloatArray | None = None

    def curves_frame(self, alpha: float) -> pl.DataFrame:
        """One row per threshold and algorithm; `told_from_best`: it differs from the best there (never the best)."""
        return long_frame(
            {c.DATASET: [self.dataset], "threshold": self.thresholds, c.ALGORITHM: self.algorithms},
            {
                c.VALUE: self.value,
                ("low", "high"): self.interval,
                c.RANK: self.rank,
                "told_from_best": self.told_from_best(alpha),
                "users": self.users[:, None],
            },
        )

    def told_from_best(self, alpha: float) -> Any:
        """Whether each algorithm differs significantly from the best at each threshold (thresholds x algorithms)."""
        differs = self.tests.p_holm < alpha
        differs_from_best = np.zeros(self.value.shape, dtype=bool)
        best = self.rank.argmin(axis=1)
        for row, winner in enumerate(best):
            with_left, with_right = self.tests.left == winner, self.tests.right == winner
            differs_from_best[row, self.tests.right[with_left]] = differs[row, with_left]
            differs_from_best[row, self.tests.left[with_right]] = differs[row, with_right]
        return differs_from_best

    def pairs_frame(self, alpha: float) -> pl.DataFrame:
        """One row per threshold and pair."""
        tests, names = self.tests, self.algorithms
        return long_frame(
            {c.DATASET: [self.dataset], "threshold": self.thresholds, "left": [names[a] for a in tests.left]},
            {
                "right": [names[a] for a in tests.right],
                "difference": tests.difference,
                ("low", "high"): self.difference_interval,
                "t": tests.t,
                "p": tests.p,
                "p_holm": tests.p_holm,
                "significant": tests.p_holm < alpha,
            },
        )

    def order(self, row: int) -> list[str]:
        """The algorithms from the best to the worst at the threshold in that row, equals by name."""
        return [self.algorithms[a] for a in sorted(range(len(self.algorithms)), key=lambda a: (self.rank[row, a], a))]

    def first_on_all(self) -> str:
        """The best on the whole test part; on the sample of the highest threshold where that is not known."""
        if self.whole is None:
            return self.order(len(self.thresholds) - 1)[0]
        up = 1.0 if self.higher_is_better else -1.0
        return self.algorithms[int(np.argmax(up * self.whole))]

    def to_dict(self, alpha: float) -> dict[str, Any]:
        """Plain data for JSON."""
        shares, tests, names = self.shares.to_dicts(), self.tests, self.algorithms
        differences = self.difference_interval.tolist()
        values = [estimates(names, *row) for row in zip(self.value, self.interval, strict=True)]
        return {
            "algorithms": list(names),
            "strata": [
                {
                    **shares[row],
                    "users": int(self.users[row]),
                    "order": self.order(row),
                    "values": {
                        name: {**values[row][name], "rank": float(self.rank[row, a])} for a, name in enumerate(names)
                    },
                    "pairs": [
                        {
                            "left": names[tests.left[pair]],
                            "right": names[tests.right[pair]],
                            "difference": float(tests.difference[row, pair]),
                            "interval": differences[row][pair],
                            "p_holm": float(tests.p_holm[row, pair]),
                            "significant": bool(tests.p_holm[row, pair] < alpha),
                        }
                        for pair in range(len(tests.left))
                    ],
                }
                for row in range(len(self.thresholds))
            ],
            "crossings": [{**asdict(crossing), "proven": crossing.proven} for crossing in self.crossings],
            "sensitivity": self.sensitivity.to_dict(),
            "shortened_lists": self.shortened,
            "whole_test_part": by_name(self.whole, names),
        }


@dataclass(frozen=True, slots=True, eq=False)
class StrataResult(Displayed):
    """The sweep on every dataset, and the popularity sensitivity of the ranking over the study."""

    metric: str
    higher_is_better: bool
    datasets: tuple[DatasetStrata, ...]
    """Each dataset with its curves, tests and crossings."""
    study: StudySensitivity
    """How far the order turns round between the lowest and the highest threshold, over the datasets, beside what chance
    gives."""
    others: OtherItems
    """What became of a user's held-out items outside the stratum: they keep their places as items that are not hits
    (`keep`), or leave the list (`remove`)."""
    alpha: float
    confidence: float
    replicates: int
    """Bootstrap replicates over users."""
    left_out: tuple[str, ...] = ()
    """What has no part in it, and why: cells that failed or have not run, datasets without strata."""

    @property
    def algorithms(self) -> tuple[str, ...]:
        """Every algorithm on some dataset, sorted."""
        return tuple(sorted({name for dataset in self.datasets for name in dataset.algorithms}))

    def standing_out(self, most: int) -> tuple[str, ...]:
        """The algorithms that a picture must show, at most so many, by their mean place at the highest threshold.

        The first there, the first at the lowest threshold, then those whose place changes most between the two.
        """
        ends: dict[str, list[tuple[float, float]]] = {name: [] for name in self.algorithms}
        for dataset in self.datasets:
            for a, name in enumerate(dataset.algorithms):
                ends[name].append((float(dataset.rank[0, a]), float(dataset.rank[-1, a])))
        below = {name: float(np.mean([low for low, _ in places])) for name, places in ends.items()}
        above = {name: float(np.mean([high for _, high in places])) for name, places in ends.items()}
        moved = {name: float(np.mean([abs(high - low) for low, high in places])) for name, places in ends.items()}
        wanted = [min(ends, key=above.__getitem__), min(ends, key=below.__getitem__)]
        wanted += sorted(ends, key=lambda name: -moved[name])
        return tuple(sorted(list(dict.fromkeys(wanted))[:most], key=above.__getitem__))

    def to_frame(self) -> pl.DataFrame:
        """The curves: one row per dataset, threshold and algorithm."""
        return pl.concat([dataset.curves_frame(self.alpha) for dataset in self.datasets])

    def frames(self) -> dict[str, pl.DataFrame]:
        """Curves, shares below each threshold, pairs, crossings, sensitivity, and the popularity of items."""
        named = [(dataset, pl.lit(dataset.dataset).alias(c.DATASET)) for dataset in self.datasets]
        return {
            "strata": self.to_frame(),
            "strata_shares": pl.concat(
                [dataset.shares.select(name, pl.all()).with_columns(users=dataset.users) for dataset, name in named]
            ),
            "strata_pairs": pl.concat([dataset.pairs_frame(self.alpha) for dataset in self.datasets]),
            "strata_crossings": pl.concat(
                pl.DataFrame(
                    [asdict(crossing) for crossing in dataset.crossings], schema=get_type_hints(Crossing)
                ).select(name, pl.all())
                for dataset, name in named
            ),
            "strata_sensitivity": self.sensitivity_frame(),
            "popularity_curve": pl.concat([dataset.curve.select(name, pl.all()) for dataset, name in named]),
        }

    def sensitivity_frame(self) -> pl.DataFrame:
        """One row per dataset, then the mean over datasets (scope `study`) and the orders by mean rank."""
        study = self.study
        scopes: list[tuple[str, str, float, Chance, OrderSensitivity | None]] = [
            ("dataset", d.dataset, d.sensitivity.estimate, d.sensitivity.chance, d.sensitivity) for d in self.datasets
        ]
        scopes.append(("study", "mean over datasets", study.estimate, study.chance, None))
        scopes.append(("mean ranks", "orders by mean rank", study.by_mean_rank, study.by_mean_rank_chance, None))
        counts = ("pairs", "observed", "flipped", "proven")
        rows = [
            (scope, name, distance, chance.mean, chance.low, chance.high,
             *(None if counted is None else getattr(counted, count) for count in counts))
            for scope, name, distance, chance, counted in scopes
        ]  # fmt: skip
        numbers = ("distance", "chance", "chance_low", "chance_high")
        schema = {"scope": pl.String, c.DATASET: pl.String} | {name: pl.Float64 for name in numbers}
        return pl.DataFrame(rows, schema=schema | {name: pl.Int64 for name in counts}, orient="row")

    def to_dict(self) -> dict[str, Any]:
        """`datasets` by name with strata, crossings and sensitivity, then `sensitivity` over the study."""
        return {
            **stated(self, "metric", "higher_is_better"),
            "datasets": {dataset.dataset: dataset.to_dict(self.alpha) for dataset in self.datasets},
            "sensitivity": self.study.to_dict(),
            "left_out": list(self.left_out),
            "settings": stated(self, "others", "alpha", "confidence", "replicates"),
        }
