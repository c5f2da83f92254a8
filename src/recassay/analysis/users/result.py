"""What the tests over users found: dataset by dataset, and over the datasets together."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any, Literal

import polars as pl

from recassay.analysis.users.random_effects import RandomEffects
from recassay.core import columns as c
from recassay.core import ties
from recassay.core.system.display import Displayed
from recassay.core.tabular import estimates, stated


@dataclass(frozen=True, slots=True)
class UserPair:
    """Two algorithms on the users of one dataset; positive differences mean that `left` is better.

    `difference` is in the metric's units, `relative` its share of the mean of `right` (None where that is 0),
    `effect` the mean difference over the standard deviation of the differences. `p` is that of the sign-flip test,
    `p_holm` adjusted over the pairs of the dataset. `better`, `equal` and `worse` count users.
    """

    left: str
    right: str
    difference: float
    low: float
    high: float
    relative: float | None
    effect: float
    p: float
    p_holm: float
    significant: bool
    better: int
    equal: int
    worse: int


@dataclass(frozen=True, slots=True)
class Uplift:
    """By what share a mean is better than the reference's, and its interval over users."""

    share: float
    """The share of the reference's mean: 0.05 is 5 % better."""
    low: float
    """The lower end of its interval."""
    high: float
    """The upper end; infinite where the mean of the reference may be 0."""


@dataclass(frozen=True, slots=True)
class Reference:
    """The algorithm that the others are compared with, and why it is the one."""

    name: str
    """The algorithm."""
    why: Literal["control", "own lists", "most popular"]
    """`control`: it was asked for; `own lists`: its lists were made elsewhere; `most popular`: by default."""


@dataclass(frozen=True, slots=True)
class Gain:
    """One group of users, or of held-out events by their items: how much better `algorithm` is than `reference`."""

    by: Literal["activity", "popularity"]
    """`activity`: users by their training events; `popularity`: held-out events by the training users of their item."""
    low: int
    """The fewest training events or users in the group."""
    high: int
    """The most."""
    users: int
    """Users in the group."""
    events: int
    """By popularity the held-out events in the group, by activity its users."""
    algorithm: str
    reference: str
    """What it is compared with."""
    value: float
    """By activity the mean of the metric, by popularity the share of the events that its lists hold."""
    base: float
    """The same of the reference."""
    difference: float
    """By how much the algorithm is better."""
    interval_low: float
    """The lower end of the interval of the difference over users."""
    interval_high: float
    """The upper end."""

    @property
    def shown(self) -> int:
        """1 where the group is shown to gain, -1 where it is shown to lose, 0 where neither is."""
        return int(self.interval_low > 0) - int(self.interval_high < 0)


@dataclass(frozen=True, slots=True)
class Window:
    """One window of a rolling split."""

    name: str
    """Its number and the days of its test part."""
    means: tuple[float, ...]
    """The mean of each algorithm, in the order of the dataset's algorithms."""


@dataclass(frozen=True, slots=True)
class DatasetUsers:
    """One dataset: its algorithms from the best mean to the worst, with intervals over users, and every pair."""

    dataset: str
    users: int
    """Users with a score for every algorithm: those that count."""
    left_out: int
    """Users without a score for some algorithm."""
    algorithms: tuple[str, ...]
    """Names of the algorithms, the best mean first."""
    means: tuple[float, ...]
    """Their means over the users."""
    low: tuple[float, ...]
    """The lower ends of the intervals."""
    high: tuple[float, ...]
    """The upper ends."""
    pairs: tuple[UserPair, ...]
    """Every pair, the better mean on the left."""
    reference: Reference | None = None
    """What the others are compared with in percent; None where there is no such algorithm."""
    uplifts: tuple[Uplift | None, ...] = ()
    """By algorithm, by what share its mean is better than the reference's; None for the reference, and where a share
    means nothing."""
    gains: tuple[Gain, ...] = ()
    """The best algorithm against the reference by group of users and of items, where that is known."""
    windows: tuple[Window, ...] = ()
    """The means in each window of time of a rolling split."""

    def uplift_of(self, name: str) -> Uplift | None:
        """The uplift of an algorithm over the reference."""
        return self.uplifts[self.algorithms.index(name)] if self.uplifts else None

    def pair(self, name: str, other: str) -> UserPair:
        """The pair of two algorithms, whichever has the better mean."""
        return next(pair for pair in self.pairs if {pair.left, pair.right} == {name, other})

    def windows_ahead(self, name: str, other: str, *, higher_is_better: bool) -> int:
        """In how many windows one algorithm has the better mean of two."""
        first, second = self.algorithms.index(name), self.algorithms.index(other)
        sign = 1.0 if higher_is_better else -1.0
        means = [(sign * window.means[first], sign * window.means[second]) for window in self.windows]
        return sum(bool(ties.beats(subject, its)) for subject, its in means)

    def not_worse(self) -> tuple[str, ...]:
        """The best algorithm and those that are not significantly worse than it."""
        first = self.algorithms[0]
        open_ones = {pair.right for pair in self.pairs if pair.left == first and not pair.significant}
        return tuple(name for name in self.algorithms if name == first or name in open_ones)

    def could_be_best(self) -> tuple[str, ...]:
        """Those that no other is significantly better than; one that ties with the best may lose to another."""
        beaten = {pair.right if pair.difference > 0 else pair.left for pair in self.pairs if pair.significant}
        return tuple(name for name in self.algorithms if name not in beaten)


@dataclass(frozen=True, slots=True)
class PairSummary:
    """Two algorithms over datasets: on how many `left` is significantly better (`wins`) or worse (`losses`) on the
    dataset's users, on how many neither is shown (`ties`), and the random-effects summary of the mean differences.

    `effects` and `p_holm` (over all pairs) are None where there are fewer than `LEAST_DATASETS` datasets.
    """

    left: str
    right: str
    wins: int
    ties: int
    losses: int
    effects: RandomEffects | None
    p_holm: float | None = None
    significant: bool = False


LEAST_DATASETS = 3
"""Fewer datasets have no spread between them to estimate."""


@dataclass(frozen=True, slots=True)
class UsersResult(Displayed):
    """Paired tests over users on every dataset, and over the datasets together."""

    metric: str
    higher_is_better: bool
    algorithms: tuple[str, ...]
    """Names of the algorithms, by their mean rank over the datasets that they have, best first."""
    datasets: tuple[DatasetUsers, ...]
    """Each dataset with its means, intervals and pairs."""
    summary: tuple[PairSummary, ...]
    """Every pair over the datasets; empty with a single dataset."""
    alpha: float
    confidence: float
    replicates: int
    """Bootstrap replicates over users that were asked for."""
    skipped: dict[str, str]
    """By name, the datasets that could not be compared, and why."""

    def to_frame(self) -> pl.DataFrame:
        """One row per dataset and pair."""
        rows = [
            {c.DATASET: dataset.dataset, "users": dataset.users, **asdict(pair)}
            for dataset in self.datasets
            for pair in dataset.pairs
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    def means_frame(self) -> pl.DataFrame:
        """One row per dataset and algorithm, the best first."""
        return pl.DataFrame(
            [
                {
                    c.DATASET: scores.dataset, c.ALGORITHM: name, c.VALUE: mean, "low": low, "high": high,
                    "users": scores.users, "not_worse_than_best": name in scores.not_worse(),
                    **({} if scores.reference is None else _uplift_row(scores, name)),
                }
                for scores in self.datasets
                for name, mean, low, high in zip(scores.algorithms, scores.means, scores.low, scores.high, strict=True)
            ]
        )  # fmt: skip

    def summary_frame(self) -> pl.DataFrame:
        """One row per pair: wins, ties, losses, and the random-effects summary where there is one."""
        pairs = ("left", "right", "wins", "ties", "losses")
        numbers = ("estimate", "low", "high", "p", "p_holm", "tau", "i_squared", "predicted_low", "predicted_high")
        known = [asdict(pair) | ({} if pair.effects is None else asdict(pair.effects)) for pair in self.summary]
        rows = [{name: row.get(name) for name in (*pairs, *numbers)} for row in known]
        return pl.DataFrame(rows, schema_overrides=dict.fromkeys(numbers, pl.Float64)).fill_nan(None)

    def frames(self) -> dict[str, pl.DataFrame]:
        """The pairs, the means, and over several datasets the summary."""
        further: dict[str, pl.DataFrame] = {"users_summary": self.summary_frame()} if self.summary else {}
        groups = [{c.DATASET: users.dataset, **asdict(gain)} for users in self.datasets for gain in users.gains]
        windows = [
            {c.DATASET: users.dataset, "window": window.name, c.ALGORITHM: name, c.VALUE: mean}
            for users in self.datasets
            for window in users.windows
            for name, mean in zip(users.algorithms, window.means, strict=True)
        ]
        further |= {"users_gains": pl.DataFrame(groups, infer_schema_length=None)} if groups else {}
        further |= {"users_windows": pl.DataFrame(windows, infer_schema_length=None)} if windows else {}
        return {"users_pairs": self.to_frame(), "users_means": self.means_frame(), **further}

    def to_dict(self) -> dict[str, Any]:
        """`datasets` by name (means with intervals, pairs), `summary` over datasets, `skipped` and the settings."""
        return {
            **stated(self, "metric", "higher_is_better", "algorithms"),
            "datasets": {
                dataset.dataset: {
                    **stated(dataset, "users", "left_out"),
                    "means": estimates(
                        dataset.algorithms, dataset.means, list(zip(dataset.low, dataset.high, strict=True))
                    ),
                    "not_worse_than_best": list(dataset.not_worse()),
                    "pairs": [_pair_data(pair) for pair in dataset.pairs],
                    **_against_reference(dataset),
                }
                for dataset in self.datasets
            },
            "summary": [_summary_data(pair) for pair in self.summary],
            "skipped": self.skipped,
            "settings": {**stated(self, "alpha", "confidence", "replicates"),
                         "test": "sign-flip permutation test of the mean difference", "correction": "Holm"},
        }  # fmt: skip


def _uplift_row(users: DatasetUsers, name: str) -> dict[str, Any]:
    """The columns of an algorithm's uplift; an upper limit that is infinite is missing."""
    uplift = users.uplift_of(name)
    if users.reference is None or uplift is None:
        return {"reference": users.reference and users.reference.name, "uplift": None, "uplift_low": None,
                "uplift_high": None}  # fmt: skip
    high = uplift.high if isfinite(uplift.high) else None
    return {"reference": users.reference.name, "uplift": uplift.share, "uplift_low": uplift.low, "uplift_high": high}


def _against_reference(users: DatasetUsers) -> dict[str, Any]:
    """What is known against the reference, with its keys only where there is something."""
    content: dict[str, Any] = {}
    if users.reference is not None:
        shares = {name: _uplift_row(users, name) for name in users.algorithms if users.uplift_of(name) is not None}
        content["reference"] = asdict(users.reference)
        content["uplifts"] = {
            name: {"estimate": row["uplift"], "interval": [row["uplift_low"], row["uplift_high"]]}
            for name, row in shares.items()
        }
    if users.gains:
        content["gains"] = [asdict(gain) for gain in users.gains]
    if users.windows:
        content["windows"] = [
            {"window": window.name, "means": dict(zip(users.algorithms, window.means, strict=True))}
            for window in users.windows
        ]
    return content


def _pair_data(pair: UserPair) -> dict[str, Any]:
    plain = asdict(pair)
    low, high = plain.pop("low"), plain.pop("high")
    return plain | {"difference": {"estimate": pair.difference, "interval": [low, high]}}


def _summary_data(pair: PairSummary) -> dict[str, Any]:
    plain = asdict(pair)
    effects = plain.pop("effects")
    if effects is not None:
        plain["difference"] = {"estimate": effects["estimate"], "interval": [effects["low"], effects["high"]]}
        plain |= {name: effects[name] for name in ("p", "tau", "i_squared", "datasets")}
        plain["predicted"] = [effects["predicted_low"], effects["predicted_high"]]
    return plain
