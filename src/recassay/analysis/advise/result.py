"""What was concluded about a new dataset."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from recassay.core import columns as c
from recassay.core.system.display import Displayed, worded
from recassay.core.tabular import by_name, estimates, long_frame, stated
from recassay.core.types import FloatArray

SAME = 0.05
"""Distance below which a dataset of the benchmark is taken for the new one itself."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A dataset of the benchmark and its distance: root mean squared difference in standard deviations."""

    dataset: str
    distance: float
    """Root mean squared difference of the characteristics, in standard deviations."""


@dataclass(frozen=True, slots=True)
class Outside:
    """A characteristic in which the new dataset lies outside the range of the benchmark."""

    characteristic: str
    value: float
    """Its value on the new dataset."""
    low: float
    """The least of the benchmark."""
    high: float
    """The largest of the benchmark."""


@dataclass(frozen=True, slots=True)
class Skill:
    """What predictions for left-out datasets were worth.

    `rank_error`: root mean squared error of the ranks. `spearman`: mean rho between predicted and true order. `loss`:
    mean share of the best value lost by taking the algorithm predicted first. `gain`: the baseline's mean squared error
    less this one's, with a bootstrap interval over datasets.
    """

    rank_error: float
    spearman: float
    loss: float
    gain: float
    gain_interval: tuple[float, float]
    """The bootstrap interval of `gain` over datasets."""

    @property
    def beats_baseline(self) -> bool:
        """Whether the whole interval of the gain lies above 0."""
        return self.gain_interval[0] > 0

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            **stated(self, "rank_error", "spearman"),
            "loss_of_first_pick": self.loss,
            "gain_over_baseline": {"estimate": self.gain, "interval": list(self.gain_interval)},
            "beats_baseline": self.beats_baseline,
        }


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds to train an algorithm on a dataset of this size, with an interval, from `datasets` timings."""

    algorithm: str
    seconds: float
    low: float
    high: float
    datasets: int


@dataclass(frozen=True, slots=True, eq=False)
class AdviseResult(Displayed):
    """Nearest datasets, the ranking among them, the predicted ranks, and what such predictions have been worth.

    Arrays are in the order of the algorithms.
    """

    dataset: str
    """The new dataset, as it was named."""
    metric: str
    algorithms: tuple[str, ...]
    n_datasets: int
    """How many datasets the benchmark has."""
    characteristics: dict[str, float]
    """The characteristics of the new dataset, by name."""
    used: tuple[str, ...]
    """Those that distances and predictions are made of."""
    left_out: dict[str, str]
    """Those that are not used, and why."""
    nearest: tuple[Neighbour, ...]
    """The nearest datasets of the benchmark, nearest first."""
    usual_distance: tuple[float, float]
    """The median and the largest distance of the benchmark's datasets to their own nearest neighbour."""
    outside: tuple[Outside, ...]
    """The characteristics in which the new dataset lies outside the range of the benchmark."""
    near_ranks: FloatArray
    """The mean rank of each algorithm on the nearest datasets."""
    near_interval: FloatArray
    """Algorithms x 2: its bootstrap interval over them; NaN where they are fewer than five."""
    near_first: FloatArray
    """The share of bootstrap replicates over them in which each is first; NaN where they are fewer than five."""
    model: str
    """The model that predicts ranks from characteristics, chosen by leaving each dataset out."""
    model_chosen: tuple[str, ...]
    """For each dataset of the benchmark, the model that was chosen without it: many names say that the choice is
    unsure."""
    expected: FloatArray
    """The rank of each algorithm on the new dataset, as the model predicts it."""
    expected_interval: FloatArray
    """Algorithms x 2: prediction less and plus what covers the `confidence` share of the errors on left-out
    datasets."""
    overall: FloatArray
    """The mean rank of each algorithm over the whole benchmark: the baseline."""
    overall_interval: FloatArray
    """Algorithms x 2: the interval of a single rank around it, of the same kind."""
    skills: dict[str, Skill]
    """What predictions for left-out datasets were worth, by the `model`, by the `nearest` datasets, and by the
    `baseline`."""
    confidence: float
    notes: tuple[str, ...] = ()
    evidence: str = ""
    """Where the benchmark comes from and by which protocol."""
    cost: tuple[Cost, ...] = ()
    """What training will take on the machine of the benchmark; empty where the table has too few timings."""
    study: str = ""
    """The text of a study file to run next."""
    command: str = ""
    """A command that runs that study; empty where only a study file can say what is asked."""
    seconds: float | None = None
    """What the study will take in one process on the machine of the benchmark; None where that is not known."""

    @property
    def trusts_model(self) -> bool:
        """Whether the model beat the overall mean rank on left-out datasets; if not, the overall order is advised."""
        return self.skills["model"].beats_baseline

    @property
    def title(self) -> str:
        """The dataset's name for a heading: of a path its last part."""
        return self.dataset.replace("\\", "/").rstrip("/").rpartition("/")[2]

    @property
    def far(self) -> bool:
        """Whether it is farther from its nearest dataset than any dataset of the benchmark is from its own."""
        return self.nearest[0].distance > self.usual_distance[1]

    def order(self) -> list[int]:
        """Positions of the algorithms as advised, best first: by the model where it is trusted, else overall."""
        ranks = self.expected if self.trusts_model else self.overall
        return sorted(range(len(self.algorithms)), key=lambda a: (ranks[a], self.algorithms[a]))

    def warnings(self) -> list[str]:
        """What makes this advice weaker than it looks."""
        return list(worded("advise", "warnings", self))

    def model_worth(self) -> str:
        """Whether the model is worth anything, in one sentence."""
        return str(worded("advise", "model_worth", self))

    def to_frame(self) -> pl.DataFrame:
        """One row per algorithm in the order advised: overall, predicted and nearest ranks with intervals."""
        return long_frame(
            {c.ALGORITHM: self.algorithms},
            {
                "overall_rank": self.overall,
                ("overall_low", "overall_high"): self.overall_interval,
                "predicted_rank": self.expected,
                ("predicted_low", "predicted_high"): self.expected_interval,
                "nearest_rank": self.near_ranks,
                ("nearest_low", "nearest_high"): self.near_interval,
                "nearest_resampling_share": self.near_first,
            },
            order=self.order(),
        )

    def frames(self) -> dict[str, pl.DataFrame]:
        """The ranks, the nearest datasets, the characteristics, the worth of predictions, and the cost."""
        skills = [{"method": name, **{k: v for k, v in skill.to_dict().items() if k != "gain_over_baseline"},
                   "gain": skill.gain, "gain_low": skill.gain_interval[0], "gain_high": skill.gain_interval[1]}
                  for name, skill in self.skills.items()]  # fmt: skip
        beyond = {each.characteristic for each in self.outside}
        names = list(self.characteristics)
        described = {c.VALUE: [*self.characteristics.values()], "used": [name in self.used for name in names],
                     "outside": [name in beyond for name in names]}  # fmt: skip
        tables = {
            "advice": self.to_frame(),
            "advice_nearest": pl.DataFrame([asdict(near) for near in self.nearest]),
            "advice_characteristics": pl.DataFrame({"characteristic": names, **described}),
            "advice_skill": pl.DataFrame(skills),
        }
        return tables | ({"advice_cost": pl.DataFrame([asdict(cost) for cost in self.cost])} if self.cost else {})

    def to_dict(self) -> dict[str, Any]:
        """`nearest`, `ranking_among_nearest`, `predicted`, `overall`, `order`, `skill`, `outside` and `warnings`."""
        names = self.algorithms
        return {
            **stated(self, "dataset", "metric", "characteristics", "left_out", "nearest"),
            "usual_distance": {"median": self.usual_distance[0], "largest": self.usual_distance[1]},
            "outside": [
                {"characteristic": each.characteristic, "value": each.value, "range": [each.low, each.high]}
                for each in self.outside
            ],
            "warnings": self.warnings(),
            "ranking_among_nearest": estimates(names, self.near_ranks, self.near_interval),
            "resampling_share_among_nearest": by_name(self.near_first, names),
            "predicted": estimates(names, self.expected, self.expected_interval),
            "overall": estimates(names, self.overall, self.overall_interval),
            "order": [names[a] for a in self.order()],
            "order_by": "model" if self.trusts_model else "overall mean rank",
            "model": self.model,
            "skill": {name: skill.to_dict() for name, skill in self.skills.items()},
            "verdict": self.model_worth(),
            "evidence": self.evidence,
            "seconds_fit": {
                cost.algorithm: {"estimate": cost.seconds, "interval": [cost.low, cost.high]} for cost in self.cost
            },
            "study": self.study,
            "command": self.command,
            "seconds": self.seconds,
            "settings": {"datasets": self.n_datasets, "confidence": self.confidence},
        }
