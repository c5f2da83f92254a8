"""One dataset of the classifier benchmark: its instances as 3PL items, and what every classifier scores on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from recassay.analysis.logistic_irt.ability import estimate_abilities
from recassay.analysis.logistic_irt.fit import fit_logistic, score_logistic
from recassay.analysis.logistic_irt.model import true_score
from recassay.analysis.logistic_irt.priors import ItemPriors
from recassay.analysis.logistic_irt.result import PARAMETERS, LogisticResult
from recassay.core.choices import AbilityMethod, LogisticEstimator
from recassay.core.errors import InputError, UsageError
from recassay.core.tables.responses import InstanceResponses, LogisticItems, Responses
from recassay.core.types import BoolArray, FloatArray
from recassay.core.words import count_of, listing

ROLES = ("real", "artificial", "mlp")
"""What a respondent is: a classifier under study, an artificial one, or one of the MLPs of growing depth."""

UNIT_WEIGHT = 2.0
"""How much the belief that slopes are about 1 weighs, in respondents for each respondent.

Classifiers answer alike on most instances: the likelihood then rises with the slopes almost without end (where `ltm`
stops at discriminations of 20 to 40, or nowhere). With this weight the tables of OpenML-CC18 converge, pc4 among them.
"""


@dataclass(frozen=True, slots=True)
class ItemCalibration:
    """How items and abilities are estimated.

    The items come from the answers of the respondents with these `roles` (Cardoso et al., section 4.2: the response
    matrix of all classifiers); every respondent is then scored on them. `ability` is `eap`, `map` or `ml`.
    """

    roles: tuple[str, ...] = ROLES
    estimator: LogisticEstimator = "mml"
    """How items are estimated."""
    ability: AbilityMethod = "eap"
    confidence: float = 0.95
    max_cycles: int = 500
    """The most cycles of the estimation."""

    def __post_init__(self) -> None:
        strange = [role for role in self.roles if role not in ROLES]
        if strange or not self.roles:
            raise UsageError(
                f"roles {listing(map(repr, self.roles))}", fix=f"use one or more of {listing(ROLES, most=None)}"
            )


@dataclass(frozen=True, slots=True, eq=False)
class DatasetTraits:
    """Items, abilities and true scores of one dataset.

    `fit` holds the items as they were estimated, `scored` the ability and true score of every respondent on them.
    `kept` marks the items whose discrimination is not negative; `kept_ability` and `kept_true_score` come from these
    items alone (abilities estimated again; section 5.1, Figure 9b), NaN where none is left.
    """

    dataset: str
    roles: tuple[str, ...]
    """For each respondent, what it is: `real`, `artificial` or `mlp`."""
    metadata: Mapping[str, float]
    """Properties of the dataset by their OpenML names."""
    fit: LogisticResult
    scored: LogisticResult
    kept: BoolArray
    kept_ability: FloatArray
    kept_true_score: FloatArray

    @property
    def respondents(self) -> tuple[str, ...]:
        """Everybody who was scored."""
        return self.scored.respondents

    @property
    def varied(self) -> bool:
        """Whether any item tells respondents apart."""
        return not bool(self.fit.constant.all())

    @property
    def negative(self) -> list[str]:
        """The names of the items whose discrimination is negative."""
        return [name for name, kept in zip(self.fit.items.names, self.kept, strict=True) if not kept]

    def statistics(self) -> dict[str, float]:
        """Mean, median and deviation of each item parameter, and shares of negative discriminations.

        Over the items that not everybody or nobody has right; NaN where there are none. Means and deviations count
        difficulties as at most 6 in absolute value. `clearly_negative_share` counts items whose whole interval of the
        discrimination lies below 0; NaN where the estimator has no intervals.
        """
        statistics = self.fit.summary()
        values = self.fit.parameters()[~self.fit.constant]
        for k, name in enumerate(PARAMETERS):
            column = values[np.isfinite(values[:, k]), k]
            statistics[f"median_{name}"] = float(np.median(column)) if len(column) else float("nan")
        ends = self.fit.item_intervals[~self.fit.constant, 0, 1]
        known = np.isfinite(ends)
        statistics["clearly_negative_share"] = float((ends[known] < 0).mean()) if known.any() else float("nan")
        return statistics

    def true_scores(self, *, negative: bool) -> FloatArray:
        """The true score of every respondent, with (`negative`) or without the negatively discriminating items."""
        return self.scored.true_scores if negative else self.kept_true_score

    def probabilities(self, *, negative: bool) -> FloatArray:
        """The mean probability of a right answer: the true score over the number of its items; NaN without items."""
        count = len(self.kept) if negative else int(self.kept.sum())
        return self.true_scores(negative=negative) / count if count else np.full(len(self.respondents), np.nan)


def dataset_traits(instances: InstanceResponses, how: ItemCalibration) -> DatasetTraits:
    """Fit the 3PL to the answers on one dataset, and score everybody with and without negative items.

    The priors are those of the 3PL with the unit of slopes held by `UNIT_WEIGHT`.
    The scale is that of the respondents whose answers calibrate: their abilities have mean 0 and deviation 1.
    Without negative items nobody is above a respondent that has all right, nor below one that has all wrong: the ratio
    of the likelihoods of two answer patterns, one right wherever the other is, rises with the ability.
    """
    table, chosen = instances.responses, np.isin(instances.roles, how.roles)
    if int(chosen.sum()) < 2:
        raise InputError(
            f"{count_of(int(chosen.sum()), 'respondent')} with the roles {listing(how.roles)}",
            where=instances.dataset,
            fix="items need at least two respondents to be estimated from",
        )
    rows = np.flatnonzero(chosen)
    part = table if chosen.all() else Responses(
        table.codes[rows], tuple(table.respondents[r] for r in rows), table.items)  # fmt: skip
    fit = standardised(
        fit_logistic(
            part,
            "3pl",
            estimator=how.estimator,
            priors=ItemPriors(unit_deviation=float(1 / np.sqrt(UNIT_WEIGHT * len(rows)))),
            ability=how.ability,
            confidence=how.confidence,
            max_cycles=how.max_cycles,
        )
    )
    scored = fit if chosen.all() else score_logistic(
        table, fit.items, "3pl", ability=how.ability, confidence=how.confidence)  # fmt: skip
    kept = ~(fit.items.slope < 0)
    if kept.all():
        ability, score = scored.abilities.estimate, scored.true_scores
    elif not kept.any():
        ability = score = np.full(len(table.respondents), np.nan)
    else:
        items = fit.items.take(kept)
        ability = estimate_abilities(table.on_items(np.flatnonzero(kept)), items, how.ability).estimate
        score = true_score(ability, items)
    return DatasetTraits(
        instances.dataset, instances.roles, dict(instances.metadata), fit, scored, kept, ability, score
    )  # fmt: skip


def all_traits(
    instances: Sequence[InstanceResponses],
    how: ItemCalibration,
    progress: Callable[[int, int, str], None] | None = None,
) -> list[DatasetTraits]:
    """`dataset_traits` of every dataset; `progress(done, total, dataset)` is called before each and at the end."""
    names = [instance.dataset for instance in instances]
    if not names:
        raise InputError("there are no responses", fix="give the responses on at least one dataset")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"the dataset {listing(twice)} appears twice", fix="give each a name of its own")
    traits = []
    for done, answers in enumerate(instances):
        if progress is not None:
            progress(done, len(names), answers.dataset)
        traits.append(dataset_traits(answers, how))
    if progress is not None:
        progress(len(names), len(names), "")
    return traits


def roles_of(traits: Sequence[DatasetTraits]) -> dict[str, str]:
    """By respondent on any of the datasets, what it is."""
    return {name: role for dataset in traits for name, role in zip(dataset.respondents, dataset.roles, strict=True)}


def standardised(result: LogisticResult) -> LogisticResult:
    """The same fit with abilities of mean 0 and variance 1 over its respondents (their errors counted).

    With m and s the mean and deviation: ability (theta - m) / s, discrimination s a, difficulty (b - m) / s. Every
    probability and true score stays what it was. Strong priors on slopes stretch the scale; this takes it back.
    """
    estimate, error = result.abilities.estimate, result.abilities.standard_error
    origin = float(estimate.mean())
    finite = error[np.isfinite(error)]
    spread = float(np.sqrt(estimate.var() + (finite**2).mean() if len(finite) else estimate.var()))
    if not spread > 0:
        return result
    items = result.items
    factor, shift = np.array([spread, 1 / spread, 1.0]), np.array([0.0, origin / spread, 0.0])
    return replace(
        result,
        items=LogisticItems(
            items.names, items.slope * spread, items.intercept + items.slope * origin, items.guessing
        ),
        item_errors=result.item_errors * factor,
        item_intervals=result.item_intervals * factor[:, None] - shift[:, None],
        abilities=replace(result.abilities, estimate=(estimate - origin) / spread, standard_error=error / spread),
        ability_intervals=(result.ability_intervals - origin) / spread,
    )  # fmt: skip
