"""Six orders and subsets of the datasets, and the Glicko-2 ratings of the classifiers on each (section 5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recassay.analysis.decodirt.traits import DatasetTraits, roles_of
from recassay.analysis.glicko.fit import rate_table
from recassay.analysis.glicko.result import GlickoResult
from recassay.core.errors import InputError, UsageError
from recassay.core.names import canonical, did_you_mean
from recassay.core.tabular import by_name
from recassay.core.types import FloatArray
from recassay.core.words import listing

PAPER_PLAYERS = (
    "SVM", "MLP", "RandomForest", "KNeighbors", "GaussianNB", "DecisionTree",
    "optimal", "majority", "minority", "pessimal", "rand1", "rand2",
)  # fmt: skip
"""The twelve of Tables 5 to 9; a classifier of standard settings may carry them in its name (`KNeighbors-5`)."""

_ALSO = {"KNeighbors": ("KNeighbors-5", "KNN", "KNN-5"), "rand1": ("random1",), "rand2": ("random2",),
         "RandomForest": ("RF",), "DecisionTree": ("DT",), "GaussianNB": ("NB",), "SVM": ("SVC",)}  # fmt: skip

OPTIMAL, PESSIMAL = "optimal", "pessimal"


@dataclass(frozen=True, slots=True)
class BenchmarkSet:
    """Datasets in their order of play. `by` is the statistic that orders them, from least to most."""

    name: str
    title: str
    by: str
    datasets: tuple[str, ...]
    """Names of the datasets in their order of play."""
    half: bool
    """Whether it is a half of the datasets."""


@dataclass(frozen=True, slots=True, eq=False)
class SetRatings:
    """The ratings on one set: from true scores on all instances, and without negatively discriminating ones."""

    set: BenchmarkSet
    """The datasets, in their order of play."""
    all: GlickoResult
    """The ratings from all instances."""
    kept: GlickoResult
    """The ratings without negatively discriminating instances."""

    def variants(self) -> tuple[tuple[str, GlickoResult], ...]:
        """By name: `all_instances` and `without_negative`."""
        return ("all_instances", self.all), ("without_negative", self.kept)


@dataclass(frozen=True, slots=True)
class Baselines:
    """Where the artificial bounds ended: players rated above the optimal classifier and below the pessimal one.

    None where that classifier was not rated. Both 0 is what a sound benchmark gives.
    """

    above_optimal: int | None
    """Players rated above the optimal classifier."""
    below_pessimal: int | None
    """Players rated below the pessimal one."""

    @property
    def sound(self) -> bool:
        """Whether nobody is above the optimal classifier nor below the pessimal one."""
        return not self.above_optimal and not self.below_pessimal

    @property
    def faults(self) -> int:
        """How many players stand where nobody should."""
        return (self.above_optimal or 0) + (self.below_pessimal or 0)


def choose_players(traits: Sequence[DatasetTraits], rated: str | Sequence[str] = "paper") -> tuple[str, ...]:
    """Who is rated: `paper` (the twelve of Tables 5 to 9), `all` (everybody but the many MLPs), `everybody`, or names.

    Where fewer than two of the twelve's real classifiers answered, `paper` falls back to `all`.
    """
    roles = roles_of(traits)
    if not isinstance(rated, str):
        unknown = [name for name in rated if name not in roles]
        if unknown:
            raise UsageError(f"no respondent {listing(map(repr, unknown))}", fix=did_you_mean(unknown[0], roles))
        if len(set(rated)) < 2:
            raise UsageError("ratings need at least two classifiers", fix="name more")
        return tuple(dict.fromkeys(rated))
    if rated not in {"paper", "all", "everybody"}:
        raise UsageError(f"{rated!r} names no group of classifiers", fix="use paper, all, everybody, or names")
    if rated == "paper":
        known = {canonical(name): name for name in roles}
        spellings = [map(canonical, (player, *_ALSO.get(player, ()))) for player in PAPER_PLAYERS]
        keys = [next((key for key in spelling if key in known), None) for spelling in spellings]
        players = [known[key] for key in keys if key is not None]
        if sum(roles[name] == "real" for name in players) >= 2:
            return tuple(players)
    chosen = [name for name, role in roles.items() if role != "mlp" or rated == "everybody"]
    if len(chosen) < 2:
        chosen = list(roles)
    if len(chosen) < 2:
        raise InputError("ratings need at least two respondents", fix="give the answers of more classifiers")
    return tuple(chosen)


def benchmark_sets(traits: Sequence[DatasetTraits]) -> list[BenchmarkSet]:
    """The six sets of section 5.2, of the datasets on which anything varies.

    All datasets by mean difficulty and by mean discrimination, least first; and by the deviation of either parameter
    over the instances the half that varies least (of an odd number the larger half) and the half that varies most, each
    from the smallest deviation to the largest. With one dataset there are no halves.
    """
    usable = [dataset for dataset in traits if dataset.varied]
    statistics = {dataset.dataset: dataset.statistics() for dataset in usable}

    def ordered(by: str) -> tuple[str, ...]:
        return tuple(sorted(statistics, key=lambda name: (statistics[name][by], name)))

    if not usable:
        return []
    parameters = ("difficulty", "discrimination")
    sets = [
        BenchmarkSet(name, f"all datasets, by {name}", f"mean_{name}", ordered(f"mean_{name}"), False)
        for name in parameters
    ]
    for name in parameters:
        by = f"{name}_deviation"
        names, middle = ordered(by), (len(usable) + 1) // 2
        for which, part in (("least", names[:middle]), ("most", names[middle:])):
            if len(usable) > 1:
                title = f"the half whose {name} varies {which}"
                sets.append(BenchmarkSet(f"{which}_{by}", title, by, part, True))
    return sets


def score_table(
    traits: Sequence[DatasetTraits], datasets: Sequence[str], players: Sequence[str], *, negative: bool
) -> FloatArray:
    """True scores, players x datasets; NaN where a player did not answer or no item is left."""
    scores = {each.dataset: by_name(each.true_scores(negative=negative), each.respondents) for each in traits}
    return np.array([[scores[name].get(player, np.nan) for name in datasets] for player in players])


def rate_set(
    traits: Sequence[DatasetTraits],
    chosen: BenchmarkSet,
    players: Sequence[str],
    *,
    tau: float | None,
    orders: int | None,
    seed: int,
) -> SetRatings:
    """A Glicko-2 tournament over the datasets of the set, the higher true score wins (section 4.3), in both variants.

    A classifier without an answer on a dataset plays no game there.
    """
    ratings = [
        rate_table(
            score_table(traits, chosen.datasets, players, negative=negative),
            players,
            chosen.datasets,
            metric="true score" if negative else "true score without negative instances",
            order_name=chosen.title,
            tau=tau,
            orders=orders,
            seed=seed,
        )
        for negative in (True, False)
    ]
    return SetRatings(chosen, *ratings)


def baselines(result: GlickoResult) -> Baselines:
    """How many players ended above `optimal` and below `pessimal`."""
    rating = dict(zip(result.algorithms, result.ratings[0].tolist(), strict=True))
    best, worst = rating.get(OPTIMAL), rating.get(PESSIMAL)
    return Baselines(
        None if best is None else sum(value > best for value in rating.values()),
        None if worst is None else sum(value < worst for value in rating.values()),
    )
